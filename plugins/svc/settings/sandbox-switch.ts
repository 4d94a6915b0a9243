import { RestError, type HooksApi, type OptionsApi } from '#plugin-api';
import { optionNames } from './names.ts';

declare module '#plugin-api' {
  interface FilterMap {
    /** Whether a plugin can stand in for the providers; the sandbox plugin answers true. */
    svc_sandbox_available: (available: boolean) => boolean;
  }
}

/** While it is on, answers are made up on this machine and no provider is asked. */
export interface SandboxSwitch {
  isOn(): Promise<boolean>;
  isAvailable(): Promise<boolean>;
  /** Throws RestError 400 when it is switched on while no plugin offers a sandbox. */
  turn(on: boolean): Promise<void>;
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
    isOn: async () => (await options.get<unknown>(optionNames.sandbox, false)) === true,
    isAvailable,
    async turn(on) {
      if (on && !(await isAvailable())) {
        throw new RestError({
          code: 'rest_svc_sandbox_unavailable',
          status: 400,
          message: 'There is no sandbox here. Activate the plugin sandbox first.',
        });
      }
      await options.update(optionNames.sandbox, on);
    },
  };
}
