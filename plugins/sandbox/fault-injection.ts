import { asRecord, type JsonSchema } from '#plugin-api';

export const faults = ['none', '429', '500', 'slow', 'cut', 'error', 'garbage'] as const;
export type Fault = (typeof faults)[number];

/** What goes wrong, and how often. */
export interface FaultSettings {
  readonly fault: Fault;
  /** Share of requests affected by the fault, 0 to 1. Which ones follows from the seed. */
  readonly rate: number;
  /** Milliseconds the fault `slow` waits before it answers, or in the middle of a stream. */
  readonly delay_ms: number;
  /** Same seed and same prompt, same answer; same seed, same series of faults. */
  readonly seed: number;
  /** Milliseconds between two pieces of a stream. */
  readonly pace_ms: number;
}

export const defaultFaultSettings: FaultSettings = { fault: 'none', rate: 1, delay_ms: 3000, seed: 1, pace_ms: 20 };

export const faultSettingsSchema = {
  type: 'object',
  title: 'Fault injection of the sandbox',
  default: defaultFaultSettings,
  additionalProperties: false,
  properties: {
    fault: { type: 'string', enum: [...faults], title: 'Fault', description: 'What goes wrong.' },
    rate: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      title: 'Rate',
      description: 'Share of requests affected (0–1).',
    },
    delay_ms: {
      type: 'integer',
      minimum: 0,
      maximum: 600000,
      title: 'Delay in milliseconds',
      description: 'How long a slow response takes.',
    },
    seed: {
      type: 'integer',
      minimum: 0,
      maximum: 2147483647,
      title: 'Seed',
      description: 'The same seed and prompt return the same text.',
    },
    pace_ms: {
      type: 'integer',
      minimum: 0,
      maximum: 60000,
      title: 'Pace in milliseconds',
      description: 'Time between two pieces of a streamed response.',
    },
  },
} as const satisfies JsonSchema;

/** Reads stored fault settings: members that are missing or wrong take their default. */
export function readFaultSettings(stored: unknown): FaultSettings {
  const value = asRecord(stored) as Partial<Record<keyof FaultSettings, unknown>>;
  const fault = faults.find((name) => name === value.fault) ?? defaultFaultSettings.fault;
  return {
    fault,
    rate: numberOr(value.rate, defaultFaultSettings.rate),
    delay_ms: numberOr(value.delay_ms, defaultFaultSettings.delay_ms),
    seed: numberOr(value.seed, defaultFaultSettings.seed),
    pace_ms: numberOr(value.pace_ms, defaultFaultSettings.pace_ms),
  };
}

/**
 * The fault a model name forces (`fault-429`, also `vendor/fault-429` and `fault-429:free`), whatever the settings
 * say; null for other names.
 */
export function forcedFault(model: string): Fault | null {
  const name = /(?:^|\/)fault-([a-z0-9]+)(?:$|:)/.exec(model)?.[1];
  return faults.find((fault) => fault === name) ?? null;
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
}
