import { createHash } from 'node:crypto';
import { clientNetwork, RestError, formatRetryTime, retryAfter } from '#plugin-api';
import type { Clock, DatabaseApi, HooksApi, Knex, Logger, User } from '#plugin-api';
import { keyOf } from './user-input.ts';

/** Attempts per 15 minutes: for one account from one address, and from one address in total. */
const limits = { account: 10, address: 100 } as const;
/** Comments per 15 minutes from one address. */
const commentLimit = 10;
const minute = 60_000;
const windowMilliseconds = 15 * minute;

/** Failures of one account from all addresses that cause no delay. */
export const freeFailures = 10;
const firstDelay = minute / 2;
const longestDelay = 15 * minute;
/** Failures of an account are forgotten a day after the last one. */
const memoryMilliseconds = 24 * 60 * minute;
/** A network from which the user signed in is known for 30 days. */
const knownMilliseconds = 30 * memoryMilliseconds;

/** A guess of a secret. Guesses of different secrets are counted separately. */
export interface LoginAttempt {
  /** Default `password`. */
  readonly secret?: 'password' | 'code' | 'passkey' | 'application' | 'post';
  /** Id of the user, or the typed name if no user has it; for `post` the id of the post. */
  readonly account: number | string;
  readonly ip: string;
}

/** Limits password guessing. Attempts are counted in the database, so the limits cover all nodes. */
export interface LoginLimiter {
  /**
   * Counts an attempt before the password is checked, so that parallel attempts cannot bypass the limits. After ten failures of
   * one account from all addresses together, each further attempt has to wait: 30 seconds, then twice as long each time, at
   * most 15 minutes. Networks from which the user signed in during the last 30 days need not wait, so others cannot lock the
   * user out.
   *
   * @returns `failures`: attempts for this account from unknown networks since its last sign-in, this one included.
   * @throws RestError 429 `too_many_login_attempts` with `Retry-After`.
   */
  spend(attempt: LoginAttempt): Promise<{ readonly failures: number }>;
  /** Resets the counts of this account and remembers the network after a successful sign-in. */
  reset(attempt: LoginAttempt): Promise<void>;
  /** Counts a wrong key by its address. @throws RestError 429 `too_many_login_attempts` after 100 within 15 minutes. */
  countWrongKey(ip: string): Promise<void>;
  /** Counts a comment by its address. @throws RestError 429 `comment_flood` after 10 within 15 minutes. */
  countComment(ip: string): Promise<void>;
}

export function createLoginLimiter({
  database: { knex },
  clock,
}: {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
}): LoginLimiter {
  const limited = createLimitedAddresses();

  async function spendLimit(subject: string, limit: number): Promise<void> {
    const now = clock.now();
    const { tries, expiresAt } = await count(knex, subject, now);
    if (tries === 1) await knex('login_attempts').where('expires_at', '<=', now).delete();
    if (tries > limit) throw tooMany(expiresAt - now);
  }

  return {
    async spend(attempt) {
      const subjects = hashSubjects(attempt);
      await spendLimit(subjects.both, limits.account);
      await spendLimit(subjects.address, limits.address);
      if (await isKnown(knex, subjects.known, clock.now())) return { failures: 0 };
      return { failures: await countFailure(knex, subjects.account, clock.now()) };
    },
    async reset(attempt) {
      const { both, account, known } = hashSubjects(attempt);
      const now = clock.now();
      // A sign-in from a known network was not counted, and must not give others new free attempts.
      const finished = (await isKnown(knex, known, now)) ? [both] : [both, account];
      await knex('login_attempts').whereIn('subject', finished).delete();
      await knex('login_attempts')
        .insert({ subject: known, tries: 0, expires_at: now + knownMilliseconds })
        .onConflict('subject')
        .merge(['expires_at']);
    },
    async countComment(ip) {
      const now = clock.now();
      const { tries, expiresAt } = await count(knex, hash(['comment', clientNetwork(ip)]), now);
      if (tries > commentLimit) throw tooManyComments(expiresAt - now);
    },
    async countWrongKey(ip) {
      const address = clientNetwork(ip);
      const now = clock.now();
      const until = limited.get(address) ?? 0;
      if (until > now) throw tooMany(until - now);
      try {
        await spendLimit(hash(['key', address]), limits.address);
      } catch (error) {
        if (error instanceof RestError) limited.set(address, now + Number(error.headers?.['Retry-After']) * 1000);
        throw error;
      }
    },
  };
}

/** Addresses that this node refuses without the database, so that a flood of wrong keys causes no writes. */
function createLimitedAddresses(): Pick<Map<string, number>, 'get' | 'set'> {
  const until = new Map<string, number>();
  return {
    get: (address) => until.get(address),
    set(address, time) {
      if (until.size >= 10_000) until.clear();
      return until.set(address, time);
    },
  };
}

async function isKnown(knex: Knex, subject: string, now: number): Promise<boolean> {
  return (await knex('login_attempts').where({ subject }).where('expires_at', '>', now).first('subject')) !== undefined;
}

/** Counts an attempt of a subject in the current window. */
export async function count(knex: Knex, subject: string, now: number): Promise<{ tries: number; expiresAt: number }> {
  const fresh = { subject, tries: 1, expires_at: now + windowMilliseconds };
  const [row] = await knex('login_attempts')
    .insert(fresh)
    .onConflict('subject')
    .merge({
      tries: knex.raw('case when login_attempts.expires_at <= ? then 1 else login_attempts.tries + 1 end', [now]),
      expires_at: knex.raw(
        'case when login_attempts.expires_at <= ? then excluded.expires_at else login_attempts.expires_at end',
        [now],
      ),
    })
    .returning(['tries', 'expires_at']);
  return { tries: Number(row?.tries), expiresAt: Number(row?.expires_at) };
}

/** Delay in milliseconds after this many failures. */
function delayAfter(failures: number): number {
  return failures < freeFailures ? 0 : Math.min(longestDelay, firstDelay * 2 ** (failures - freeFailures));
}

/**
 * Counts a failure of an account unless it has to wait. Each update is conditional on the row read before, so of parallel
 * attempts, also on several nodes, only one passes after a delay.
 *
 * @returns the failures counted so far. @throws RestError 429 while the account has to wait.
 */
async function countFailure(knex: Knex, subject: string, now: number): Promise<number> {
  const next = { expires_at: now + memoryMilliseconds };
  for (let round = 0; round <= 2 * freeFailures; round += 1) {
    const row = await knex<{ subject: string; tries: number; expires_at: number | string }>('login_attempts')
      .where({ subject })
      .first();
    if (row === undefined) {
      const inserted = await knex('login_attempts')
        .insert({ subject, tries: 1, ...next })
        .onConflict('subject')
        .ignore()
        .returning('subject');
      if (inserted.length > 0) return 1;
      continue;
    }
    const isForgotten = Number(row.expires_at) <= now;
    const failures = isForgotten ? 0 : Number(row.tries);
    const wait = isForgotten ? 0 : Number(row.expires_at) - memoryMilliseconds + delayAfter(failures) - now;
    if (wait > 0) throw tooMany(wait);
    const { tries, expires_at } = row;
    const changed = await knex('login_attempts')
      .where({ subject, tries, expires_at })
      .update({ tries: failures + 1, ...next });
    if (changed > 0) return failures + 1;
  }
  throw tooMany(firstDelay);
}

interface Subjects {
  readonly both: string;
  readonly address: string;
  readonly account: string;
  readonly known: string;
}

function hashSubjects({ secret = 'password', account, ip }: LoginAttempt): Subjects {
  const address = clientNetwork(ip);
  const name = typeof account === 'number' ? account : keyOf(account);
  return {
    both: hash([secret, address, name]),
    address: hash([secret, address]),
    account: hash([secret, 'account', '', name]),
    known: hash([secret, 'known', address, name]),
  };
}

/** Hashed, because users sometimes enter their password as the name. */
function hash(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

function tooMany(wait: number): RestError {
  const message = `Too many sign-in attempts. Try again ${formatRetryTime(wait)}.`;
  return limitReached({ code: 'too_many_login_attempts', message, wait });
}

function tooManyComments(wait: number): RestError {
  const message = `You are posting comments too quickly. Try again ${formatRetryTime(wait)}.`;
  return limitReached({ code: 'comment_flood', message, wait });
}

/** @param given wait in milliseconds. */
export function limitReached({ code, message, wait }: { code: string; message: string; wait: number }): RestError {
  return new RestError({ code, message, status: 429, headers: retryAfter(wait) });
}

/** Reports the tenth failure of an account, a wrong password or second step. Later ones were reported already. */
export async function reportThrottling(
  { log, hooks }: { readonly log: Logger; readonly hooks: Pick<HooksApi, 'doActionAsync'> },
  user: User,
  { ip, failures }: { readonly ip: string; readonly failures: number },
): Promise<void> {
  if (failures !== freeFailures) return;
  log.warn('Sign-in throttled', { event: 'sign_in_throttled', user: user.id, ip });
  await hooks.doActionAsync('login_throttled', user, { ip, failures });
}
