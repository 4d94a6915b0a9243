import { RestError } from '#plugin-api';
import { goodRequest, restKey, type Service } from './service.ts';

export type Flags = Readonly<Record<string, string | number>>;

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

export const text = { provider: 'openai', model: 'gpt-4o-mini' };
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

export const cases: Readonly<Record<string, Case>> = {
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
    flags: { route: 'openai', provider: 'claude', model: 'claude-opus-4-5', body: '{"seed": 4}' },
    given: ({ host }) => {
      const connect = (settings: Readonly<Record<string, unknown>>, id: string) =>
        id === 'claude' ? { ...settings, api_key: 'sk-upstream' } : settings;
      host.hooks.addFilter('svc_provider_settings', connect);
      return Promise.resolve(() => void host.hooks.removeFilter('svc_provider_settings', connect));
    },
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
