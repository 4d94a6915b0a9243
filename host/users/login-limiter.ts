import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import { RestError } from '#plugin-api';
import type { Clock, DatabaseApi, Knex } from '#plugin-api';
import { keyOf } from './user-input.ts';

/** Tries per quarter of an hour: on one name from one address, and from one address altogether. */
const limits = { name: 10, address: 100 } as const;
const windowMilliseconds = 15 * 60_000;

/** Slows down guessing of passwords, counted in the database and so over all nodes. */
export interface LoginLimiter {
  /**
   * Counts a try before the password is looked at, so that parallel tries cannot slip through.
   *
   * @throws RestError 429 `too_many_login_attempts` with `Retry-After`.
   */
  spend(login: string, ip: string): Promise<void>;
  /** Forgets the tries on this name from this address, after one that succeeded. */
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
      for (const [kind, subject] of Object.entries(subjectsOf(login, ip)) as [keyof typeof limits, string][]) {
        const { tries, expiresAt } = await count(knex, subject, now);
        if (tries === 1) await knex('login_attempts').where('expires_at', '<=', now).delete();
        if (tries > limits[kind]) throw tooMany(expiresAt - now);
      }
    },
    async reset(login, ip) {
      await knex('login_attempts')
        .where({ subject: subjectsOf(login, ip).name })
        .delete();
    },
  };
}

async function count(knex: Knex, subject: string, now: number): Promise<{ tries: number; expiresAt: number }> {
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

/** Hashed: what people type into the name field is now and then their password. */
function subjectsOf(login: string, ip: string): Record<keyof typeof limits, string> {
  const address = networkOf(ip);
  const hash = (parts: readonly string[]): string =>
    createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
  return { name: hash([address, keyOf(login)]), address: hash([address]) };
}

/** A household holds a whole /64 of IPv6 addresses. */
export function networkOf(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv6' ? address.toByteArray().slice(0, 8).join('.') : address.toString();
}

function tooMany(wait: number): RestError {
  const seconds = Math.max(1, Math.ceil(wait / 1000));
  const minutes = Math.ceil(seconds / 60);
  return new RestError({
    code: 'too_many_login_attempts',
    status: 429,
    headers: { 'Retry-After': String(seconds) },
    message: `Too many tries to sign in. Wait ${minutes} minute${minutes === 1 ? '' : 's'} and try again.`,
  });
}
