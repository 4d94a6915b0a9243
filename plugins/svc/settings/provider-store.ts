import type { HooksApi, OptionsApi, SecretsApi } from '#plugin-api';
import type { Provider, ProviderSettings } from '../providers/provider.ts';
import { readFieldValue } from './field-value.ts';
import { invalidFields } from './invalid-fields.ts';
import { providerOption } from './names.ts';
import type { SecretReader } from './secret-reader.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Settings a call to the provider is made with, secrets in plain text, after schema defaults; second argument: provider id. */
    svc_provider_settings: (settings: Readonly<Record<string, unknown>>, providerId: string) => Readonly<Record<string, unknown>>;
  }
}

/** What settings need of the provider registry. */
export interface ProviderSource {
  get(id: string): Provider | undefined | Promise<Provider | undefined>;
  all(): readonly Provider[] | Promise<readonly Provider[]>;
}

export interface ProviderStore {
  /** What a call is made with: saved, then schema defaults, then the filter `svc_provider_settings`. */
  effective(id: string): Promise<ProviderSettings>;
  /** What was saved, with schema defaults, secrets in plain text. */
  saved(provider: Provider): Promise<ProviderSettings>;
  /**
   * Changes the named settings and leaves the others; an empty text removes one, undefined leaves it.
   * Throws invalid fields with a sentence for each; then nothing is saved.
   */
  save(provider: Provider, changes: Readonly<Record<string, unknown>>): Promise<void>;
}

interface Parts {
  readonly options: OptionsApi;
  readonly secrets: SecretsApi;
  readonly hooks: HooksApi;
  readonly read: SecretReader;
  readonly providers: ProviderSource;
}

export function createProviderStore({ options, secrets, hooks, read, providers }: Parts): ProviderStore {
  async function stored(id: string): Promise<Readonly<Record<string, unknown>>> {
    const value = await options.get<unknown>(providerOption(id), {});
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  }

  async function saved(provider: Provider): Promise<ProviderSettings> {
    const settings: Record<string, unknown> = {};
    const values = await stored(provider.id);
    for (const [name, schema] of Object.entries(provider.settings.properties)) {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      const plain = schema.writeOnly && typeof value === 'string' ? (read(value) ?? undefined) : value;
      const chosen = plain ?? schema.default;
      if (chosen !== undefined) settings[name] = chosen;
    }
    return settings;
  }

  return {
    saved,
    async effective(id) {
      const provider = await providers.get(id);
      const settings = provider ? await saved(provider) : {};
      return (await hooks.applyFiltersAsync('svc_provider_settings', settings, id)) as ProviderSettings;
    },
    async save(provider, changes) {
      const next: Record<string, unknown> = { ...(await stored(provider.id)) };
      const faults: Record<string, string> = {};
      for (const [name, raw] of Object.entries(changes)) {
        const schema = Object.hasOwn(provider.settings.properties, name) ? provider.settings.properties[name] : undefined;
        if (raw === undefined) continue;
        if (!schema) {
          faults[name] = `${provider.label} has no setting named ${name}; it has ${Object.keys(provider.settings.properties).join(', ')}.`;
          continue;
        }
        const reading = readFieldValue(name, schema, raw);
        if ('fault' in reading) faults[name] = reading.fault;
        else if (reading.value === undefined) Reflect.deleteProperty(next, name);
        else next[name] = schema.writeOnly ? secrets.encrypt(String(reading.value)) : reading.value;
      }
      if (Object.keys(faults).length > 0) throw invalidFields(faults);
      await options.update(providerOption(provider.id), next);
    },
  };
}

/** Names of required settings that are still empty. */
export function missingSettings(provider: Provider, settings: ProviderSettings): string[] {
  return provider.required.filter((name) => {
    const value = settings[name];
    return value === undefined || value === null || value === '';
  });
}
