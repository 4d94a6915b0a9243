import { createHmac } from 'node:crypto';
import { requiredColumns, type Clock, type Logger, type Migration } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';

/** What happened, without secrets: `details` holds names, ids and addresses. */
export interface SecurityEvent {
  /** snake_case, for example `signed_in`. */
  readonly event: string;
  /** Who did it; 0: a visitor, a command or a job. */
  readonly userId?: number;
  /** Address of the request; empty without one. */
  readonly ip?: string;
  readonly details?: Readonly<Record<string, string | number | boolean | null>>;
}

export interface SecurityEntry extends Required<SecurityEvent> {
  /** 1 for the first entry, without gaps. */
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** HMAC-SHA256 in hex over this entry and the hash of the entry before. */
  readonly hash: string;
}

export interface SecurityLog {
  /**
   * Appends an entry; inside a transaction once it has committed, so that what was rolled back is not recorded. Never
   * rejects: a log that cannot be written is reported and does not stop what it records.
   */
  record(event: SecurityEvent): Promise<void>;
  /** Newest first. @param query `before`: entries with a lower position; `event`: of this event alone. */
  list(query: {
    readonly limit: number;
    readonly before?: number;
    readonly event?: string;
  }): Promise<readonly SecurityEntry[]>;
  /** The events that the log has, by name. */
  events(): Promise<readonly string[]>;
  /** Recomputes the chain. `brokenAt` is the position of the first entry that was changed, removed or inserted. */
  verify(): Promise<{ readonly entries: number; readonly brokenAt: number | null }>;
  /** Resolves when all entries are written. */
  stop(): Promise<void>;
}

export interface SecurityLogDependencies {
  readonly database: Pick<Database, 'knex' | 'afterCommit' | 'currentTransaction'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** 32 bytes. Who can write the database, but does not have the key, cannot extend or rewrite the chain unnoticed. */
  readonly key: () => Buffer;
  /** Keys of entries from before the key was rotated. `until`: the last position that one is valid for; null: of any. */
  readonly formerKeys?: () => Promise<readonly { readonly key: Buffer; readonly until: number | null }[]>;
}

interface Row {
  readonly position: number | string;
  readonly at: number | string;
  readonly event: string;
  readonly user_id: number;
  readonly ip: string;
  readonly details: string;
  readonly hash: string;
}

const table = 'security_log';
const batchSize = 1_000;

/**
 * A log of what concerns the security of the site. Triggers of the database refuse to change or delete entries, and a
 * chain of keyed hashes shows what was changed past them. Each entry is also a line of the log of the process, which shows
 * when the newest entries were cut off.
 */
export function createSecurityLog({
  database,
  clock,
  log,
  key,
  formerKeys = async () => [],
}: SecurityLogDependencies): SecurityLog {
  const rows = () => database.knex<Row>(table);
  const hashOf = (row: Omit<Row, 'hash'>, previous: string, by = key()): string =>
    createHmac('sha256', by)
      .update(
        JSON.stringify([Number(row.position), Number(row.at), row.event, row.user_id, row.ip, row.details, previous]),
      )
      .digest('hex');

  /** Two nodes may choose the same position. One of them inserts nothing then and tries the next. */
  async function append({ event, userId = 0, ip = '', details = {} }: SecurityEvent): Promise<Row> {
    for (;;) {
      const last = (await rows().select('position', 'hash').orderBy('position', 'desc').first()) as Row | undefined;
      const entry = {
        position: Number(last?.position ?? 0) + 1,
        at: clock.now(),
        event,
        user_id: userId,
        ip,
        details: JSON.stringify(details),
      };
      const row = { ...entry, hash: hashOf(entry, last?.hash ?? '') };
      const inserted = await rows().insert(row).onConflict('position').ignore().returning('position');
      if (inserted.length > 0) return row;
    }
  }

  async function write(event: SecurityEvent): Promise<void> {
    try {
      const { position, hash } = await append(event);
      const { event: entry, userId: user = 0, ip = '', details = {} } = event;
      log.info('Security event recorded', { event: 'security_event', entry, user, ip, details, position, hash });
    } catch (error) {
      log.error('Failed to write the security log', { event: 'security_log_failed', entry: event.event, error });
    }
  }

  // One entry after the other: this process does not compete with itself for positions.
  let written = Promise.resolve();

  return {
    async record(event) {
      const add = (): Promise<void> => (written = written.then(() => write(event)));
      if (database.currentTransaction() === null) await add();
      else database.afterCommit(() => void add());
    },
    stop: () => written,
    async list({ limit, before, event }) {
      const found = rows().orderBy('position', 'desc').limit(limit);
      if (before !== undefined) void found.where('position', '<', before);
      if (event !== undefined) void found.where({ event });
      return ((await found) as Row[]).map(toEntry);
    },
    events: async () =>
      ((await rows().distinct('event').orderBy('event')) as Pick<Row, 'event'>[]).map((row) => row.event),
    async verify() {
      let position = 0;
      let previous = '';
      const former = await formerKeys();
      const isValid = (row: Row): boolean =>
        row.hash === hashOf(row, previous) ||
        former.some(
          ({ key: by, until }) =>
            (until === null || Number(row.position) <= until) && row.hash === hashOf(row, previous, by),
        );
      for (;;) {
        const batch = (await rows().where('position', '>', position).orderBy('position').limit(batchSize)) as Row[];
        for (const row of batch) {
          if (Number(row.position) !== position + 1 || !isValid(row))
            return { entries: position, brokenAt: position + 1 };
          position += 1;
          previous = row.hash;
        }
        if (batch.length < batchSize) return { entries: position, brokenAt: null };
      }
    },
  };
}

function toEntry({ position, at, event, user_id, ip, details, hash }: Row): SecurityEntry {
  return {
    position: Number(position),
    at: Number(at),
    event,
    userId: user_id,
    ip,
    details: JSON.parse(details) as SecurityEntry['details'],
    hash,
  };
}

export const migrations: readonly Migration[] = [
  {
    id: '0030_security_log',
    async up(knex, { dialect }) {
      await knex.schema.createTable(table, (columns) => {
        columns.bigInteger('position').primary();
        columns.bigInteger('at').notNullable();
        columns.text('event').notNullable().index();
        requiredColumns(columns).integer('user_id').text('ip');
        // JSON object.
        columns.text('details').notNullable();
        columns.text('hash').notNullable();
      });
      for (const statement of dialect === 'sqlite' ? sqliteTriggers : postgresqlTriggers) await knex.raw(statement);
    },
  },
];

const refusal = 'The security log can only be appended to.';
const sqliteTriggers = ['UPDATE', 'DELETE'].map(
  (verb) =>
    `CREATE TRIGGER ${table}_${verb.toLowerCase()} BEFORE ${verb} ON ${table} BEGIN SELECT RAISE(ABORT, '${refusal}'); END`,
);
const postgresqlTriggers = [
  `CREATE OR REPLACE FUNCTION ${table}_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '${refusal}'; END $$`,
  `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION ${table}_refuse()`,
];
