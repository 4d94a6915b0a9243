import type { HostApi } from '#plugin-api';
import type { AttemptOutcome } from '../delivery/deliver.contract.ts';
import type { Circuit } from '../endpoint.ts';
import { isGone } from '../delivery/outcome.ts';
import { createCircuitTable, type CircuitState } from './circuit-table.ts';

/** An endpoint is paused after this many failed attempts in a row over at least this many milliseconds. */
const failuresToPause = 20;
const timeToPause = 15 * 60_000;
/** Milliseconds until the first probe, and the longest wait between two probes. */
const firstProbe = 60_000;
const longestProbe = 15 * 60_000;

export interface Circuits {
  /** Reads the stored circuits. Returns the ids of paused endpoints. */
  load(): Promise<readonly string[]>;
  /** Records an outcome. Returns whether the endpoint is paused now. */
  recordOutcome(endpointId: string, outcome: AttemptOutcome): Promise<boolean>;
  /** Whether there is nothing to record: the endpoint succeeded and was not failing. */
  isHealthy(endpointId: string, outcome: AttemptOutcome): boolean;
  mayProbe(endpointId: string): boolean;
  /** Milliseconds until the next probe; Infinity: there is none. */
  untilProbe(endpointId: string): number;
  resume(endpointId: string): Promise<boolean>;
  list(): Promise<Circuit[]>;
}

export interface CircuitsParts {
  readonly host: Pick<HostApi, 'database' | 'hooks' | 'clock' | 'log'>;
  /** Milliseconds on a monotonic clock. */
  readonly elapsed: () => number;
  /** Called when a probe of a paused endpoint succeeded. */
  readonly onClosed?: (endpointId: string) => void;
}

/**
 * Pauses endpoints that keep failing. Their deliveries wait, a probe is sent now and then, and a successful probe resumes
 * delivery. An endpoint that responds with 410 is paused at once and gets no probe: only people resume it, or change its URL
 * (D45). The stored state counts on every node: the next outcome or `load` notices a pause that another node ended.
 */
export function createCircuits({ host: { database, hooks, clock, log }, elapsed, onClosed }: CircuitsParts): Circuits {
  const known = new Map<string, CircuitState>();
  const table = createCircuitTable({ database, clock, elapsed });

  async function close(endpointId: string, circuit: CircuitState): Promise<void> {
    known.delete(endpointId);
    if (!circuit.stored || !(await table.remove(endpointId))) return;
    onClosed?.(endpointId);
    log.info('Webhook endpoint resumed', { event: 'webhook_endpoint_resumed', endpoint: endpointId });
    await hooks.doActionAsync('svc_event_webhooks_endpoint_resumed', endpointId);
  }

  async function pause(endpointId: string, circuit: CircuitState, { reason, probeAt }: Pause): Promise<void> {
    circuit.pausedAt = clock.now();
    circuit.probeAt = probeAt;
    if (!(await table.add(endpointId, circuit, reason))) return;
    log.warn('Webhook endpoint paused', {
      event: 'webhook_endpoint_paused',
      endpoint: endpointId,
      reason,
    });
    await hooks.doActionAsync('svc_event_webhooks_endpoint_paused', endpointId, reason);
  }

  async function recordFailure(endpointId: string, outcome: AttemptOutcome): Promise<boolean> {
    const now = elapsed();
    const circuit = known.get(endpointId) ?? { ...closedCircuit, since: now };
    known.set(endpointId, circuit);
    circuit.failures += 1;
    const reason = outcome.error ?? 'The endpoint does not respond.';
    if (circuit.pausedAt === null) {
      const gone = isGone(outcome);
      if (!gone && (circuit.failures < failuresToPause || now - circuit.since < timeToPause)) return false;
      await pause(endpointId, circuit, { reason, probeAt: gone ? Infinity : now + firstProbe });
      return true;
    }
    circuit.probes += 1;
    const wait = Math.min(longestProbe, firstProbe * 2 ** Math.min(circuit.probes, 10));
    circuit.probeAt = isGone(outcome) ? Infinity : now + wait;
    if (await table.write(endpointId, circuit, reason)) return true;
    // Another node ended the pause: this failure starts a new series.
    known.delete(endpointId);
    return recordFailure(endpointId, outcome);
  }

  return {
    async load() {
      const before = [...known].filter(([, { stored }]) => stored);
      const found = await table.read();
      // Keep circuits that changed on this node while the table was read.
      for (const [id, circuit] of before) if (!found.has(id) && known.get(id) === circuit) known.delete(id);
      for (const [id, circuit] of found) known.set(id, circuit);
      return [...found].filter(([, { pausedAt }]) => pausedAt !== null).map(([id]) => id);
    },
    async recordOutcome(endpointId, outcome) {
      const gone = known.get(endpointId);
      // Of a gone endpoint only the success of an attempt counts that began after it said so, such as that of a test.
      if (gone?.probeAt === Infinity && !(outcome.ok && clock.now() - outcome.duration > (gone.pausedAt ?? 0)))
        return true;
      if (!outcome.ok)
        return outcome.failure === 'aborted'
          ? known.get(endpointId)?.pausedAt != null
          : recordFailure(endpointId, outcome);
      const circuit = known.get(endpointId);
      if (circuit !== undefined) await close(endpointId, circuit);
      return false;
    },
    isHealthy: (endpointId, { ok }) => ok && !known.has(endpointId),
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

interface Pause {
  readonly reason: string;
  /** On the monotonic clock; Infinity: never. */
  readonly probeAt: number;
}

const closedCircuit: Omit<CircuitState, 'since'> = {
  failures: 0,
  pausedAt: null,
  probeAt: 0,
  probes: 0,
  stored: false,
};
