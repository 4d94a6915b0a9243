import type { HostApi } from '#plugin-api';
import { isCount } from './attempt-plan.ts';

/** Contract 8: seconds before each attempt, including the first. */
const defaultDelays: readonly number[] = [0, 0.25, 1];
/** Added by the opt-in preset of D21. */
const longTailDelays: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000];

/** Returns the filtered seconds before each attempt. @throws if the filter throws or returns something else. */
export async function retryDelays(
  { hooks }: Pick<HostApi, 'hooks'>,
  target: { readonly longTail: boolean },
): Promise<readonly number[]> {
  const delays = await hooks.applyFiltersAsync(
    'svc_event_webhooks_retry_delays',
    target.longTail ? [...defaultDelays, ...longTailDelays] : [...defaultDelays],
  );
  if (!Array.isArray(delays) || !delays.every(isCount)) throw new Error('it returned no list of seconds.');
  return delays;
}
