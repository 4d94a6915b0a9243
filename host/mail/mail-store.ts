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

/** An attempt at a stored mail. */
export interface BegunMail {
  /** Null: the key that encrypted it is missing. The mail is held, without using up an attempt. */
  readonly message: CheckedMessage | null;
  /** 1 for the first. */
  readonly attempt: number;
  /** Milliseconds until the next attempt; null: this is the last one. */
  readonly retryDelay: number | null;
  /** Why it must not be sent any more, a sentence; null: send it. */
  readonly refusal: string | null;
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
/** Milliseconds from an attempt to the next one. */
const delays = [minute, 5 * minute, 15 * minute, 60 * minute, 4 * 60 * minute] as const;
/** Last error of mails that wait for their key. */
export const heldReason =
  'The secret key that encrypted this mail is missing. Restore SECRET_KEY or the key file, and the mail is sent.';
/** Failed mails are listed this long, in milliseconds. */
const failedFor = 30 * 24 * 60 * minute;

export type MailStore = ReturnType<typeof createMailStore>;

/** The table of unsent mails. A job per mail sends them, and its lease ensures that one node does. */
export function createMailStore({ database: { knex }, clock, seal, unseal }: MailStoreDependencies) {
  const open = (sealed: string): CheckedMessage | null => {
    try {
      return JSON.parse(unseal(sealed)) as CheckedMessage;
    } catch {
      return null;
    }
  };
  return {
    /** Returns the id. */
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

    /** Counts the attempt before it is made: a mail that ends its process is not tried forever. Null: the mail is gone. */
    async begin(id: string): Promise<BegunMail | null> {
      const now = clock.now();
      const row = await knex<MailRow>('mails').where({ id }).first();
      if (row === undefined) return null;
      const message = open(row.sealed);
      // Its failed job was started again.
      const former = row.state === 'failed' ? 0 : row.attempts;
      const attempt = message === null ? former : former + 1;
      const refusal = refuse(row, { isHeld: message === null, former, now });
      if (refusal === null)
        await knex('mails').where({ id }).update({ state: 'waiting', attempts: attempt, next_attempt_at: now });
      return { message, attempt, retryDelay: delays[attempt - 1] ?? null, refusal };
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

    /** Notes the next attempt. @param wait milliseconds @param reason null: the process stopped, and this attempt does not count */
    async postpone(
      id: string,
      { wait, reason }: { readonly wait: number; readonly reason: string | null },
    ): Promise<void> {
      const uncounted = { attempts: knex.raw('case when attempts > 0 then attempts - 1 else 0 end') };
      await knex('mails')
        .where({ id })
        .update({ next_attempt_at: clock.now() + wait, ...(reason === null ? uncounted : { last_error: reason }) });
    },

    /**
     * The mail is sent only if an administrator tries again. The text of one that has expired or is too old is removed.
     *
     * @returns the attempts so far; null: the mail is gone.
     */
    async fail(id: string, reason: string): Promise<number | null> {
      const now = clock.now();
      const sealedUntil = [now, now - failedFor];
      const rows = (await knex('mails')
        .where({ id })
        .update({
          state: 'failed',
          last_error: reason,
          sealed: knex.raw("case when expires_at <= ? or created_at <= ? then '' else sealed end", sealedUntil),
        })
        .returning('attempts')) as { readonly attempts: number }[];
      return rows[0]?.attempts ?? null;
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

function refuse(
  row: MailRow,
  { isHeld, former, now }: { readonly isHeld: boolean; readonly former: number; readonly now: number },
): string | null {
  const isExpired = isPast(row.expires_at, now);
  if (isHeld && (isExpired || isPast(row.created_at, now - failedFor)))
    return 'The secret key that encrypted this mail was missing until it expired. Its text is lost.';
  if (isExpired) return 'The link in the mail expired before the mail could be sent.';
  return !isHeld && former > delays.length ? 'The process ended during the last attempt to send this mail.' : null;
}
