import type { HostApi } from '#plugin-api';
import type { SettingsContext } from './settings.ts';

/** Something that fails while its provider cannot be used, such as an active chatbot. */
export interface ProviderUser {
  /** What it is: 'Chatbot'. */
  readonly kind: string;
  readonly name: string;
  /** Id of the provider. */
  readonly provider: string;
  /** Its page in the admin. */
  readonly href: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** What visitors use of each provider now. Shown before the sandbox is turned off. */
    svc_provider_users: (users: readonly ProviderUser[]) => readonly ProviderUser[];
  }
}

/** Ids of the providers that are connected: see `isConnected` of the settings. */
export async function connectedProviders({
  settings,
  providers,
}: Pick<SettingsContext, 'settings' | 'providers'>): Promise<ReadonlySet<string>> {
  const all = await providers.all();
  const ready = await Promise.all(all.map((provider) => settings.providers.isConnected(provider)));
  return new Set(all.filter((_, index) => ready[index]).map(({ id }) => id));
}

/** What visitors could no longer use if the sandbox were off. */
export async function stoppedWithoutSandbox(
  context: Pick<SettingsContext, 'settings' | 'providers'> & { readonly host: Pick<HostApi, 'hooks'> },
): Promise<{ readonly hasProvider: boolean; readonly stopped: readonly ProviderUser[] }> {
  const connected = await connectedProviders(context);
  const users = await context.host.hooks.applyFiltersAsync('svc_provider_users', []);
  return { hasProvider: connected.size > 0, stopped: users.filter(({ provider }) => !connected.has(provider)) };
}
