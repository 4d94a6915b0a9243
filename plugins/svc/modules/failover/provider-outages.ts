import { asRecord, RestError, type Clock, type Logger } from '#plugin-api';
import { upstreamErrorKinds, upstreamErrorOf } from '../../kit/upstream-error.ts';

/** Outages in a row after which a provider is skipped, and for how long, in milliseconds. */
const maxOutages = 3;
const skippedFor = 30_000;

interface Outage {
  count: number;
  /** Milliseconds since the epoch. */
  skippedUntil: number;
  isProbed: boolean;
  error: RestError;
}

/**
 * A circuit breaker for each use of a provider, on this node: other nodes find out for themselves. After three outages in a
 * row the provider is skipped for 30 seconds, then one call is let through, whose end decides.
 */
export interface ProviderOutages {
  /** The last error of a provider that is skipped now; null for any other provider. */
  skipped(use: string, provider: string): RestError | null;
  /** Makes a call and notes how it ended. A call to a provider that was skipped is its probe. */
  watch<Result>(use: string, provider: string, call: () => Promise<Result>): Promise<Result>;
}

export function createProviderOutages({
  clock,
  log,
}: {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}): ProviderOutages {
  const outages = new Map<string, Outage>();

  function noteOutage(key: string, error: RestError): void {
    const outage = outages.get(key) ?? { count: 0, skippedUntil: 0, isProbed: false, error };
    outages.set(key, outage);
    Object.assign(outage, { count: outage.count + 1, error });
    if (outage.count < maxOutages) return;
    outage.skippedUntil = clock.now() + skippedFor;
    if (outage.count > maxOutages) return;
    const [use, provider] = key.split(' ');
    log.warn('Provider skipped after outages', { event: 'provider_skipped', use, provider, code: error.code });
  }

  return {
    skipped(use, provider) {
      const outage = outages.get(keyOf(use, provider));
      if (outage === undefined || outage.count < maxOutages) return null;
      return outage.isProbed || clock.now() < outage.skippedUntil ? outage.error : null;
    },
    async watch(use, provider, call) {
      const key = keyOf(use, provider);
      const probed = outages.get(key);
      if (probed !== undefined) probed.isProbed = true;
      try {
        const result = await call();
        // A budget may have sent the call elsewhere.
        if (asRecord(result)['providerId'] === provider) outages.delete(key);
        return result;
      } catch (error) {
        const ending = endingOf(error, provider);
        if (ending === 'outage') noteOutage(key, error as RestError);
        else if (ending === 'response') outages.delete(key);
        throw error;
      } finally {
        if (probed !== undefined) probed.isProbed = false;
      }
    },
  };
}

const keyOf = (use: string, provider: string): string => `${use} ${provider}`;

/** Whether the provider could not be reached or failed as a whole, or sent a response. Null: neither, as for an aborted call. */
function endingOf(error: unknown, provider: string): 'outage' | 'response' | null {
  if (!(error instanceof RestError) || asRecord(error.data)['provider'] !== provider) return null;
  const upstream = upstreamErrorOf(error.cause, upstreamErrorKinds);
  if (upstream === null || upstream.kind === 'aborted') return null;
  const { kind, status = null } = upstream;
  const isOutage = kind === 'connection' || kind === 'timeout' || (kind === 'unavailable' && status !== 200);
  return isOutage ? 'outage' : 'response';
}
