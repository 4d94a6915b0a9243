import { expect } from 'chai';
import { defaultFaultSettings } from '../../plugins/sandbox/fault-injection.ts';
import { call } from './helpers/call.ts';
import { registerSandbox } from './helpers/register.ts';
import type { Registered } from './helpers/register.ts';

type Settings = Record<string, string>;

const providers = ['openai', 'azure', 'google', 'openrouter', 'claude', 'deepseek', 'xai', 'ollama'];

describe('the sandbox plugin', () => {
  let plugin: Registered;
  beforeEach(async () => {
    plugin = await registerSandbox();
  });
  afterEach(() => plugin.stop());

  const settingsOf = async (provider: string, saved: Settings = {}): Promise<Settings> =>
    (await plugin.hooks.applyFiltersAsync('svc_sandbox_provider_settings', saved, provider)) as Settings;
  const askOpenAi = async (): Promise<number> => {
    const { base_url: url, api_key: key } = await settingsOf('openai');
    return (await call(`${url}/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  };

  it('offers itself', async () => {
    expect(await plugin.hooks.applyFiltersAsync('svc_sandbox_available', false)).to.equal(true);
  });

  it('leaves settings alone and listens nowhere while the switch is off', async () => {
    const saved = { api_key: 'my-own-key', model: 'my-model' };
    expect(await settingsOf('openai', saved)).to.deep.equal(saved);
    expect(await plugin.render())
      .to.contain('The sandbox is off')
      .and.to.contain('Not listening');
  });

  it('answers settings that lead to its own server, for every provider, while the switch is on', async () => {
    await plugin.options.update('svc_sandbox', true);
    for (const provider of providers) {
      const settings = await settingsOf(provider, { api_key: 'my-own-key', extra: 'kept' });
      expect(settings).to.include({ api_key: 'sandbox', extra: 'kept' });
      expect(settings['base_url']).to.match(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/${provider}(/|$)`));
      expect(settings['model']).to.be.a('string').that.is.not.empty;
    }
    expect(await settingsOf('openrouter'))
      .to.have.property('base_url')
      .that.matches(/\/openrouter\/api\/v1$/);
    expect(await settingsOf('azure', { api_version: '2024-10-21' })).to.include({ api_version: '2024-10-21' });
  });

  it('names default models for what a provider can do', async () => {
    await plugin.options.update('svc_sandbox', true);
    expect(await settingsOf('openai')).to.include({
      embedding_model: 'text-embedding-3-small',
      image_model: 'dall-e-3',
    });
    expect(await settingsOf('google')).to.include({
      embedding_model: 'gemini-embedding-001',
      image_model: 'gemini-2.5-flash-image',
    });
    expect(await settingsOf('deepseek')).not.to.have.any.keys('embedding_model', 'image_model');
  });

  it('answers settings of vector stores that lead to its own server while the switch is on', async () => {
    const storeSettings = async (id: string) =>
      await plugin.hooks.applyFiltersAsync('svc_sandbox_vector_store_settings', { api_key: 'mine', extra: 'kept' }, id);
    expect(await storeSettings('qdrant')).to.deep.equal({ api_key: 'mine', extra: 'kept' });
    await plugin.options.update('svc_sandbox', true);
    for (const id of ['pinecone', 'qdrant', 'chroma']) {
      const settings = (await storeSettings(id)) as Settings;
      expect(settings).to.include({ api_key: 'sandbox', extra: 'kept' });
      expect(settings['url']).to.match(/^http:\/\/127\.0\.0\.1:\d+(?:\/pinecone)?$/);
    }
    expect(await storeSettings('a-third-party')).to.deep.equal({ api_key: 'mine', extra: 'kept' });
  });

  it("keeps what its vector stores were given in the site's database", async () => {
    await plugin.options.update('svc_sandbox', true);
    const { url } = (await plugin.hooks.applyFiltersAsync(
      'svc_sandbox_vector_store_settings',
      {},
      'qdrant',
    )) as Settings;
    const made = await call(`${url}/collections/books`, {
      method: 'PUT',
      headers: { 'api-key': 'sandbox' },
      body: { vectors: { size: 2, distance: 'Dot' } },
    });
    expect(made.status).to.equal(200);
    expect(await plugin.database.knex('sandbox_collections').select('store', 'name')).to.deep.equal([
      { store: 'qdrant', name: 'books' },
    ]);
  });

  it('knows nothing of providers of other plugins', async () => {
    await plugin.options.update('svc_sandbox', true);
    expect(await settingsOf('a-third-party', { api_key: 'k' })).to.deep.equal({ api_key: 'k' });
  });

  it('gives the saved settings back as soon as the switch is off again', async () => {
    await plugin.options.update('svc_sandbox', true);
    await settingsOf('openai');
    await plugin.options.update('svc_sandbox', false);
    expect(await settingsOf('openai', { api_key: 'my-own-key' })).to.deep.equal({ api_key: 'my-own-key' });
  });

  it('closes its port when the host stops', async () => {
    await plugin.options.update('svc_sandbox', true);
    const { base_url: url } = await settingsOf('openai');
    await plugin.stop();
    const refused = await fetch(String(url)).then(
      () => null,
      (error: unknown) => (error as { cause: { code: string } }).cause.code,
    );
    expect(refused).to.equal('ECONNREFUSED');
    plugin = await registerSandbox();
  });

  it('obeys the fault settings of its page, and refuses what is out of range', async () => {
    await plugin.options.update('svc_sandbox', true);
    expect(await askOpenAi()).to.equal(200);
    const dial = { fault: '500', rate: '1', delay_ms: '10', seed: '3' };
    expect(await plugin.act('save', dial)).to.have.nested.property(
      'notice.text',
      'Saved. The fault affects 100% of the requests.',
    );
    expect(await plugin.options.get('sandbox_dial')).to.deep.equal({
      fault: '500',
      rate: 1,
      delay_ms: 10,
      seed: 3,
      pace_ms: 20,
    });
    expect(await askOpenAi()).to.equal(500);
    for (const wrong of [{ rate: '2' }, { rate: '' }, { delay_ms: '-1' }, { seed: 'x' }, { fault: 'flood' }]) {
      const thrown = await plugin.act('save', { ...dial, ...wrong }).then(
        () => null,
        (error: unknown) => error,
      );
      expect(thrown, JSON.stringify(wrong)).to.have.property('status', 400);
    }
    await plugin.act('reset');
    expect(await plugin.options.get('sandbox_dial')).to.deep.equal(defaultFaultSettings);
    expect(await askOpenAi()).to.equal(200);
  });

  it('shows on its page what it serves and the last requests, and says that nothing leaves this machine', async () => {
    await plugin.options.update('svc_sandbox', true);
    await askOpenAi();
    const html = await plugin.render();
    expect(html).to.match(/<time datetime="[^"]+"/);
    expect(html)
      .to.contain('No data leaves this machine')
      .and.to.match(/<code>http:\/\/127\.0\.0\.1:\d+<\/code>/);
    expect(html).to.contain('/openai/v1/models').and.to.contain('gpt-4.1-mini').and.to.contain('OpenRouter');
    expect(html).to.contain('Pinecone').and.to.contain('text-embedding-3-small').and.to.contain('dall-e-3');
    expect(html).to.contain('name="delay_ms"').and.to.contain('fault-garbage');
    expect(html).not.to.match(/style=|onclick=|<script/);
  });

  it('takes its option and its tables with it when it is uninstalled', async () => {
    await plugin.act('save', { fault: '429', rate: '1', delay_ms: '10', seed: '3' });
    await plugin.uninstall();
    expect(await plugin.options.list('sandbox_')).to.deep.equal({});
    for (const table of ['sandbox_collections', 'sandbox_records'])
      expect(await plugin.database.knex.schema.hasTable(table), table).to.equal(false);
  });
});
