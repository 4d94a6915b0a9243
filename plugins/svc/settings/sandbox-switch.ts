import { restError, type HooksApi, type OptionsApi } from '#plugin-api';
import { optionNames } from './names.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Whether a plugin provides fakes of the providers. The sandbox plugin returns true. */
    svc_sandbox_available: (available: boolean) => boolean;
    /** The settings that lead to the fake of a provider. Runs while the sandbox is on, before `svc_provider_settings`. */
    svc_sandbox_provider_settings: (
      settings: Readonly<Record<string, unknown>>,
      providerId: string,
    ) => Readonly<Record<string, unknown>>;
    /** The settings that lead to the fake of a vector store. Runs while the sandbox is on, before `svc_vector_store_settings`. */
    svc_sandbox_vector_store_settings: (
      settings: Readonly<Record<string, unknown>>,
      storeId: string,
    ) => Readonly<Record<string, unknown>>;
  }
}

/** Reads whether responses are generated locally and no provider is called. */
export function sandboxReader(options: Pick<OptionsApi, 'computed'>): () => Promise<boolean> {
  return options.computed([optionNames.sandbox], (stored) => stored === true);
}

export interface SandboxSwitch {
  isOn(): Promise<boolean>;
  isAvailable(): Promise<boolean>;
  /** @throws RestError 400 when it is turned on and no plugin provides a sandbox */
  set(on: boolean): Promise<void>;
}

export function createSandboxSwitch({
  options,
  hooks,
}: {
  readonly options: OptionsApi;
  readonly hooks: HooksApi;
}): SandboxSwitch {
  const isAvailable = async (): Promise<boolean> =>
    (await hooks.applyFiltersAsync('svc_sandbox_available', false)) === true;
  return {
    isOn: sandboxReader(options),
    isAvailable,
    async set(on) {
      if (on && !(await isAvailable())) {
        throw restError(
          400,
          'rest_svc_sandbox_unavailable',
          'The sandbox is not available. Activate the plugin sandbox first.',
        );
      }
      await options.update(optionNames.sandbox, on);
    },
  };
}
