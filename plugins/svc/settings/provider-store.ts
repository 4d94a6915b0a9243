import type { HostApi } from '#plugin-api';
import type { Provider, ProviderSettings } from '../providers/provider.ts';
import { createConfiguredSettings, type ConfiguredSettings } from './configured.ts';
import { providerOption } from './names.ts';
import type { SecretReader } from './secret-reader.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** The settings for a call to a provider, after schema defaults, with secrets in plain text. */
    svc_provider_settings: (
      settings: Readonly<Record<string, unknown>>,
      providerId: string,
    ) => Readonly<Record<string, unknown>>;
  }
}

/** The part of the provider registry that settings use. */
export interface ProviderSource {
  get(id: string): Provider | undefined | Promise<Provider | undefined>;
  all(): readonly Provider[] | Promise<readonly Provider[]>;
}

export interface ProviderStore extends ConfiguredSettings<Provider> {
  effective(id: string): Promise<ProviderSettings>;
}

interface Parts {
  readonly host: Pick<HostApi, 'options' | 'secrets' | 'hooks' | 'http'>;
  readonly read: SecretReader;
  readonly providers: ProviderSource;
}

export function createProviderStore({ host, read, providers }: Parts): ProviderStore {
  return createConfiguredSettings<Provider>({
    host,
    read,
    option: providerOption,
    find: (id) => providers.get(id),
    filters: ['svc_sandbox_provider_settings', 'svc_provider_settings'],
  });
}
