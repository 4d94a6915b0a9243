import { isDeepStrictEqual } from 'node:util';
import type { OptionsApi, SecretsApi } from '#plugin-api';
import { createHooks } from '../../../host/hooks/hooks.ts';
import { createRedactor } from '../../../host/log/redactor.ts';
import { createSecrets } from '../../../host/secrets/secrets.ts';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';

import { openOutbound } from '../webhooks/delivery/open-receiver.ts';
import type { Provider } from '../../../plugins/svc/providers/provider.ts';
import { createSettings, type Settings } from '../../../plugins/svc/settings/settings.ts';

export const acme: Provider = {
  id: 'acme',
  label: 'Acme',
  required: ['api_key', 'base_url'],
  settings: {
    type: 'object',
    properties: {
      api_key: { type: 'string', title: 'API key', writeOnly: true },
      base_url: { type: 'string', title: 'Base URL', default: 'https://api.acme.test/v1' },
      model: { type: 'string', title: 'Text model', default: 'acme-1' },
      deployments: { type: 'array', title: 'Deployments', items: { type: 'string' } },
    },
  },
  text: {
    params: {},
    generate: () => Promise.reject(new Error('not asked here')),
  },
  listModels: async () => [{ id: 'acme-2' }, { id: 'acme-1' }, { id: 'acme-1' }],
};

/** One for all tests: making its key takes a while. */
const real = createSecrets({ secretKey: 'a secret key of tests', dataDir: '/nowhere', redactor: createRedactor() });

/** Options in memory: what the settings use of them, with the host's own hooks and secrets around. */
export interface FakeSettings {
  readonly settings: Settings;
  readonly hooks: ReturnType<typeof createHooks>;
  readonly options: OptionsApi;
  readonly secrets: SecretsApi & { readonly decrypted: string[] };
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly stored: Map<string, unknown>;
  readonly warnings: string[];
}

export function createFakeSettings(providers: readonly Provider[] = [acme]): FakeSettings {
  const stored = new Map<string, unknown>();
  const hooks = createHooks();
  const options = createMemoryOptions(stored);
  const decrypted: string[] = [];
  const secrets = {
    decrypted,
    encrypt: (plain: string, context?: string) => real.encrypt(plain, context),
    decrypt: (text: string, context?: string) => {
      decrypted.push(text);
      return real.decrypt(text, context);
    },
    addStore: real.addStore,
  };
  const warnings: string[] = [];
  const log = {
    debug: () => {},
    info: () => {},
    error: () => {},
    warn: (message: string) => void warnings.push(message),
    child: () => log,
  };
  const settings = createSettings({
    host: { options, secrets, hooks, http: openOutbound({}), log },
    providers: { get: (id) => providers.find((provider) => provider.id === id), all: () => providers },
  });
  return { settings, hooks, options, secrets, clock: createFakeClock(), stored, warnings };
}

function createMemoryOptions(stored: Map<string, unknown>): OptionsApi {
  const transients = new Map<string, unknown>();
  const options: Partial<OptionsApi> = {
    get: async <Value>(name: string, fallback?: Value) =>
      (stored.has(name) ? stored.get(name) : (fallback ?? false)) as Value,
    computed: (names, compute) => async () => compute(...names.map((name) => stored.get(name) ?? false)),
    update: async (name, value) => {
      stored.set(name, value);
      return true;
    },
    compareAndSet: async (name, expected, value) => {
      if (!isDeepStrictEqual(stored.get(name), expected)) return false;
      stored.set(name, value);
      return true;
    },
    delete: async (name) => stored.delete(name),
    list: async (prefix = '') => Object.fromEntries([...stored].filter(([name]) => name.startsWith(prefix))),
    getTransient: async <Value>(name: string) => (transients.get(name) ?? false) as Value,
    setTransient: async (name, value) => {
      transients.set(name, value);
      return true;
    },
    deleteTransient: async (name) => transients.delete(name),
  };
  return options as OptionsApi;
}
