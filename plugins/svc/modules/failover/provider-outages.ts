import { asRecord, RestError, type Clock, type LogFields, type Logger, type Undo } from '#plugin-api';
import type { CallTarget } from '../../ai/ports.ts';
import { upstreamErrorKinds, upstreamErrorOf } from '../../kit/upstream-error.ts';

/** Outages in a row after which a model or provider is skipped, and for how long, in milliseconds. */
const maxOutages = 3;
const skippedFor = 30_000;
/** Callers name models: more are not remembered. */
const maxEntries = 1_000;

interface Outage {
  count: number;
  isSkipped: boolean;
  isProbed: boolean;
  error: RestError;
  endSkip: Undo;
}

/** What a call is sent to, as requested. A blank model is the provider's saved one. */
type Target = Pick<CallTarget, 'provider'> & Partial<Pick<CallTarget, 'model'>>;

/**
 * A circuit breaker for each use of a model, on this node: other nodes find out for themselves. After three outages in a
 * row the model is skipped for 30 seconds, then one call is let through, whose end decides. The provider as a whole, with all of
 * its models, is skipped only after calls that did not reach it. Times are those of timers, which no change of the wall clock moves.
 */
export interface ProviderOutages {
  /** The last error of a model or provider that is skipped now; null for any other. */
  skipped(use: string, target: Target): RestError | null;
  /** Makes a call and notes how it ended. A call to what was skipped is its probe. */
  watch<Result>(use: string, target: Target, call: () => Promise<Result>): Promise<Result>;
}

export function createProviderOutages({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Logger;
}): ProviderOutages {
  const outages = new Map<string, Outage>();

  function forget(key: string): void {
    outages.get(key)?.endSkip();
    outages.delete(key);
  }

  function noteOutage(key: string, error: RestError, fields: LogFields): void {
    const outage = outages.get(key) ?? { count: 0, isSkipped: false, isProbed: false, error, endSkip: () => undefined };
    outages.delete(key);
    outages.set(key, outage);
    const [oldest] = outages.keys();
    if (oldest !== undefined && outages.size > maxEntries) forget(oldest);
    Object.assign(outage, { count: outage.count + 1, error });
    if (outage.count < maxOutages) return;
    outage.isSkipped = true;
    outage.endSkip();
    outage.endSkip = clock.after(skippedFor, () => (outage.isSkipped = false));
    if (outage.count === maxOutages)
      log.warn('Provider skipped after outages', { event: 'provider_skipped', ...fields, code: error.code });
  }

  return {
    skipped(use, target) {
      for (const key of keysOf(use, target)) {
        const outage = outages.get(key);
        if (outage !== undefined && outage.count >= maxOutages && (outage.isProbed || outage.isSkipped))
          return outage.error;
      }
      return null;
    },
    async watch(use, target, call) {
      const { provider, model } = target;
      const keys = keysOf(use, target);
      const [whole, own] = keys;
      const probed = keys.flatMap((key) => outages.get(key) ?? []);
      for (const outage of probed) outage.isProbed = true;
      try {
        const result = await call();
        // A budget may have sent the call elsewhere.
        if (asRecord(result)['providerId'] === provider) keys.forEach(forget);
        return result;
      } catch (error) {
        const ending = endingOf(error, provider);
        if (ending === 'unreachable') noteOutage(whole, error as RestError, { use, provider });
        else if (ending !== null) forget(whole);
        if (ending === 'outage') noteOutage(own, error as RestError, { use, provider, model });
        else if (ending === 'response') forget(own);
        throw error;
      } finally {
        for (const outage of probed) outage.isProbed = false;
      }
    },
  };
}

/** Of the provider as a whole, and of the model. */
const keysOf = (use: string, { provider, model }: Target): [string, string] => [
  `${use} ${provider}`,
  `${use} ${provider} ${model?.trim() ?? ''}`,
];

/**
 * Whether the provider could not be reached, the call was an outage of its model (no response in time, or a status 5xx), or
 * there was a response. Null: neither, as for an aborted call. A model may be slow or down while others of its provider work.
 */
function endingOf(error: unknown, provider: string): 'unreachable' | 'outage' | 'response' | null {
  if (!(error instanceof RestError) || asRecord(error.data)['provider'] !== provider) return null;
  const upstream = upstreamErrorOf(error.cause, upstreamErrorKinds);
  if (upstream === null || upstream.kind === 'aborted') return null;
  const { kind, status = null } = upstream;
  if (kind === 'connection') return 'unreachable';
  const isOutage = kind === 'timeout' || (kind === 'unavailable' && status !== 200);
  return isOutage ? 'outage' : 'response';
}
