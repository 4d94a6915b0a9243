import type { HooksApi, HttpApi, OptionsApi, SecretsApi } from '#plugin-api';
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
  readonly options: OptionsApi;
  readonly secrets: SecretsApi;
  readonly hooks: HooksApi;
  readonly http: Pick<HttpApi, 'check'>;
  readonly read: SecretReader;
  readonly providers: ProviderSource;
}

export function createProviderStore({ options, secrets, hooks, http, read, providers }: Parts): ProviderStore {
  return createConfiguredSettings<Provider>({
    options,
    secrets,
    http,
    read,
    option: providerOption,
    find: (id) => providers.get(id),
    hooks,
    filters: ['svc_sandbox_provider_settings', 'svc_provider_settings'],
  });
}
