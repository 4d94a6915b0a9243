import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { RestError, formatWait } from '#plugin-api';
import type { Clock, DatabaseApi, Knex } from '#plugin-api';
import { keyOf } from './user-input.ts';

/** Attempts per 15 minutes: for one name from one address, and from one address in total. */
const limits = { name: 10, address: 100 } as const;
const windowMilliseconds = 15 * 60_000;

/** Limits password guessing. Attempts are counted in the database, so the limit covers all nodes. */
export interface LoginLimiter {
  /**
   * Counts an attempt before the password is checked, so that parallel attempts cannot bypass the limit.
   *
   * @throws RestError 429 `too_many_login_attempts` with `Retry-After`.
   */
  spend(login: string, ip: string): Promise<void>;
  /** Resets the count of this name and address after a successful sign-in. */
  reset(login: string, ip: string): Promise<void>;
}

export function createLoginLimiter({
  database: { knex },
  clock,
}: {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
}): LoginLimiter {
  return {
    async spend(login, ip) {
      const now = clock.now();
      for (const [kind, subject] of Object.entries(hashSubjects(login, ip)) as [keyof typeof limits, string][]) {
        const { tries, expiresAt } = await count(knex, subject, now);
        if (tries === 1) await knex('login_attempts').where('expires_at', '<=', now).delete();
        if (tries > limits[kind]) throw tooMany(expiresAt - now);
      }
    },
    async reset(login, ip) {
      await knex('login_attempts')
        .where({ subject: hashSubjects(login, ip).name })
        .delete();
    },
  };
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

/** Hashed, because users sometimes enter their password as the name. */
function hashSubjects(login: string, ip: string): Record<keyof typeof limits, string> {
  const address = networkOf(ip);
  const hash = (parts: readonly string[]): string =>
    createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  return { name: hash([address, keyOf(login)]), address: hash([address]) };
}

/** Groups IPv6 addresses by /64, the usual size of one connection. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv6' ? address.toByteArray().slice(0, 8).join('.') : address.toString();
}

function tooMany(wait: number): RestError {
  const seconds = Math.max(1, Math.ceil(wait / 1000));
  return new RestError({
    code: 'too_many_login_attempts',
    status: 429,
    headers: { 'Retry-After': String(seconds) },
    message: `Too many sign-in attempts. Try again in ${formatWait(wait)}.`,
  });
}
