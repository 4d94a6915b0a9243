import type { HealthResult } from '#plugin-api';
import type { Step } from './stages.ts';

/** What one plugin found about itself. */
export interface PluginHealth {
  readonly slug: string;
  readonly results: readonly HealthResult[];
}

const statuses: readonly unknown[] = ['good', 'recommended', 'critical'];

/** Lets a plugin look after itself. A check that fails is a finding too, so this never throws. */
export async function askHealth(step: Step, check: () => unknown): Promise<HealthResult[]> {
  try {
    return readFindings(await step('health', check));
  } catch (error) {
    return [
      {
        status: 'critical',
        label: 'The health check itself failed',
        description: error instanceof Error ? error.message : String(error),
      },
    ];
  }
}

/**
 * What a plugin's `health` answered, which may be anything where it is written in plain JavaScript.
 *
 * @throws Error that says what it should have answered.
 */
function readFindings(answer: unknown): HealthResult[] {
  if (!Array.isArray(answer)) throw new Error("'health' must answer an array of {status, label, description}.");
  return answer.map((finding: unknown) => {
    const { status, label, description } = (finding ?? {}) as Partial<Record<keyof HealthResult, unknown>>;
    if (!statuses.includes(status) || typeof label !== 'string')
      throw new Error("Each finding of 'health' needs a status ('good', 'recommended' or 'critical') and a label.");
    return {
      status: status as HealthResult['status'],
      label,
      description: typeof description === 'string' ? description : '',
    };
  });
}
