import { randomUUID } from 'node:crypto';
import type { Clock, DatabaseApi } from '#plugin-api';
import type { CheckedMessage } from './check-message.ts';

/** A stored mail for the settings page, without its text. Times are milliseconds since the epoch. */
export interface StoredMail {
  readonly id: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly state: 'waiting' | 'failed';
  /** Attempts so far, including one in progress. */
  readonly attempts: number;
  readonly nextAttemptAt: number;
  readonly createdAt: number;
  readonly lastError: string;
}

export interface MailClaim {
  readonly id: string;
  readonly message: CheckedMessage;
  /** 1 for the first. */
  readonly attempt: number;
  /** Null: this was the last attempt. */
  readonly nextAttemptAt: number | null;
  readonly isExpired: boolean;
}

interface MailRow {
  readonly id: string;
  readonly recipients: string;
  readonly subject: string;
  readonly sealed: string;
  readonly state: StoredMail['state'];
  readonly attempts: number;
  readonly next_attempt_at: number | string;
  readonly expires_at: number | string | null;
  readonly created_at: number | string;
  readonly last_error: string;
}

export interface MailStoreDependencies {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Encrypts and decrypts text at rest. */
  readonly seal: (text: string) => string;
  readonly unseal: (sealed: string) => string;
}

const minute = 60_000;
/** Milliseconds from an attempt to the next one. The first is longer than an attempt can take. */
const delays = [minute, 5 * minute, 15 * minute, 60 * minute, 4 * 60 * minute] as const;
/** Failed mails are listed this long, in milliseconds. */
const failedFor = 30 * 24 * 60 * minute;

export type MailStore = ReturnType<typeof createMailStore>;

/** The table of unsent mails. A claim moves the time of the next attempt, so only one node sends a mail at a time. */
export function createMailStore({ database: { knex }, clock, seal, unseal }: MailStoreDependencies) {
  return {
    /** @returns the id, which `claim` accepts at once. */
    async insert(message: CheckedMessage, expiresAt: number | null): Promise<string> {
      const now = clock.now();
      const id = randomUUID();
      await knex('mails').insert({
        id,
        recipients: JSON.stringify(message.to),
        subject: message.subject,
        sealed: seal(JSON.stringify(message)),
        state: 'waiting',
        attempts: 0,
        next_attempt_at: now,
        expires_at: expiresAt,
        created_at: now,
        last_error: '',
      });
      await knex('mails')
        .where({ state: 'failed' })
        .where('created_at', '<', now - failedFor)
        .delete();
      return id;
    },

    /** Time of the first attempt after the immediate one. */
    firstRetryAt: (): number => clock.now() + delays[0],

    /** Null: the mail has been sent, has failed, or another node sends it now. */
    async claim(id: string): Promise<MailClaim | null> {
      const now = clock.now();
      const row = await knex<MailRow>('mails').where({ id, state: 'waiting' }).first();
      if (row === undefined || Number(row.next_attempt_at) > now) return null;
      const delay = delays[row.attempts];
      const claimed = await knex('mails')
        .where({ id, attempts: row.attempts })
        .update({ attempts: row.attempts + 1, next_attempt_at: now + (delay ?? delays[0]) });
      if (claimed !== 1) return null;
      return {
        id,
        message: JSON.parse(unseal(row.sealed)) as CheckedMessage,
        attempt: row.attempts + 1,
        nextAttemptAt: delay === undefined ? null : now + delay,
        isExpired: row.expires_at !== null && Number(row.expires_at) <= now,
      };
    },

    async recordError(id: string, lastError: string): Promise<void> {
      await knex('mails').where({ id }).update({ last_error: lastError });
    },

    /** The mail will not be sent any more. Its text is removed. */
    async fail(id: string, lastError: string): Promise<void> {
      await knex('mails').where({ id }).update({ state: 'failed', sealed: '', last_error: lastError });
    },

    async remove(id: string): Promise<void> {
      await knex('mails').where({ id }).delete();
    },

    /** Unsent mails, newest first. */
    async list(limit: number): Promise<StoredMail[]> {
      const rows = await knex<MailRow>('mails').orderBy('created_at', 'desc').limit(limit);
      return rows.map((row) => ({
        id: row.id,
        to: JSON.parse(row.recipients) as string[],
        subject: row.subject,
        state: row.state,
        attempts: row.attempts,
        nextAttemptAt: Number(row.next_attempt_at),
        createdAt: Number(row.created_at),
        lastError: row.last_error,
      }));
    },
  };
}
