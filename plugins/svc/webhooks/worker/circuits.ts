import type { HostApi } from '#plugin-api';
import type { AttemptOutcome } from '../delivery/deliver.contract.ts';
import type { Circuit } from '../endpoint.ts';
import { createCircuitTable, type Known } from './circuit-table.ts';

/** An endpoint is paused when this many attempts failed in a row over at least so long, in milliseconds. */
const failuresToPause = 20;
const timeToPause = 15 * 60_000;
/** The first probe, and the longest wait between two, in milliseconds. */
const firstProbe = 60_000;
const longestProbe = 15 * 60_000;

export interface Circuits {
  /** Reads what other nodes or an earlier life of this one have found. Answers the ids of paused endpoints. */
  load(): Promise<readonly string[]>;
  /** Takes note of an outcome; answers whether the endpoint is paused now. */
  note(endpointId: string, outcome: AttemptOutcome): Promise<boolean>;
  /** Nothing to take note of: it answers, as it did before. */
  isWell(endpointId: string, outcome: AttemptOutcome): boolean;
  mayProbe(endpointId: string): boolean;
  /** Milliseconds until the next probe. */
  untilProbe(endpointId: string): number;
  resume(endpointId: string): Promise<boolean>;
  list(): Promise<Circuit[]>;
}

export interface CircuitsParts {
  readonly host: Pick<HostApi, 'database' | 'hooks' | 'clock' | 'log'>;
  /** Milliseconds on a clock that never jumps. */
  readonly elapsed: () => number;
  /** Told of an endpoint that answered a probe. */
  readonly closed?: (endpointId: string) => void;
}

/**
 * Endpoints that fail for long: their events wait, one of them is tried now and then, and when it gets through all go.
 * What is stored counts on every node: a pause that another node has ended is over here too, with the next outcome or `load`.
 */
export function createCircuits({ host: { database, hooks, clock, log }, elapsed, closed }: CircuitsParts): Circuits {
  const known = new Map<string, Known>();
  const table = createCircuitTable({ database, clock, elapsed });

  async function close(endpointId: string, circuit: Known): Promise<void> {
    known.delete(endpointId);
    if (!circuit.stored || !(await table.remove(endpointId))) return;
    closed?.(endpointId);
    log.info('A webhook endpoint works again and was resumed.', { endpoint: endpointId });
    await hooks.doActionAsync('svc_event_webhooks_endpoint_resumed', endpointId);
  }

  async function pause(endpointId: string, circuit: Known, reason: string): Promise<void> {
    circuit.pausedAt = clock.now();
    circuit.probeAt = elapsed() + firstProbe;
    await table.write(endpointId, circuit, reason);
    log.warn('A webhook endpoint was paused: it has been failing for long. Its events wait.', {
      endpoint: endpointId,
      reason,
    });
    await hooks.doActionAsync('svc_event_webhooks_endpoint_paused', endpointId, reason);
  }

  async function fail(endpointId: string, outcome: AttemptOutcome): Promise<boolean> {
    const now = elapsed();
    const circuit = known.get(endpointId) ?? { ...unbroken, since: now };
    known.set(endpointId, circuit);
    circuit.failures += 1;
    const reason = outcome.error ?? 'It does not answer.';
    if (circuit.pausedAt === null) {
      if (circuit.failures < failuresToPause || now - circuit.since < timeToPause) return false;
      await pause(endpointId, circuit, reason);
      return true;
    }
    circuit.probes += 1;
    circuit.probeAt = now + Math.min(longestProbe, firstProbe * 2 ** Math.min(circuit.probes, 10));
    if (await table.write(endpointId, circuit, reason)) return true;
    // The pause is over: this failure is the first of a new series.
    known.set(endpointId, { ...unbroken, since: now, failures: 1 });
    return false;
  }

  return {
    async load() {
      const before = [...known].filter(([, { stored }]) => stored);
      const found = await table.read();
      // Not what was paused here while the table was read.
      for (const [id, circuit] of before) if (!found.has(id) && known.get(id) === circuit) known.delete(id);
      for (const [id, circuit] of found) known.set(id, circuit);
      return [...found].filter(([, { pausedAt }]) => pausedAt !== null).map(([id]) => id);
    },
    async note(endpointId, outcome) {
      if (!outcome.ok)
        return outcome.failure === 'aborted' ? known.get(endpointId)?.pausedAt != null : fail(endpointId, outcome);
      const circuit = known.get(endpointId);
      if (circuit !== undefined) await close(endpointId, circuit);
      return false;
    },
    isWell: (endpointId, { ok }) => ok && !known.has(endpointId),
    mayProbe: (endpointId) => (known.get(endpointId)?.probeAt ?? 0) <= elapsed(),
    untilProbe: (endpointId) => Math.max(0, (known.get(endpointId)?.probeAt ?? 0) - elapsed()),
    async resume(endpointId) {
      const removed = await table.remove(endpointId);
      known.delete(endpointId);
      return removed;
    },
    list: table.list,
  };
}

const unbroken: Omit<Known, 'since'> = { failures: 0, pausedAt: null, probeAt: 0, probes: 0, stored: false };
