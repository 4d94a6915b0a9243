import { createRowMapper, type HostApi } from '#plugin-api';
import type { Circuit } from '../endpoint.ts';
import { tables } from '../migrations.ts';

/** What a node remembers about a failing endpoint. */
export interface CircuitState {
  failures: number;
  /** On the monotonic clock. */
  since: number;
  pausedAt: number | null;
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
  readonly probes: number;
}

/** Circuits that all nodes share. */
export interface CircuitTable {
  read(): Promise<ReadonlyMap<string, CircuitState>>;
  list(): Promise<Circuit[]>;
  /** Returns false, and writes nothing, if another node has deleted the row and so ended the pause. */
  write(endpointId: string, circuit: CircuitState, reason: string): Promise<boolean>;
  /** Returns false if the endpoint has no row. */
  remove(endpointId: string): Promise<boolean>;
}

export interface CircuitTableParts extends Pick<HostApi, 'database' | 'clock'> {
  readonly elapsed: () => number;
}

export function createCircuitTable({ database, clock, elapsed }: CircuitTableParts): CircuitTable {
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
            probeAt: elapsed(),
            probes: row.probes,
            stored: true,
          },
        ]),
      );
    },
    list: () => circuits.all(database.knex(tables.circuits).select().orderBy('failing_since')),
    async write(endpointId, circuit, reason) {
      const now = clock.now();
      const row = {
        failing_since: now - Math.round(elapsed() - circuit.since),
        failures: circuit.failures,
        paused_at: circuit.pausedAt,
        reason,
        next_probe_at: now + Math.round(circuit.probeAt - elapsed()),
        probes: circuit.probes,
      };
      if (circuit.stored)
        return (await database.knex(tables.circuits).where({ endpoint_id: endpointId }).update(row)) > 0;
      await database
        .knex(tables.circuits)
        .insert({ endpoint_id: endpointId, ...row })
        .onConflict('endpoint_id')
        .merge();
      circuit.stored = true;
      return true;
    },
    async remove(endpointId) {
      return (await database.knex(tables.circuits).where({ endpoint_id: endpointId }).delete()) > 0;
    },
  };
}
