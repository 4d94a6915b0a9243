import type { HostApi } from '#plugin-api';
import { isCount } from './attempt-plan.ts';

/** Contract 8, in seconds: before each attempt, the first included. */
const usual: readonly number[] = [0, 0.25, 1];
/** What the opt-in preset of D21 adds. */
const longTail: readonly number[] = [5, 300, 1_800, 7_200, 18_000, 36_000];

/** Seconds before each attempt, as the filter wants them. @throws when it throws, or answers no such list. */
export async function retryDelays(
  { hooks }: Pick<HostApi, 'hooks'>,
  target: { readonly longTail: boolean },
): Promise<readonly number[]> {
  const delays = await hooks.applyFiltersAsync(
    'svc_event_webhooks_retry_delays',
    target.longTail ? [...usual, ...longTail] : [...usual],
  );
  if (!Array.isArray(delays) || !delays.every(isCount)) throw new Error('the delays are no list of seconds.');
  return delays;
}
