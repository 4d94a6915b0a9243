import { type OptionsApi, invalidFields } from '#plugin-api';

/** The option `svc_automations`. */
export interface AutomationOptions {
  /** Items processed at once on each node. */
  readonly concurrency: number;
}

export interface AutomationSettings {
  read(): Promise<AutomationOptions>;
  /** Throws RestError 400. */
  save(given: Partial<Record<keyof AutomationOptions, unknown>>): Promise<AutomationOptions>;
}

const optionName = 'svc_automations';
export const maxConcurrency = 32;
const defaults: AutomationOptions = { concurrency: 2 };

export function automationSettings(options: Pick<OptionsApi, 'get' | 'update'>): AutomationSettings {
  return {
    async read() {
      const { concurrency } = (await options.get<Partial<AutomationOptions> | null>(optionName, null)) ?? {};
      return { concurrency: isValid(concurrency) ? concurrency : defaults.concurrency };
    },
    async save({ concurrency }) {
      if (!isValid(concurrency))
        throw invalidFields({
          concurrency: `Items at once must be a whole number from 1 to ${String(maxConcurrency)}.`,
        });
      await options.update(optionName, { concurrency });
      return { concurrency };
    },
  };
}

function isValid(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= maxConcurrency;
}
