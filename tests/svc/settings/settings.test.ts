import { fieldErrorsOf, type FieldErrors } from '#plugin-api';
import { expect } from 'chai';
import { apiKeyDigest } from '../../../plugins/svc/kit/require-api-key.ts';
import { removeOptions } from '../../../plugins/svc/settings/settings.ts';
import { acme, createFakeSettings } from './fake-settings.ts';

async function errors(save: Promise<unknown>): Promise<FieldErrors | null> {
  try {
    await save;
    return null;
  } catch (error) {
    return fieldErrorsOf(error);
  }
}

describe('the stored REST key', () => {
  it('is encrypted, and its digest is that of the entered key without white space at its ends', async () => {
    const { settings, stored } = createFakeSettings();
    await settings.restKey.set('  my own key of 24 characters ');
    expect(String(stored.get('svc_api_key')))
      .to.match(/^enc:v2:/)
      .and.not.contain('my own key of 24 characters');
    expect((await settings.restKey.digest())?.equals(apiKeyDigest('my own key of 24 characters'))).to.equal(true);
  });

  it('is decrypted once for many requests, and again after another process changed it', async () => {
    const { settings, secrets, stored } = createFakeSettings();
    await settings.restKey.set('the first of two long keys');
    for (let request = 0; request < 5; request += 1) await settings.restKey.digest();
    expect(secrets.decrypted).to.have.length(1);
    stored.set('svc_api_key', secrets.encrypt('second'));
    expect((await settings.restKey.digest())?.equals(apiKeyDigest('second'))).to.equal(true);
    expect(secrets.decrypted).to.have.length(2);
  });

  it('has no digest while it is empty, cleared, or unreadable', async () => {
    const { settings, stored, warnings } = createFakeSettings();
    expect(await settings.restKey.digest()).to.equal(null);
    await settings.restKey.set('a key of 24 characters, or more');
    await settings.restKey.clear();
    expect(await settings.restKey.digest()).to.equal(null);
    stored.set('svc_api_key', 'typed past the settings');
    expect(await settings.restKey.digest()).to.equal(null);
    expect(warnings).to.have.length(1);
  });

  it('shows only its last characters, and none of a short one of an earlier version', async () => {
    const { settings, stored, secrets } = createFakeSettings();
    expect(await settings.restKey.masked()).to.equal(null);
    await settings.restKey.set('0123456789-0123456789abcd');
    expect(await settings.restKey.masked()).to.equal('ends in abcd');
    stored.set('svc_api_key', secrets.encrypt('abcd'));
    expect(await settings.restKey.masked()).to.equal('saved');
  });

  it('is generated at random each time, long and valid in a header', async () => {
    const { settings } = createFakeSettings();
    const [first, second] = [await settings.restKey.generate(), await settings.restKey.generate()];
    expect(first).to.match(/^svc_[\w-]{43}$/);
    expect(second).not.to.equal(first);
    expect((await settings.restKey.digest())?.equals(apiKeyDigest(second))).to.equal(true);
  });

  it('may be any value that is not empty, with a warning below 24 characters (contract 5.2, D39)', async () => {
    const { settings } = createFakeSettings();
    for (const key of ['', '  ']) expect(await errors(settings.restKey.set(key))).to.have.keys('key');
    for (const key of ['1', 'x'.repeat(23)]) {
      expect(await settings.restKey.set(key)).to.contain('fewer than 24 characters');
      expect(await settings.restKey.warning()).to.contain('fewer than 24 characters');
      expect((await settings.restKey.digest())?.equals(apiKeyDigest(key))).to.equal(true);
    }
    expect(await settings.restKey.set('x'.repeat(24))).to.equal(null);
    await settings.restKey.clear();
    expect(await settings.restKey.warning()).to.equal(null);
  });
});

describe('settings of a provider', () => {
  it('store secrets encrypted and everything else unchanged', async () => {
    const { settings, stored } = createFakeSettings();
    await settings.providers.save(acme, { api_key: 'sk-123', base_url: 'http://127.0.0.1:9/v1/' });
    const option = stored.get('svc_provider_acme') as Record<string, string>;
    expect(option['api_key']).to.match(/^enc:v2:/);
    expect(option['base_url']).to.equal('http://127.0.0.1:9/v1');
  });

  it('reach a call decrypted, with the defaults of the schema, through the filter svc_provider_settings', async () => {
    const { settings, hooks } = createFakeSettings();
    await settings.providers.save(acme, { api_key: 'sk-123' });
    const asked: string[] = [];
    hooks.addFilter('svc_provider_settings', async (values: Readonly<Record<string, unknown>>, id: string) => {
      asked.push(id);
      return { ...values, model: 'filtered' };
    });
    expect(await settings.provider('acme')).to.deep.equal({
      api_key: 'sk-123',
      base_url: 'https://api.acme.test/v1',
      model: 'filtered',
    });
    expect(asked).to.deep.equal(['acme']);
  });

  it('come from the sandbox only while it is on, before the filter svc_provider_settings', async () => {
    const { settings, hooks, options } = createFakeSettings();
    await settings.providers.save(acme, { api_key: 'sk-123' });
    type Values = Readonly<Record<string, unknown>>;
    hooks.addFilter('svc_sandbox_provider_settings', async (values: Values) => ({ ...values, api_key: 'sandbox' }));
    hooks.addFilter('svc_provider_settings', (values: Values) => ({ ...values, model: `for ${values['api_key']}` }));
    expect(await settings.provider('acme')).to.include({ api_key: 'sk-123', model: 'for sk-123' });
    await options.update('svc_sandbox', true);
    expect(await settings.provider('acme')).to.include({ api_key: 'sandbox', model: 'for sandbox' });
  });

  it('change by name: others stay unchanged, an empty text removes one', async () => {
    const { settings } = createFakeSettings();
    await settings.providers.save(acme, { api_key: 'sk-123', model: 'acme-9' });
    await settings.providers.save(acme, { model: '' });
    expect(await settings.provider('acme')).to.include({ api_key: 'sk-123', model: 'acme-1' });
    await settings.providers.save(acme, { api_key: '' });
    expect(await settings.provider('acme')).not.to.have.property('api_key');
  });

  const oddAddresses = [
    'ftp://example.com',
    'example.com',
    'javascript:alert(1)',
    'http://user:pass@example.com',
    'https://example.com/?a=1',
    'https://example.com/#a',
    'http:example.com',
    'https://exa mple.com',
    'http://169.254.169.254/latest',
    'https://',
  ];
  for (const address of oddAddresses) {
    it(`are not saved with the address ${address}`, async () => {
      const { settings, stored } = createFakeSettings();
      const found = await errors(settings.providers.save(acme, { base_url: address, model: 'acme-3' }));
      expect(found).to.have.keys('base_url');
      expect(found?.['base_url']).to.match(/^Base URL .+\.$/);
      expect(stored.size).to.equal(0);
    });
  }

  it('name every invalid field and unknown settings', async () => {
    const { settings } = createFakeSettings();
    const found = await errors(
      settings.providers.save(acme, { api_key: 'two words', model: 'line\nbreak', colour: 'red', __proto__x: 'a' }),
    );
    expect(found).to.have.all.keys('api_key', 'model', 'colour', '__proto__x');
  });

  it('read a list with one entry per line', async () => {
    const { settings } = createFakeSettings();
    await settings.providers.save(acme, { deployments: 'gpt-main = gpt-4o\r\n\r\n  other ' });
    expect(await settings.provider('acme')).to.deep.include({ deployments: ['gpt-main = gpt-4o', 'other'] });
  });

  it('of an unknown provider are empty, unless the filter returns some', async () => {
    const { settings } = createFakeSettings();
    expect(await settings.provider('__proto__')).to.deep.equal({});
  });
});

describe('global AI parameters and limits', () => {
  it('are coerced from the values of a form; an empty field unsets a key', async () => {
    const { settings } = createFakeSettings();
    await settings.saveAiParams({
      temperature: '0.5',
      max_completion_tokens: '300',
      top_p: '',
      stop: 'END\nSTOP',
      unknown: '1',
    });
    expect(await settings.aiParams()).to.deep.equal({
      temperature: 0.5,
      max_completion_tokens: 300,
      stop: ['END', 'STOP'],
    });
    await settings.saveAiParams({ stop: 'END' });
    expect(await settings.aiParams()).to.deep.equal({ stop: 'END' });
  });

  it('are rejected with a sentence that names the range', async () => {
    const { settings } = createFakeSettings();
    const found = await errors(
      settings.saveAiParams({ temperature: '3', seed: '1.5', reasoning_effort: 'huge', stop: '1\n2\n3\n4\n5' }),
    );
    expect(found).to.deep.equal({
      temperature: 'Temperature must be from 0 to 2.',
      seed: 'Seed must be a whole number.',
      reasoning_effort: 'Reasoning effort must be one of none, minimal, low, medium, high, xhigh, max.',
      stop: 'Stop sequences may have at most 4 entries.',
    });
  });

  it('default to 60 seconds for text and no rate limit', async () => {
    const { settings } = createFakeSettings();
    expect(await settings.limits()).to.deep.equal({
      text_timeout: 60,
      text_idle_timeout: 60,
      text_total_timeout: 600,
      embeddings_timeout: 60,
      images_timeout: 180,
      requests_per_minute: 0,
      usage_days: 400,
    });
    await settings.saveLimits({ text_timeout: '5' });
    expect(await settings.timeouts()).to.deep.include({ text: 5000, embeddings: 60_000, images: 180_000 });
    expect(await errors(settings.saveLimits({ text_timeout: '0' }))).to.have.keys('text_timeout');
  });

  it('accept an invalid stored value', async () => {
    const { settings, stored } = createFakeSettings();
    stored.set('svc_limits', { text_timeout: 'soon' });
    stored.set('svc_ai_params', false);
    stored.set('svc_provider_acme', 'text');
    expect(await settings.limits()).to.deep.equal({
      text_timeout: 60,
      text_idle_timeout: 60,
      text_total_timeout: 600,
      embeddings_timeout: 60,
      images_timeout: 180,
      requests_per_minute: 0,
      usage_days: 400,
    });
    expect(await settings.aiParams()).to.deep.equal({});
    expect(await settings.provider('acme')).to.include({ model: 'acme-1' });
  });
});

describe('the sandbox switch', () => {
  it('turns on only if a plugin provides a sandbox, and always off', async () => {
    const { settings, hooks } = createFakeSettings();
    expect(await settings.sandbox.set(true).catch((error: unknown) => error)).to.include({
      code: 'rest_svc_sandbox_unavailable',
      status: 400,
    });
    expect(await settings.sandbox.isOn()).to.equal(false);
    hooks.addFilter('svc_sandbox_available', () => true);
    await settings.sandbox.set(true);
    expect(await settings.sandbox.isOn()).to.equal(true);
    await settings.sandbox.set(false);
    expect(await settings.sandbox.isOn()).to.equal(false);
  });
});

describe('removing the service', () => {
  it('deletes all of its options', async () => {
    const { settings, stored, options } = createFakeSettings();
    stored.set('blogname', 'Site');
    await settings.restKey.generate();
    await settings.providers.save(acme, { api_key: 'sk-123' });
    await settings.saveLimits({});
    await options.setTransient('svc_models_acme', ['acme-1'], 60);
    await removeOptions(options, ['acme']);
    expect(await options.getTransient('svc_models_acme')).to.equal(false);
    expect([...stored.keys()]).to.deep.equal(['blogname']);
  });
});
