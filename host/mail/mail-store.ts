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
  /** Whether its text is still stored and not expired, so that it can be sent after all. */
  readonly canRetry: boolean;
}

export interface MailClaim {
  readonly id: string;
  /** Null: the key that encrypted it is missing. The mail is held, without using up an attempt. */
  readonly message: CheckedMessage | null;
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
/** Between two looks for the key that encrypted a mail. */
const heldDelay = 60 * minute;
/** Last error of mails that wait for their key. */
export const heldReason =
  'The secret key that encrypted this mail is missing. Restore SECRET_KEY or the key file, and the mail is sent.';
/** Failed mails are listed this long, in milliseconds. */
const failedFor = 30 * 24 * 60 * minute;

export type MailStore = ReturnType<typeof createMailStore>;

/** The table of unsent mails. A claim moves the time of the next attempt, so only one node sends a mail at a time. */
export function createMailStore({ database: { knex }, clock, seal, unseal }: MailStoreDependencies) {
  const open = (sealed: string): CheckedMessage | null => {
    try {
      return JSON.parse(unseal(sealed)) as CheckedMessage;
    } catch {
      return null;
    }
  };
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
      await knex('mails').where({ state: 'failed' }).where('expires_at', '<=', now).update({ sealed: '' });
      return id;
    },

    /** Time of the first attempt after the immediate one. */
    firstRetryAt: (): number => clock.now() + delays[0],

    /** Null: the mail has been sent, has failed, or another node sends it now. */
    async claim(id: string): Promise<MailClaim | null> {
      const now = clock.now();
      const row = await knex<MailRow>('mails').where({ id, state: 'waiting' }).first();
      if (row === undefined || Number(row.next_attempt_at) > now) return null;
      const message = open(row.sealed);
      const isExpired = isPast(row.expires_at, now) || (message === null && Number(row.created_at) <= now - failedFor);
      const attempts = message === null ? row.attempts : row.attempts + 1;
      const delay = message === null ? heldDelay : delays[row.attempts];
      const claimed = await knex('mails')
        .where({ id, attempts: row.attempts, next_attempt_at: row.next_attempt_at })
        .update({
          attempts,
          next_attempt_at: now + (delay ?? delays[0]),
          ...(message === null && { last_error: heldReason }),
        });
      if (claimed !== 1) return null;
      return { id, message, attempt: attempts, nextAttemptAt: delay === undefined ? null : now + delay, isExpired };
    },

    /** Mails that wait for their key, due at once: the key may be back. Returns their ids. */
    async releaseHeld(): Promise<string[]> {
      const held = { state: 'waiting', last_error: heldReason };
      await knex('mails').where(held).update({ next_attempt_at: clock.now() });
      return (await knex('mails').where(held).pluck('id')) as string[];
    },

    /** Number of mails whose key is missing. */
    async countUnreadable(): Promise<number> {
      const rows = await knex<MailRow>('mails').select('sealed').whereNot({ sealed: '' });
      return rows.filter(({ sealed }) => open(sealed) === null).length;
    },

    async recordError(id: string, lastError: string): Promise<void> {
      await knex('mails').where({ id }).update({ last_error: lastError });
    },

    /** The mail is sent only if an administrator tries again. The text of an expired one is removed. */
    async fail({ id, isExpired }: Pick<MailClaim, 'id' | 'isExpired'>, lastError: string): Promise<void> {
      const changes = { state: 'failed', last_error: lastError, ...(isExpired && { sealed: '' }) };
      await knex('mails').where({ id }).update(changes);
    },

    /** Makes a failed mail wait for its first attempt again. Returns false if it cannot be sent any more. */
    async retry(id: string): Promise<boolean> {
      const now = clock.now();
      const changed = await knex('mails')
        .where({ id, state: 'failed' })
        .whereNot({ sealed: '' })
        .where((open) => void open.whereNull('expires_at').orWhere('expires_at', '>', now))
        .update({ state: 'waiting', attempts: 0, next_attempt_at: now });
      return changed > 0;
    },

    /** Stores what `change` returns for the encrypted text of a mail. Returns the number of changed mails. */
    async rewriteSealed(change: (sealed: string) => string): Promise<number> {
      let count = 0;
      const rows = await knex<MailRow>('mails').select('id', 'sealed').whereNot({ sealed: '' });
      for (const { id, sealed } of rows) {
        const changed = change(sealed);
        if (changed !== sealed) count += await knex('mails').where({ id, sealed }).update({ sealed: changed });
      }
      return count;
    },

    /** Returns whether it existed. */
    async remove(id: string): Promise<boolean> {
      return (await knex('mails').where({ id }).delete()) > 0;
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
        canRetry: row.state === 'failed' && row.sealed !== '' && !isPast(row.expires_at, clock.now()),
      }));
    },
  };
}

function isPast(time: number | string | null, now: number): boolean {
  return time !== null && Number(time) <= now;
}
