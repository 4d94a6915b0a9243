import type { HostApi } from '#plugin-api';
import { readDial } from './dial.ts';
import type { SeenRequest } from './recent.ts';
import { createSandboxServer } from './server.ts';
import { sandboxKey } from './wire.ts';
import { findWire, wires } from './wires.ts';

export interface SandboxOverview {
  /** `http://127.0.0.1:<port>`, or null while it does not listen. */
  readonly url: string | null;
  readonly key: string;
  readonly providers: readonly { readonly label: string; readonly address: string; readonly models: string }[];
  /** Newest first. */
  readonly requests: readonly SeenRequest[];
}

export interface Sandbox {
  /** Settings that lead to the provider's stand-in, whose server is started when it does not run yet; unchanged for providers without one. */
  settings(providerId: string, saved: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  overview(): SandboxOverview;
  stop(): Promise<void>;
}

/** The server of this process and what is known of it. Nothing listens until `settings` is first asked. */
export function createSandbox({ clock, log, options }: Pick<HostApi, 'clock' | 'log' | 'options'>, dialOption: string): Sandbox {
  const server = createSandboxServer({ clock, log, dial: async () => readDial(await options.get(dialOption)) });
  return {
    settings: async (providerId, saved) => {
      const wire = findWire(providerId);
      if (!wire) return saved;
      const { url } = await server.start();
      return { ...saved, ...wire.settings(`${url}/${wire.id}`, saved) };
    },
    overview: () => {
      const url = server.url();
      return {
        url,
        key: sandboxKey,
        providers: wires.map((wire) => ({
          label: wire.label,
          address: String(wire.settings(`${url ?? ''}/${wire.id}`, {})['base_url']),
          models: wire.models.join(', '),
        })),
        requests: server.recent(),
      };
    },
    stop: () => server.stop(),
  };
}
