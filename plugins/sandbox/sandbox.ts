import type { HostApi } from '#plugin-api';
import { readDial } from './dial.ts';
import type { SeenRequest } from './recent.ts';
import { createSandboxServer } from './server.ts';
import { createShopServer } from './shop/shop-server.ts';
import { createDatabaseStorage } from './storage/database-storage.ts';
import { sandboxKey } from './wire.ts';
import { findStoreWire, findWire, storeWires, wires } from './wires.ts';

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
  /** Settings that lead to the provider's stand-in, whose server is started when it does not run yet; unchanged for providers without one. */
  settings(providerId: string, saved: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  /** The same for a vector store. */
  storeSettings(storeId: string, saved: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  overview(): SandboxOverview;
  /** Origin of the pretend shop, which is opened by the first call. */
  shop(): Promise<string>;
  stop(): Promise<void>;
}

/** The server of this process and what is known of it. Nothing listens until `settings` is first asked. */
export function createSandbox(
  { clock, log, options, database, rest }: Pick<HostApi, 'clock' | 'log' | 'options' | 'database' | 'rest'>,
  dialOption: string,
): Sandbox {
  const server = createSandboxServer({
    clock,
    log,
    dial: async () => readDial(await options.get(dialOption)),
    storage: createDatabaseStorage(database),
  });
  const shop = createShopServer(() => rest.url('/svc-widget/v1/widget.js'));
  return {
    settings: async (providerId, saved) => {
      const wire = findWire(providerId);
      if (!wire) return saved;
      const { url } = await server.start();
      return { ...saved, ...wire.settings(`${url}/${wire.id}`, saved) };
    },
    storeSettings: async (storeId, saved) => {
      const wire = findStoreWire(storeId);
      return wire ? { ...saved, ...wire.settings((await server.start()).url) } : saved;
    },
    overview: () => {
      const url = server.url();
      return {
        url,
        key: sandboxKey,
        providers: wires.map((wire) => ({
          label: wire.label,
          address: String(wire.settings(`${url ?? ''}/${wire.id}`, {})['base_url']),
          models: [...wire.models, ...(wire.embeddingModels ?? []), ...(wire.imageModels ?? [])].join(', '),
        })),
        stores: storeWires.map((wire) => ({ label: wire.label, address: String(wire.settings(url ?? '')['url']) })),
        requests: server.recent(),
      };
    },
    shop: () => shop.start(),
    stop: async () => {
      await Promise.all([server.stop(), shop.stop()]);
    },
  };
}
