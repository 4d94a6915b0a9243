import { expect } from 'chai';
import type { AdminRequest, HostApi } from '#plugin-api';
import { createBudgetStore } from '../../../plugins/svc/modules/budgets/budget-store.ts';
import { createPage as settingsPage } from '../../../plugins/svc/settings/page/settings.page.ts';
import { createModelLists } from '../../../plugins/svc/settings/model-lists.ts';
import { createProviderTester, type ProviderProbe } from '../../../plugins/svc/settings/provider-tester.ts';
import type { SettingsContext, SetupContext } from '../../../plugins/svc/settings/settings.ts';
import { createPage as setupPage } from '../../../plugins/svc/settings/page/setup.page.ts';
import { acme, createFakeSettings, type FakeSettings } from './fake-settings.ts';

const secret = 'sk-0123456789-0123456789abcdef';

interface Pages extends FakeSettings {
  readonly context: SetupContext;
  /** Runs an action of a page with a posted form. */
  post(
    slug: 'svc' | 'svc/setup',
    action: string,
    form: Readonly<Record<string, unknown>>,
  ): ReturnType<NonNullable<ReturnType<typeof settingsPage>['actions']>[string]>;
}

function createPages(
  probe: ProviderProbe = { ok: true, models: [{ id: 'acme-7' }], milliseconds: 5, message: 'Works, 1 model, 5 ms.' },
): Pages {
  const fake = createFakeSettings();
  const host = {
    rest: { url: (route: string) => `http://site.test/wp-json${route}` },
    admin: { url: (slug: string) => `http://site.test/admin/${slug}` },
    hooks: fake.hooks,
    options: fake.options,
  } as unknown as HostApi;
  const budgets = createBudgetStore({ options: fake.options });
  const context: SetupContext = {
    budgets,
    prices: { find: async ({ model }) => (model === 'acme-9' ? null : {}) },
    host,
    settings: fake.settings,
    providers: { get: (id) => (id === 'acme' ? acme : undefined), all: () => [acme] },
    tester: createProviderTester({ lists: createModelLists(fake), probe: async () => probe }),
  };
  const pages = { svc: settingsPage(context), 'svc/setup': setupPage(context) };
  return {
    ...fake,
    context,
    post: async (slug, action, form) =>
      pages[slug].actions![action]!({
        form,
        query: {},
        signal: new AbortController().signal,
        requireFreshSignIn: () => undefined,
      } as unknown as AdminRequest),
  };
}

const render = (context: SettingsContext) =>
  settingsPage(context).render({ query: {}, form: {} } as unknown as AdminRequest);

describe('the page AI service', () => {
  it('shows that secrets are saved and their last characters, never the secrets', async () => {
    const { settings, context } = createPages();
    await settings.providers.save(acme, { api_key: secret });
    await settings.restKey.set(secret);
    const shown = JSON.stringify(await render(context));
    expect(shown)
      .to.contain('"ending":"cdef"')
      .and.contain('ends in cdef')
      .and.not.contain(secret)
      .and.not.contain('enc:v1');
  });

  it('says which providers are configured, and which settings the others miss', async () => {
    const { settings, context } = createPages();
    const card = async () =>
      ((await render(context)).data as { providers: { badge: { text: string }; missing: string }[] }).providers[0];
    expect(await card()).to.deep.include({ badge: { text: 'Not configured', kind: 'info' }, missing: 'API key' });
    await settings.providers.save(acme, { api_key: secret });
    expect(await card()).to.deep.include({ badge: { text: 'Configured', kind: 'success' }, missing: '' });
  });

  it('shows connected providers first with their models, and leads to its sections', async () => {
    const { settings, context } = createPages();
    const other = { ...acme, id: 'other', label: 'Other' };
    const both = { ...context, providers: { get: context.providers.get, all: () => [other, acme] } };
    await settings.providers.save(acme, { api_key: secret });
    const { providers, connected, sections } = (await render(both)).data as {
      readonly providers: readonly { readonly id: string; readonly glance: string }[];
      readonly connected: number;
      readonly sections: readonly { readonly href: string }[];
    };
    expect(providers.map(({ id, glance }) => [id, glance])).to.deep.equal([
      ['acme', 'acme-1'],
      ['other', ''],
    ]);
    expect(connected).to.equal(1);
    expect(sections.map(({ href }) => href)).to.include.members(['#providers', '#rest-key']);
  });

  it('keeps a saved secret when its field is empty, and removes it when "Remove" is checked', async () => {
    const { settings, post } = createPages();
    await post('svc', 'save-provider', { provider: 'acme', settings: { api_key: secret, model: 'acme-2' } });
    await post('svc', 'save-provider', { provider: 'acme', settings: { api_key: '', model: 'acme-3' } });
    expect(await settings.provider('acme')).to.include({ api_key: secret, model: 'acme-3' });
    await post('svc', 'save-provider', { provider: 'acme', settings: { api_key: '' }, _remove: ['settings[api_key]'] });
    expect(await settings.provider('acme')).not.to.have.property('api_key');
  });

  it('shows an invalid form again with the entered values and a sentence at the field, but without the secret', async () => {
    const { post, stored } = createPages();
    const result = await post('svc', 'save-provider', {
      provider: 'acme',
      settings: { api_key: secret, base_url: 'ftp://x', model: 'typed' },
    });
    expect(result.notice?.kind).to.equal('error');
    expect(result.data).to.deep.equal({
      errors: { 'settings[base_url]': 'Base URL must be an http or https URL, such as https://api.example.com.' },
    });
    const page = JSON.stringify(result.page);
    expect(page).to.contain('"value":"ftp://x"').and.contain('"value":"typed"').and.not.contain(secret);
    expect(stored.size).to.equal(0);
  });

  it('saves and tests in one request, and shows the message of the provider', async () => {
    const { settings, post } = createPages({
      ok: false,
      models: [],
      milliseconds: 5,
      message: 'Acme refused the saved credentials: no such key.',
    });
    const result = await post('svc', 'test-provider', { provider: 'acme', settings: { api_key: secret } });
    expect(result).to.deep.include({
      notice: {
        kind: 'error',
        text: 'Settings saved, but the test failed. Acme refused the saved credentials: no such key.',
      },
      status: 400,
    });
    expect(await settings.provider('acme')).to.include({ api_key: secret });
  });

  it('offers the models of the last test, in the response and on the page', async () => {
    const { post, context } = createPages();
    const result = await post('svc', 'test-provider', { provider: 'acme', settings: { api_key: secret } });
    const offered = {
      text: ['acme-7'],
      embedding: ['acme-7'],
      image: ['acme-7'],
      video: ['acme-7'],
      count: 1,
      syncedAt: Date.UTC(2026, 0, 1),
    };
    expect(result.data).to.deep.include({ works: true, models: offered });
    expect(JSON.stringify(await render(context))).to.contain('acme-7');
  });

  it('syncs models, with a sentence for each result', async () => {
    const sync = async (probe: ProviderProbe) =>
      (await createPages(probe).post('svc', 'sync-models', { provider: 'acme', settings: { api_key: secret } })).notice;
    const found = { ok: true, milliseconds: 5, message: 'Works.' };
    expect(await sync({ ...found, models: [{ id: 'a' }, { id: 'b' }] })).to.deep.equal({
      kind: 'success',
      text: 'Acme: 2 models available.',
    });
    expect(await sync({ ...found, models: [] })).to.deep.equal({
      kind: 'success',
      text: 'Acme lists no models. Type the name of a model.',
    });
    expect(await sync({ ...found, ok: false, models: [], message: 'Acme is down.' })).to.deep.equal({
      kind: 'error',
      text: 'Settings saved, but the models could not be loaded. Acme is down.',
    });
  });

  it('shows a generated key once, with a command that contains it', async () => {
    const { post, context, settings } = createPages();
    const { page } = await post('svc', 'generate-key', {});
    const { key, curl } = page?.data as { key: string; curl: string };
    expect(curl).to.contain(`Authorization: Bearer ${key}`).and.contain('http://site.test/wp-json/svc/v1/generate');
    expect(JSON.stringify(await render(context))).not.to.contain(key);
    expect(await settings.restKey.masked()).to.equal(`ends in ${key.slice(-4)}`);
  });

  it('clears the key', async () => {
    const { post, settings } = createPages();
    await settings.restKey.set('a key of mine, long enough');
    await post('svc', 'clear-key', {});
    expect(await settings.restKey.masked()).to.equal(null);
  });

  it('asks before the sandbox is turned off while something would stop, and names it', async () => {
    const { post, settings, hooks } = createPages();
    hooks.addFilter('svc_sandbox_available', () => true);
    hooks.addFilter('svc_provider_users', (users) => [
      ...users,
      { kind: 'Chatbot', name: 'Shop helper', provider: 'acme', href: 'svc/bots/edit?id=1' },
    ]);
    await settings.sandbox.set(true);
    const asked = await post('svc', 'set-sandbox', { sandbox: '0' });
    expect([asked.notice?.kind, asked.page?.template]).to.deep.equal(['warning', 'svc/sandbox-off']);
    expect(asked.page?.data).to.deep.include({ hasProvider: false });
    expect(asked.data).to.deep.equal({ confirm: true, stopped: ['Shop helper'] });
    expect(await settings.sandbox.isOn()).to.equal(true);
    await post('svc', 'set-sandbox', { sandbox: '0', confirm: '1' });
    expect(await settings.sandbox.isOn()).to.equal(false);
    await settings.sandbox.set(true);
    await settings.providers.save(acme, { api_key: secret });
    const done = await post('svc', 'set-sandbox', { sandbox: '0' });
    expect([done.notice?.kind, await settings.sandbox.isOn()]).to.deep.equal(['success', false]);
  });

  it('marks parameters out of range, and keeps the entered values', async () => {
    const { post } = createPages();
    const result = await post('svc', 'save-params', { params: { temperature: '9', seed: '4' } });
    expect(result.data).to.deep.equal({
      errors: { 'params[temperature]': 'Temperature must be from 0 to 2.' },
    });
    expect(JSON.stringify(result.page)).to.contain('"value":"9"').and.contain('"value":"4"');
  });

  for (const form of [{}, { provider: 'unknown' }, { provider: '__proto__' }, { provider: ['acme'] }]) {
    it(`rejects a form for the provider ${JSON.stringify(form)}`, async () => {
      const error = await createPages()
        .post('svc', 'save-provider', form)
        .catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'rest_svc_unknown_provider', status: 400 });
    });
  }
});

describe('setting up a provider', () => {
  it('tests the settings, generates a key and shows a command for this provider and model', async () => {
    const { post, settings } = createPages();
    const { page } = await post('svc/setup', 'finish', {
      provider: 'acme',
      settings: { api_key: secret, model: 'acme-9' },
    });
    expect(page?.template).to.equal('svc/setup-finish');
    expect((page?.data as { curl: string }).curl).to.contain('"provider":"acme","model":"acme-9"');
    expect(await settings.restKey.masked()).not.to.equal(null);
  });

  it('limits what a new site may spend, and leaves the budgets of other sites alone', async () => {
    const { post, context } = createPages();
    const form = { provider: 'acme', settings: { api_key: secret, model: 'acme-9' }, monthly_budget: '12.5' };
    const wrong = await post('svc/setup', 'finish', { ...form, monthly_budget: '-1' });
    expect(wrong.data).to.deep.equal({
      errors: { monthly_budget: 'Enter US dollars from 0 to 1,000,000. 0 means no budget.' },
    });
    const { page } = await post('svc/setup', 'finish', form);
    // The budget refuses calls without a price (D43), and the page says so.
    expect(page?.data).to.include({ budget: '$12.50', guestLimit: 50, unpricedModel: 'acme-9' });
    const site = { id: 'site', scope: 'all', unit: 'dollars', period: 'month', amount: 12.5, unpriced: 'refuse' };
    expect(await context.budgets.list()).to.have.length(1);
    expect((await context.budgets.list())[0]).to.include(site);
    const again = await post('svc/setup', 'finish', { ...form, monthly_budget: '99' });
    expect(again.page?.data).to.include({ budget: null, hasBudgets: true });
    expect((await context.budgets.list())[0]).to.include(site);
  });

  it('sets no budget for 0 dollars', async () => {
    const { post, context } = createPages();
    const form = { provider: 'acme', settings: { api_key: secret, model: 'acme-9' }, monthly_budget: '0' };
    await post('svc/setup', 'finish', form);
    expect(await context.budgets.list()).to.deep.equal([]);
  });

  it('generates no key while the test fails, and then allows to finish without testing', async () => {
    const { post, settings } = createPages({ ok: false, models: [], milliseconds: 1, message: 'Acme is down.' });
    const form = { provider: 'acme', settings: { api_key: secret } };
    const failed = await post('svc/setup', 'finish', form);
    expect([failed.notice?.text, failed.page?.template]).to.deep.equal(['Acme is down.', 'svc/setup-provider']);
    expect(await settings.restKey.masked()).to.equal(null);
    const finished = await post('svc/setup', 'finish-untested', form);
    expect(finished.page?.template).to.equal('svc/setup-finish');
  });
});
