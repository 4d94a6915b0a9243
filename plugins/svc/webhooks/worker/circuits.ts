import type { HostApi } from '#plugin-api';
import type { AttemptOutcome } from '../delivery/deliver.contract.ts';
import type { Circuit } from '../endpoint.ts';
import { tables } from '../migrations.ts';

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

interface Known {
  failures: number;
  /** On the clock that never jumps. */
  since: number;
  pausedAt: number | null;
  probeAt: number;
  probes: number;
  /** Whether there is a row. */
  stored: boolean;
}

interface CircuitRow {
  readonly endpoint_id: string;
  readonly failing_since: number;
  readonly failures: number;
  readonly paused_at: number | null;
  readonly reason: string;
  readonly next_probe_at: number | null;
  readonly probes: number;
}

/** Endpoints that fail for long: their events wait, one of them is tried now and then, and when it gets through all go. */
export function createCircuits({ host: { database, hooks, clock, log }, elapsed }: { readonly host: Pick<HostApi, 'database' | 'hooks' | 'clock' | 'log'>; readonly elapsed: () => number }): Circuits {
  const known = new Map<string, Known>();

  async function save(endpointId: string, circuit: Known, reason: string): Promise<void> {
    const now = clock.now();
    const row = { endpoint_id: endpointId, failing_since: now - Math.round(elapsed() - circuit.since), failures: circuit.failures, paused_at: circuit.pausedAt, reason, next_probe_at: now + Math.round(circuit.probeAt - elapsed()), probes: circuit.probes };
    await database.knex(tables.circuits).insert(row).onConflict('endpoint_id').merge();
    circuit.stored = true;
  }

  async function close(endpointId: string, circuit: Known | undefined): Promise<void> {
    known.delete(endpointId);
    if (!circuit?.stored) return;
    await database.knex(tables.circuits).where({ endpoint_id: endpointId }).delete();
    log.info('A webhook endpoint works again and was resumed.', { endpoint: endpointId });
    await hooks.doActionAsync('svc_event_webhooks_endpoint_resumed', endpointId);
  }

  async function fail(endpointId: string, outcome: AttemptOutcome): Promise<boolean> {
    const now = elapsed();
    const circuit = known.get(endpointId) ?? { failures: 0, since: now, pausedAt: null, probeAt: 0, probes: 0, stored: false };
    known.set(endpointId, circuit);
    circuit.failures += 1;
    const reason = outcome.error ?? 'It does not answer.';
    if (circuit.pausedAt === null) {
      if (circuit.failures < failuresToPause || now - circuit.since < timeToPause) return false;
      circuit.pausedAt = clock.now();
      circuit.probeAt = now + firstProbe;
      await save(endpointId, circuit, reason);
      log.warn('A webhook endpoint was paused: it has been failing for long. Its events wait.', { endpoint: endpointId, reason });
      await hooks.doActionAsync('svc_event_webhooks_endpoint_paused', endpointId, reason);
      return true;
    }
    circuit.probes += 1;
    circuit.probeAt = now + Math.min(longestProbe, firstProbe * 2 ** Math.min(circuit.probes, 10));
    await save(endpointId, circuit, reason);
    return true;
  }

  return {
    async load() {
      const rows: CircuitRow[] = await database.knex(tables.circuits).select();
      for (const row of rows) {
        known.set(row.endpoint_id, { failures: row.failures, since: elapsed() - Math.max(0, clock.now() - row.failing_since), pausedAt: row.paused_at, probeAt: elapsed(), probes: row.probes, stored: true });
      }
      return rows.filter(({ paused_at: pausedAt }) => pausedAt !== null).map(({ endpoint_id: id }) => id);
    },
    async note(endpointId, outcome) {
      if (!outcome.ok) return outcome.failure === 'aborted' ? known.get(endpointId)?.pausedAt != null : fail(endpointId, outcome);
      const circuit = known.get(endpointId);
      if (circuit !== undefined) await close(endpointId, circuit);
      return false;
    },
    isWell: (endpointId, { ok }) => ok && !known.has(endpointId),
    mayProbe: (endpointId) => (known.get(endpointId)?.probeAt ?? 0) <= elapsed(),
    untilProbe: (endpointId) => Math.max(0, (known.get(endpointId)?.probeAt ?? 0) - elapsed()),
    async resume(endpointId) {
      const removed = await database.knex(tables.circuits).where({ endpoint_id: endpointId }).delete();
      known.delete(endpointId);
      return removed > 0;
    },
    async list() {
      const rows: CircuitRow[] = await database.knex(tables.circuits).select().orderBy('failing_since');
      return rows.map((row) => ({ endpointId: row.endpoint_id, failingSince: row.failing_since, failures: row.failures, pausedAt: row.paused_at, reason: row.reason, nextProbeAt: row.next_probe_at }));
    },
  };
}
