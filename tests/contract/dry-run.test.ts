import { expect } from 'chai';
import { RestError } from '#plugin-api';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import type { Explanation } from '../../plugins/svc/kit/dry-run.ts';
import { signIn } from '../helpers/sign-in.ts';
import { goodRequest, restKey, startService, type Service } from './service.ts';

type Flags = Readonly<Record<string, string | number>>;

/** What a case explains: a key with these settings, or a text in its place, and a request. */
interface Case {
  readonly key?: Flags | string;
  readonly flags?: Flags;
  /** A budget that is used up, unless it has an amount. */
  readonly budget?: Readonly<Record<string, unknown>>;
  /** What else is different, and how it ends. */
  readonly given?: (service: Service, key: { readonly id: number }) => Promise<() => unknown>;
  readonly rule: string;
  readonly code?: string;
}

const text = { provider: 'openai', model: 'gpt-4o-mini' };
const setOption = (name: string, value: unknown) => async (service: Service) => {
  const before = await service.host.options.get<unknown>(name, null);
  await service.host.options.update(name, value);
  return async () => (before === null ? service.host.options.delete(name) : service.host.options.update(name, before));
};
const failoverTo = (provider: string, model: string) =>
  setOption('svc_failover', { enabled: true, rest: true, text: [{ provider, model }], images: [], embeddings: [] });
const refuseBy =
  (code: string) =>
  async ({ host }: Service) =>
    host.hooks.addFilter('svc_text_request', () => {
      throw new RestError({ code, status: 403, message: 'Not on Sundays.' });
    });

const cases: Readonly<Record<string, Case>> = {
  'the REST key': { key: 'rest', flags: text, rule: 'key_rest' },
  'the secret of the REST key': { key: restKey, flags: text, rule: 'key_rest' },
  'a named key': { flags: text, rule: 'key_named' },
  'an unknown secret': { key: 'svck_unknown', flags: text, rule: 'key_unknown' },
  'an unknown id': { key: '99999', flags: text, rule: 'key_unknown' },
  'no REST key': {
    key: 'rest',
    flags: text,
    given: async (service) => {
      await service.saveRestKey('');
      return () => service.saveRestKey(restKey);
    },
    rule: 'key_unknown',
  },
  'a revoked key': {
    flags: text,
    given: async ({ host }, { id }) => {
      await host.cli('svc', 'key', 'revoke', String(id));
      return () => undefined;
    },
    rule: 'key_revoked',
  },
  'an expired key': {
    key: { expires: '2026-01-01' },
    flags: text,
    given: async ({ clock }) => {
      clock.jump(48 * 3600_000);
      return () => clock.jump(-48 * 3600_000);
    },
    rule: 'key_expired',
  },
  'a route out of scope': { key: { routes: 'chat' }, flags: text, rule: 'scope_routes' },
  'a provider out of scope': { key: { providers: 'claude' }, flags: text, rule: 'scope_providers' },
  'a model out of scope': { key: { models: 'gpt-5*' }, flags: text, rule: 'scope_models' },
  'a chatbot out of scope': {
    key: { routes: 'chat' },
    flags: { route: 'chat', bot: 12_345 },
    given: async ({ host }, { id }) => {
      const { out } = await host.cli('svc', 'bot', 'create', '--json', '{"name": "Own"}');
      const own = (JSON.parse(out) as { readonly id: number }).id;
      await host.cli('svc', 'key', 'update', String(id), `--chatbots=${String(own)}`);
      return () => undefined;
    },
    rule: 'scope_chatbots',
  },
  'the REST rate limit': {
    flags: text,
    given: async (service) => {
      const undo = await setOption('svc_limits', { requests_per_minute: 1 })(service);
      await service.generate(goodRequest);
      return async () => {
        await undo();
        await service.host.database.knex('svc_rate_windows').delete();
      };
    },
    rule: 'site_rate_limit',
  },
  'the rate limit of the key': {
    key: { 'requests-per-minute': 1 },
    flags: text,
    given: async ({ host, clock }, { id }) => {
      const now = Math.floor(clock.now() / 1000);
      await host.database.knex('svc_key_windows').insert({ key_id: id, starts_at: now - (now % 60), calls: 1 });
      return () => undefined;
    },
    rule: 'key_rate_limit',
  },
  'a missing parameter': { flags: { provider: 'openai' }, rule: 'parameters', code: 'rest_missing_callback_param' },
  'a parameter out of range': {
    flags: { ...text, body: '{"ai_params": {"temperature": 9}}' },
    rule: 'parameters',
  },
  'a stream': { flags: { ...text, body: '{"stream": true}' }, rule: 'parameters' },
  'a blank prompt': { flags: { ...text, prompt: ' ' }, rule: 'parameters', code: 'rest_svc_invalid_messages' },
  'a prompt that is too long': {
    flags: { ...text, model: 'x'.repeat(100_000) },
    rule: 'parameters',
    code: 'rest_invalid_param',
  },
  'an unknown provider': { flags: { provider: 'acme', model: 'acme-1' }, rule: 'provider_unknown' },
  'a provider without text': {
    key: { routes: 'embeddings' },
    flags: { route: 'embeddings', provider: 'claude', model: 'x' },
    rule: 'provider_unknown',
  },
  'a provider without a key': { flags: { provider: 'claude', model: 'claude-x' }, rule: 'provider_not_configured' },
  'an unknown model': { key: { routes: 'openai' }, flags: { route: 'openai', model: 'bot:x' }, rule: 'model_unknown' },
  'a parameter that the model does not support': {
    key: { routes: 'openai' },
    flags: { route: 'openai', provider: 'openai', model: 'gpt-5', body: '{"top_k": 4}' },
    rule: 'model_unsupported',
  },
  'a chatbot that does not exist': {
    key: { routes: 'chat' },
    flags: { route: 'chat', bot: 12_345 },
    rule: 'chatbot_unknown',
  },
  'a chatbot of the OpenAI-compatible route that does not exist': {
    key: { routes: 'openai' },
    flags: { route: 'openai', bot: 12_345 },
    rule: 'chatbot_unknown',
  },
  'a budget of the site': { flags: text, budget: { scope: 'all' }, rule: 'budget_site' },
  'a budget of the REST API': { flags: text, budget: { scope: 'rest' }, rule: 'budget_rest' },
  'a budget of the key': { flags: text, budget: { scope: 'key' }, rule: 'budget_key' },
  'a budget of another key': { flags: text, budget: { scope: 'key', key_id: 4321 }, rule: 'key_named' },
  'a budget of the user': { flags: { ...text, user: 1 }, budget: { scope: 'user', user_id: 1 }, rule: 'budget_user' },
  'a budget of a role of the user': {
    flags: { ...text, user: 1 },
    budget: { scope: 'role', role: 'administrator' },
    rule: 'budget_role',
  },
  'a budget of another role': {
    flags: { ...text, user: 1 },
    budget: { scope: 'role', role: 'editor' },
    rule: 'key_named',
  },
  'a budget of a role, for a guest': {
    flags: text,
    budget: { scope: 'role', role: 'administrator' },
    rule: 'key_named',
  },
  'a budget of the plugin': {
    flags: { ...text, plugin: 'shop' },
    budget: { scope: 'plugin', plugin: 'shop' },
    rule: 'budget_plugin',
  },
  'a budget of another plugin': {
    flags: { ...text, plugin: 'shop' },
    budget: { scope: 'plugin', plugin: 'forum' },
    rule: 'key_named',
  },
  'a budget that the estimate exceeds': {
    flags: { ...text, body: '{"ai_params": {"max_completion_tokens": 2000}}' },
    budget: { unit: 'tokens', amount: 1500 },
    rule: 'budget_site',
  },
  'a budget that suffices': {
    flags: { ...text, body: '{"ai_params": {"max_completion_tokens": 1000}}' },
    budget: { unit: 'tokens', amount: 1500 },
    rule: 'key_named',
  },
  'a model without a price': {
    flags: { provider: 'openai', model: 'unpriced' },
    budget: { unit: 'dollars', amount: 5 },
    rule: 'budget_no_price',
  },
  'a cheaper model of a budget': {
    flags: text,
    budget: { at_limit: 'fallback', fallback_provider: 'openai', fallback_model: 'gpt-4o' },
    rule: 'budget_fallback',
  },
  'another provider by failover': {
    flags: { provider: 'claude', model: 'claude-x' },
    given: failoverTo('openai', 'gpt-4o'),
    rule: 'failover',
  },
  'the scope of the other provider': {
    key: { providers: 'claude' },
    flags: { provider: 'claude', model: 'claude-x' },
    given: failoverTo('openai', 'gpt-4o'),
    rule: 'provider_not_configured',
  },
  'a filter of a plugin': { flags: text, given: refuseBy('acme_refused'), rule: 'plugin', code: 'acme_refused' },
  'the sandbox': { flags: text, given: setOption('svc_sandbox', true), rule: 'sandbox' },
  images: {
    key: { routes: 'images' },
    flags: { route: 'images', provider: 'openai', model: 'gpt-image-1' },
    rule: 'key_named',
  },
  embeddings: {
    key: { routes: 'embeddings' },
    flags: { route: 'embeddings', provider: 'openai', model: 'text-embedding-3-small' },
    rule: 'key_named',
  },
  'a route without calls of a provider': { key: { routes: 'logs' }, flags: { route: 'logs' }, rule: 'key_named' },
  'such a route out of scope': { key: { routes: 'logs' }, flags: { route: 'mcp' }, rule: 'scope_routes' },
};

describe('dry runs of requests and keys', () => {
  let service: Service;
  const authorization: Record<string, string> = {};
  before(async () => {
    service = await startService();
    const passwords = createApplicationPasswords(service.host);
    for (const role of ['administrator', 'editor'] as const) {
      const email = `${role}@example.com`;
      const user = await service.host.users.create({ login: role, email, password: 'correct horse battery', role });
      const { password } = await passwords.create(user.id, 'Tests');
      authorization[role] = `Basic ${Buffer.from(`${role}:${password}`).toString('base64')}`;
    }
  });
  after(() => service.stop());

  async function run<Printed>(...argv: string[]): Promise<Printed> {
    const { code, out, err } = await service.host.cli(...argv, '--json');
    expect(code, err).to.equal(0);
    return JSON.parse(out) as Printed;
  }
  const written = (flags: Flags): string[] =>
    Object.entries(flags).map(([name, value]) => `--${name}=${String(value)}`);
  const createKey = (flags: Flags): Promise<{ readonly id: number; readonly key: string }> =>
    run('svc', 'key', 'create', ...written({ name: 'Tested', routes: 'generate', ...flags }));

  /** Everything that a call would leave behind. */
  async function traces(): Promise<unknown> {
    const { knex } = service.host.database;
    const tables = [
      'svc_usage',
      'svc_usage_days',
      'svc_usage_role_days',
      'svc_budget_reservations',
      'svc_rate_windows',
      'svc_key_windows',
    ];
    const rows = await Promise.all(
      [...tables, 'svc_budget_counters'].map(async (table) => (await knex(table).select('*')) as unknown[]),
    );
    const used = (await knex('svc_keys').orderBy('id').select('last_used_at')) as unknown[];
    return [rows, used, service.upstream.requests.length];
  }

  for (const [name, { key = {}, flags = {}, budget, given, rule, code }] of Object.entries(cases))
    it(`name the deciding rule ${rule}: ${name}`, async () => {
      const created = typeof key === 'string' ? null : await createKey(key);
      if (budget !== undefined) {
        const values = { id: 'tested', name: 'Tested', unit: 'calls', amount: 1, key_id: created?.id, ...budget };
        await run('svc', 'budget', 'set', JSON.stringify(values));
        // One call of everything that a budget may count.
        const counts = { calls: 1, billed: 1, input_tokens: 1, output_tokens: 1, cost: 1 };
        const used = { day: '2026-01-01', outcome: 'ok', ...counts };
        if (budget['amount'] === undefined) {
          await service.host.database.knex('svc_usage_days').insert({
            ...{ ...used, module: 'rest', bot_id: 0, kind: 'text', provider: 'openai', model: 'gpt-4o-mini' },
            ...{
              sandbox: 0,
              key_id: created?.id ?? 0,
              user_id: 1,
              plugin: 'shop',
              images: 0,
              unpriced: 0,
              duration: 1,
            },
          });
          await service.host.database.knex('svc_usage_role_days').insert({ ...used, role: 'administrator' });
        }
      }
      const undo = await given?.(service, { id: created?.id ?? 0 });
      try {
        const before = await traces();
        const named = created === null ? String(key) : String(created.id);
        const explanation = await run<Explanation>('svc', 'key', 'explain', named, ...written(flags));
        const { allowed, error, message } = explanation;
        const isAllowed = ['key_rest', 'key_named', 'failover', 'budget_fallback', 'sandbox'].includes(rule);
        expect([explanation.rule, allowed], message).to.deep.equal([rule, isAllowed]);
        if (code !== undefined) expect(error?.code).to.equal(code);
        expect(await traces()).to.deep.equal(before);
      } finally {
        await undo?.();
        if (budget !== undefined) {
          await run('svc', 'budget', 'delete', 'tested');
          for (const days of ['svc_usage_days', 'svc_usage_role_days']) await service.host.database.knex(days).delete();
        }
      }
    });

  it('name a replaced secret', async () => {
    const { id, key } = await createKey({});
    await run('svc', 'key', 'rotate', String(id), '--hours=1');
    const ruleOf = async (): Promise<string> =>
      (await run<Explanation>('svc', 'key', 'explain', key, ...written(text))).rule;
    expect(await ruleOf()).to.equal('key_named');
    await service.clock.advance(3600_000);
    expect(await ruleOf()).to.equal('key_replaced');
  });

  it('say over HTTP what would be called at what cost, for an administrator', async () => {
    const { key, id } = await createKey({});
    const before = await traces();
    const basic = { authorization: authorization['administrator'] ?? '' };
    const body = { ...goodRequest, ai_params: { max_completion_tokens: 1000 } };
    const answer = await service.generate({ ...body, svc_api_key: key }, basic, '?dry_run=1');
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.include({ dry_run: true, allowed: true, rule: 'key_named', error: null });
    expect(answer.body.key).to.deep.equal({ id, name: 'Tested' });
    const [{ cost_usd, input_tokens, ...call }] = answer.body.calls;
    expect(call).to.deep.equal({
      ...{ kind: 'text', provider: 'openai', model: 'gpt-4o-mini', output_tokens: 1000, images: 0, budgets: [] },
    });
    expect(input_tokens).to.be.within(5, 20);
    // $0.15 and $0.60 per million tokens.
    expect(cost_usd).to.be.closeTo((input_tokens * 0.15 + 600) / 1_000_000, 0.000001);
    expect((await service.generate(body, basic, `?dry_run=1&dry_run_key=${id}`)).body.key).to.include({ id });
    await run(
      'svc',
      'budget',
      'set',
      '{"id": "tested", "name": "Tested", "scope": "role", "role": "editor", "amount": 1e-6}',
    );
    const editor = (await service.host.users.find('editor'))?.id ?? 0;
    const ofUser = (user: string) => service.generate(body, basic, `?dry_run=1&dry_run_user=${user}`);
    expect((await ofUser(String(editor))).body.rule).to.equal('budget_role');
    expect([(await ofUser('x')).status, (await ofUser('999')).body.code]).to.deep.equal([400, 'rest_invalid_param']);
    await run('svc', 'budget', 'delete', 'tested');
    expect((await service.generate(body, basic, '?dry_run=true')).body.rule).to.equal('key_rest');
    const refused = await service.generate({ ...body, svc_api_key: 'wrong' }, basic, '?dry_run=1');
    expect([refused.status, refused.body.allowed, refused.body.rule]).to.deep.equal([200, false, 'key_unknown']);
    expect(refused.body.error).to.include({ code: 'rest_svc_invalid_api_key', status: 401 });
    expect(await traces()).to.deep.equal(before);
  });

  it('are refused to others, and by routes that have none, before anything is called', async () => {
    const before = await traces();
    const bearer = { authorization: `Bearer ${restKey}` };
    const editor = { authorization: authorization['editor'] ?? '' };
    for (const headers of [{}, bearer, editor]) {
      const { status, body } = await service.generate({ ...goodRequest, svc_api_key: restKey }, headers, '?dry_run=1');
      expect([status, body.code]).to.deep.equal([403, 'rest_svc_dry_run_refused']);
    }
    const upsert = await service.host.fetch('/wp-json/svc/v1/vector-stores/upsert?dry_run=1', {
      method: 'POST',
      headers: { authorization: authorization['administrator'] ?? '', 'content-type': 'application/json' },
      body: '{}',
    });
    const { code } = (await upsert.json()) as { readonly code: string };
    expect([upsert.status, code]).to.deep.equal([400, 'rest_svc_dry_run_not_offered']);
    expect(await traces()).to.deep.equal(before);
    expect((await service.generate(goodRequest, bearer, '?dry_run=0')).body.content).to.equal('Hello there.');
  });

  it('include the search of a chatbot that answers from knowledge, and run no actions', async () => {
    const settings = {
      ...{ name: 'Helper', instructions: 'Help.', provider: 'openai', model: 'gpt-4o-mini' },
      knowledge: {
        ...{ enabled: true, store: 'qdrant', target: 'docs', embedding_provider: 'openai' },
        embedding_model: 'text-embedding-3-small',
      },
    };
    service.host.hooks.addFilter(
      'svc_vector_store_settings',
      (saved: Readonly<Record<string, unknown>>, store: string) =>
        store === 'qdrant' ? { ...saved, url: 'http://127.0.0.1:9' } : saved,
    );
    const created = await service.host.cli('svc', 'bot', 'create', '--json', JSON.stringify(settings));
    expect(created.err).to.equal('');
    const { id: bot } = JSON.parse(created.out) as { readonly id: number };
    const failures: unknown[] = [];
    const undo = service.host.hooks.addAction(
      'svc_chatbot_reply_failed',
      (error: unknown) => void failures.push(error),
    );
    const { id } = await createKey({ routes: 'chat' });
    const before = await traces();
    const explained = await run<Explanation>(
      ...['svc', 'key', 'explain', String(id)],
      ...written({ route: 'chat', bot }),
    );
    undo();
    expect(explained.rule, explained.message).to.equal('key_named');
    expect(explained.calls.map(({ kind }) => kind)).to.deep.equal(['embedding', 'text']);
    expect([failures, await traces()]).to.deep.equal([[], before]);
  });

  it('are offered on the page of the keys', async () => {
    const admin = await signIn(service.host);
    const { id } = await createKey({ name: 'On the page', models: 'gpt-4o*' });
    const shown = async (query: string): Promise<string> => admin.get(`svc/keys?test=${String(id)}${query}`);
    expect(await shown(''))
      .to.contain('Test what this key may do')
      .and.not.contain('Rule:');
    const allowed = await shown('&route=generate&provider=openai&model=gpt-4o-mini&bot=');
    expect(allowed).to.contain('Allowed').and.contain('key_named').and.contain('openai / gpt-4o-mini');
    const refused = await shown('&route=generate&provider=openai&model=%3Cgpt%3E&bot=');
    expect(refused).to.contain('Refused').and.contain('scope_models').and.not.contain('<gpt>');
  });
});
