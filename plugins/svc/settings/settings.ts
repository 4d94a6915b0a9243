import type { CallTimeouts } from '../kit/time-limit.ts';
import { asRecord, type HostApi, type OptionsApi } from '#plugin-api';
import { aiParamSchemas, type AiParams } from '../kit/ai-params.ts';
import { imageParamSchemas, type ImageParams } from '../kit/image-params.ts';
import type { ProviderSettings, Provider } from '../providers/provider.ts';
import { readFields } from './field-value.ts';
import { limitSchemas, type Limits } from './limits.ts';
import { modelsTransient, optionNames, optionPrefix, providerOption } from './names.ts';
import { createRestKey, type RestKey } from './rest-key.ts';
import { createSandboxSwitch, type SandboxSwitch } from './sandbox-switch.ts';
import { createSecretReader, type SecretReader } from './secret-reader.ts';
import type { ProviderTester } from './provider-tester.ts';
import { createConfiguredSettings, type ConfiguredSettings } from './configured.ts';

/** All settings of the service. Every node sees a change within a second. */
export interface Settings {
  readonly restKey: RestKey;
  readonly providers: ProviderStore;
  readonly sandbox: SandboxSwitch;
  /** The settings for a call to the provider, with secrets in plain text. */
  provider(id: string): Promise<ProviderSettings>;
  /** Names of saved secrets of a provider that cannot be read: see `ConfiguredSettings.unreadable`. */
  unreadable(id: string): Promise<readonly string[]>;
  /** Defaults of every text call. The keys of a call override them (D8). */
  aiParams(): Promise<AiParams>;
  /** Replaces all of them. An empty text unsets a key. @throws RestError 400 with the invalid fields */
  saveAiParams(values: Readonly<Record<string, unknown>>): Promise<void>;
  /** Defaults of image requests (contract 4.3). */
  imageDefaults(): Promise<ImageParams>;
  /** Replaces all of them. With an empty text, the provider chooses. @throws RestError 400 with the invalid fields */
  saveImageDefaults(values: Readonly<Record<string, unknown>>): Promise<void>;
  limits(): Promise<Limits>;
  /** Replaces all of them. An empty text sets the default. @throws RestError 400 with the invalid fields */
  saveLimits(values: Readonly<Record<string, unknown>>): Promise<void>;
  /** Time limits of calls in milliseconds, by kind. */
  timeouts(): Promise<Required<CallTimeouts>>;
}

export interface SettingsParts {
  readonly host: Pick<HostApi, 'options' | 'secrets' | 'hooks' | 'http' | 'log'>;
  readonly providers: ProviderSource;
  readonly random?: (bytes: number) => Buffer;
}

export function createSettings({ host, providers, random }: SettingsParts): Settings {
  const { options, secrets, hooks } = host;
  const read = createSecretReader({ secrets, log: host.log });
  const store = createProviderStore({ host, read, providers });

  return {
    restKey: createRestKey({ options, secrets, read, log: host.log, ...(random && { random }) }),
    providers: store,
    sandbox: createSandboxSwitch({ options, hooks }),
    provider: store.effective,
    async unreadable(id) {
      const provider = await providers.get(id);
      return provider ? store.unreadable(provider) : [];
    },
    aiParams: options.computed([optionNames.aiParams], (stored) => asRecord(stored) as AiParams),
    async saveAiParams(values) {
      await options.update(optionNames.aiParams, readFields(aiParamSchemas, values));
    },
    imageDefaults: options.computed([optionNames.imageDefaults], (stored) => asRecord(stored) as ImageParams),
    async saveImageDefaults(values) {
      await options.update(optionNames.imageDefaults, readFields(imageParamSchemas, values));
    },
    limits: options.computed([optionNames.limits], readLimits),
    async saveLimits(values) {
      await options.update(optionNames.limits, readFields(limitSchemas, values));
    },
    timeouts: options.computed([optionNames.limits], (stored) => {
      const limits = readLimits(stored);
      return {
        text: limits.text_timeout * 1000,
        textIdle: limits.text_idle_timeout * 1000,
        textTotal: Math.max(limits.text_timeout, limits.text_total_timeout) * 1000,
        embeddings: limits.embeddings_timeout * 1000,
        images: limits.images_timeout * 1000,
      };
    }),
  };
}

function readLimits(stored: unknown): Limits {
  const saved = asRecord(stored);
  const chosen = (name: keyof Limits): number => {
    const value = saved[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : limitSchemas[name].default;
  };
  return {
    text_timeout: Math.max(1, chosen('text_timeout')),
    text_idle_timeout: Math.max(1, chosen('text_idle_timeout')),
    text_total_timeout: Math.max(1, chosen('text_total_timeout')),
    embeddings_timeout: Math.max(1, chosen('embeddings_timeout')),
    images_timeout: Math.max(1, chosen('images_timeout')),
    requests_per_minute: Math.max(0, chosen('requests_per_minute')),
    usage_days: Math.max(1, chosen('usage_days')),
  };
}

/** Deletes every option of the service, including secrets, and the cached model lists. */
export async function removeOptions(
  options: Pick<OptionsApi, 'list' | 'delete' | 'deleteTransient'>,
  providerIds: readonly string[],
): Promise<void> {
  for (const name of Object.keys(await options.list(optionPrefix))) await options.delete(name);
  for (const id of providerIds) await options.deleteTransient(modelsTransient(id));
}

/** What the pages and commands of the settings use. */
export interface SettingsContext {
  readonly host: HostApi;
  readonly settings: Settings;
  readonly providers: ProviderSource;
  readonly tester: ProviderTester;
}

/** What the first-run setup needs. */
export interface SetupContext extends SettingsContext {
  readonly budgets: SetupBudgets;
  readonly prices: { find(of: { readonly provider: string; readonly model: string }): Promise<object | null> };
}

/** The site's budgets, to which the first-run setup adds one. */
export interface SetupBudgets {
  list(): Promise<readonly unknown[]>;
  save(values: Readonly<Record<string, unknown>>): Promise<unknown>;
}

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
interface ProviderSource {
  get(id: string): Provider | undefined | Promise<Provider | undefined>;
  all(): readonly Provider[] | Promise<readonly Provider[]>;
}

interface ProviderStore extends ConfiguredSettings<Provider> {
  effective(id: string): Promise<ProviderSettings>;
}

interface Parts {
  readonly host: Pick<HostApi, 'options' | 'secrets' | 'hooks' | 'http'>;
  readonly read: SecretReader;
  readonly providers: ProviderSource;
}

function createProviderStore({ host, read, providers }: Parts): ProviderStore {
  return createConfiguredSettings<Provider>({
    host,
    read,
    option: providerOption,
    find: (id) => providers.get(id),
    filters: ['svc_sandbox_provider_settings', 'svc_provider_settings'],
  });
}
