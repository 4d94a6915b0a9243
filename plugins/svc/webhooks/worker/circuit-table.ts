import { createRowMapper, type HostApi } from '#plugin-api';
import type { Circuit } from '../endpoint.ts';
import { tables } from '../migrations.ts';

/** What a node remembers about a failing endpoint. */
export interface CircuitState {
  failures: number;
  /** On the monotonic clock. */
  since: number;
  pausedAt: number | null;
  /** On the monotonic clock; Infinity: no probe is sent. */
  probeAt: number;
  probes: number;
  /** Whether the endpoint had a row when this node last read the table. */
  stored: boolean;
}

const circuits = createRowMapper<Circuit>({ others: ['probes'] });

interface CircuitRow {
  readonly endpoint_id: string;
  readonly failing_since: number;
  readonly failures: number;
  readonly paused_at: number | null;
  readonly next_probe_at: number | null;
  readonly probes: number;
}

/** Circuits that all nodes share. */
export interface CircuitTable {
  read(): Promise<ReadonlyMap<string, CircuitState>>;
  list(): Promise<Circuit[]>;
  /** Stores a pause. Returns false, and writes nothing, if another node has paused the endpoint before. */
  add(endpointId: string, circuit: CircuitState, reason: string): Promise<boolean>;
  /** Returns false, and writes nothing, if another node has deleted the row and so ended the pause. */
  write(endpointId: string, circuit: CircuitState, reason: string): Promise<boolean>;
  /** Returns false if the endpoint has no row. */
  remove(endpointId: string): Promise<boolean>;
}

export interface CircuitTableParts extends Pick<HostApi, 'database' | 'clock'> {
  readonly elapsed: () => number;
}

export function createCircuitTable({ database, clock, elapsed }: CircuitTableParts): CircuitTable {
  function toRow({ since, failures, pausedAt, probeAt, probes }: CircuitState, reason: string) {
    const now = clock.now();
    return {
      failing_since: now - Math.round(elapsed() - since),
      failures,
      paused_at: pausedAt,
      reason,
      next_probe_at: probeAt === Infinity ? null : now + Math.round(probeAt - elapsed()),
      probes,
    };
  }

  return {
    async read() {
      const rows: CircuitRow[] = await database.knex(tables.circuits).select();
      return new Map(
        rows.map((row) => [
          row.endpoint_id,
          {
            failures: row.failures,
            since: elapsed() - Math.max(0, clock.now() - row.failing_since),
            pausedAt: row.paused_at,
            probeAt: row.next_probe_at === null ? Infinity : elapsed(),
            probes: row.probes,
            stored: true,
          },
        ]),
      );
    },
    list: () => circuits.all(database.knex(tables.circuits).select().orderBy('failing_since')),
    async add(endpointId, circuit, reason) {
      const added: unknown[] = await database
        .knex(tables.circuits)
        .insert({ endpoint_id: endpointId, ...toRow(circuit, reason) })
        .onConflict('endpoint_id')
        .ignore()
        .returning('endpoint_id');
      circuit.stored = true;
      return added.length > 0;
    },
    async write(endpointId, circuit, reason) {
      const changes = toRow(circuit, reason);
      return (await database.knex(tables.circuits).where({ endpoint_id: endpointId }).update(changes)) > 0;
    },
    async remove(endpointId) {
      return (await database.knex(tables.circuits).where({ endpoint_id: endpointId }).delete()) > 0;
    },
  };
}
