import type { ReplayRequest } from '../delivery.ts';

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * The flags of `svc queue replay` as a request.
 *
 * @param now milliseconds since the epoch, for times like `2h`.
 * @throws Error when nothing says what to replay, or a time is not one.
 */
export function readReplay(flags: Readonly<Record<string, unknown>>, now: number): ReplayRequest {
  const { ids, since, until, endpoint, event, state, rate } = flags;
  const deliveries =
    typeof ids === 'string'
      ? ids
          .split(',')
          .map((id) => id.trim())
          .filter((id) => id !== '')
      : [];
  if (deliveries.length === 0 && since === undefined)
    throw new Error('Say what to replay: --ids=<id,id>, or --since=2h, or --since=2026-11-20T10:00:00Z.');
  return {
    ...(deliveries.length > 0 && { deliveries }),
    ...(since !== undefined && { since: readTime('since', since, now) }),
    ...(until !== undefined && { until: readTime('until', until, now) }),
    ...(typeof endpoint === 'string' && { endpointId: endpoint }),
    ...(typeof event === 'string' && { event }),
    ...((state === 'delivered' || state === 'failed') && { state }),
    ...(typeof rate === 'number' && { rate }),
  };
}

function readTime(flag: string, value: unknown, now: number): number {
  const text = String(value);
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const time = count === undefined ? Date.parse(text) : now - Number(count) * (units[unit] ?? 0);
  if (Number.isNaN(time))
    throw new Error(`--${flag} is '${text}'; write a time like 2026-11-20T10:00:00Z, or how long ago: 30m, 2h, 1d.`);
  return time;
}
