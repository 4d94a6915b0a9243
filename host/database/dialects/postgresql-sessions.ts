import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { Clock, Knex } from '#plugin-api';

export interface SessionsInit {
  /** Connections of the pool. */
  readonly knex: Knex;
  readonly clock: Pick<Clock, 'after'>;
  /** Whether the connection has another address, past a pooler. */
  readonly isDirect: boolean;
  /** Server and name of the database. */
  readonly label: string;
}

/** Milliseconds for a statement that a pooler may let wait for a free connection. */
const limit = 2_000;

/**
 * Checks that a connection keeps its session, as LISTEN and locks need it, and that it leads to the same database as the pool. A
 * pooler in transaction mode gives each transaction another connection of the server: what one of them set is not seen while
 * another is used.
 *
 * @throws Error with the variable to set
 */
export async function checkSessions(client: Client, { knex, clock, isDirect, label }: SessionsInit): Promise<void> {
  const mark = randomUUID();
  const name = 'svc.session';
  const identity =
    '(SELECT oid FROM pg_database WHERE datname = current_database()) AS id, pg_postmaster_start_time() AS began';
  const { rows } = await client.query<Identity>(`SELECT set_config('${name}', '${mark}', false), ${identity}`);
  await knex.transaction(async (transaction) => {
    const { rows: pooled } = await transaction.raw<{ rows: Identity[] }>(`SELECT ${identity}`);
    if (isDirect && describe(rows[0]) !== describe(pooled[0]))
      throw new Error(
        'DATABASE_DIRECT_URL leads to another database than DATABASE_URL. Use the address of the same one.',
      );
    const answer = client.query<{ mark: string | null }>(`SELECT current_setting('${name}', true) AS mark`);
    if ((await inTime(answer, clock))?.rows[0]?.mark !== mark) throw withoutSessions(label, isDirect);
  });
}

interface Identity {
  readonly id: number;
  readonly began: Date;
}

const describe = (identity: Identity | undefined): string => `${String(identity?.id)} ${String(identity?.began)}`;

function withoutSessions(label: string, isDirect: boolean): Error {
  return new Error(
    isDirect
      ? 'DATABASE_DIRECT_URL leads to a pooler that keeps no sessions (transaction mode). Use the address of PostgreSQL itself.'
      : `The database at ${label} is behind a pooler that keeps no sessions (transaction mode). ` +
          'Set DATABASE_DIRECT_URL to the address of PostgreSQL itself, which notifications and locks need.',
  );
}

/** @returns null for an answer that does not come in time */
async function inTime<Value>(answer: Promise<Value>, clock: SessionsInit['clock']): Promise<Value | null> {
  answer.catch(() => undefined);
  let undo = (): void => undefined;
  const waited = new Promise<null>((resolve) => {
    undo = clock.after(limit, () => resolve(null));
  });
  return Promise.race([answer, waited]).finally(() => undo());
}
