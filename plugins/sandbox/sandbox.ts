import type { HostApi } from '#plugin-api';
import { readFaultSettings } from './fault-injection.ts';
import type { SeenRequest } from './recent.ts';
import { createSandboxServer } from './server.ts';
import { createDemoServer } from './demo-site/demo-server.ts';
import { createDatabaseStorage } from './storage/database-storage.ts';
import { sandboxKey } from './fake.ts';
import { findFakeStore, findFakeProvider, fakeStores, fakeProviders } from './fakes.ts';

export interface SandboxOverview {
  /** `http://127.0.0.1:<port>`, or null while it does not listen. */
  readonly url: string | null;
  readonly key: string;
  readonly providers: readonly { readonly label: string; readonly address: string; readonly models: string }[];
  readonly stores: readonly { readonly label: string; readonly address: string }[];
  /** Newest first. */
  readonly requests: readonly SeenRequest[];
}

export interface Sandbox {
  /** Settings that lead to the provider's fake, whose server is started when it does not run yet; unchanged for providers without one. */
  settings(providerId: string, saved: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  /** The same for a vector store. */
  storeSettings(storeId: string, saved: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  overview(): SandboxOverview;
  /** Origin of the demo site, started by the first call. */
  shop(): Promise<string>;
  stop(): Promise<void>;
}

/** The server of this process and what is known of it. Nothing listens until `settings` is first asked. */
export function createSandbox(
  { clock, log, options, database, rest }: Pick<HostApi, 'clock' | 'log' | 'options' | 'database' | 'rest'>,
  faultsOption: string,
): Sandbox {
  const server = createSandboxServer({
    clock,
    log,
    faults: async () => readFaultSettings(await options.get(faultsOption)),
    storage: createDatabaseStorage(database),
  });
  const shop = createDemoServer(() => rest.url('/svc-widget/v1/widget.js'));
  return {
    settings: async (providerId, saved) => {
      const fake = findFakeProvider(providerId);
      if (!fake) return saved;
      const { url } = await server.start();
      return { ...saved, ...fake.settings(`${url}/${fake.id}`, saved) };
    },
    storeSettings: async (storeId, saved) => {
      const fake = findFakeStore(storeId);
      return fake ? { ...saved, ...fake.settings((await server.start()).url) } : saved;
    },
    overview: () => {
      const url = server.url();
      const labels = new Map<string | null, string>(
        [...fakeProviders, ...fakeStores].map(({ id, label }) => [id, label]),
      );
      return {
        url,
        key: sandboxKey,
        providers: fakeProviders.map((fake) => ({
          label: fake.label,
          address: String(fake.settings(`${url ?? ''}/${fake.id}`, {})['base_url']),
          models: [...fake.models, ...(fake.embeddingModels ?? []), ...(fake.imageModels ?? [])].join(', '),
        })),
        stores: fakeStores.map((fake) => ({ label: fake.label, address: String(fake.settings(url ?? '')['url']) })),
        requests: server.recent().map((request) => ({ ...request, provider: labels.get(request.provider) ?? '' })),
      };
    },
    shop: () => shop.start(),
    stop: async () => {
      await Promise.all([server.stop(), shop.stop()]);
    },
  };
}
