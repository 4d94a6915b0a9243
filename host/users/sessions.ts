import { createHash, randomBytes } from 'node:crypto';
import type { Clock, DatabaseApi } from '#plugin-api';

export interface Session {
  /** SHA-256 of the token in hex. It identifies the session but cannot open it. */
  readonly id: string;
  readonly userId: number;
  /** Times are milliseconds since the epoch. */
  readonly createdAt: number;
  /** Accurate to one hour. */
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  /** When the user last proved who they are; 0: unknown. */
  readonly authenticatedAt: number;
  readonly ip: string;
  readonly userAgent: string;
}

export interface NewSession {
  readonly userId: number;
  readonly ip: string;
  readonly userAgent: string;
  /** Expires 14 days instead of 2 days after the last use, at most 30 days after the sign-in. Default: true. */
  readonly remember?: boolean;
}

/** Sessions in the database, so all nodes see new and ended ones immediately. */
export interface Sessions {
  /** The token (256 random bits, base64url) is the cookie value. Only its hash is stored. */
  create(session: NewSession): Promise<{ readonly token: string; readonly session: Session }>;
  /** Finds an unexpired session by its token and extends it. */
  find(token: string): Promise<Session | null>;
  /** Records on all nodes that the user has just proved who they are. */
  confirm(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  /** @param except id of a session to keep, usually the current one. */
  destroyAll(userId: number, except?: string): Promise<number>;
  /** Unexpired sessions of a user, last used first. */
  list(userId: number): Promise<Session[]>;
}

interface SessionRow {
  readonly id: string;
  readonly user_id: number;
  readonly lifetime: number | string;
  readonly created_at: number | string;
  readonly last_seen_at: number | string;
  readonly expires_at: number | string;
  readonly authenticated_at: number | string;
  readonly ip: string;
  readonly user_agent: string;
}

const hour = 3_600_000;
/** A session ends this long after the sign-in, however often it is used. */
const longest = 30 * 24 * hour;
const lifetimes = { remembered: 14 * 24 * hour, short: 2 * 24 * hour } as const;

export function createSessions({
  database: { knex },
  clock,
}: {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
}): Sessions {
  return {
    async create({ userId, ip, userAgent, remember = true }) {
      const now = clock.now();
      const token = randomBytes(32).toString('base64url');
      const lifetime = remember ? lifetimes.remembered : lifetimes.short;
      const row = {
        id: hashToken(token),
        user_id: userId,
        lifetime,
        created_at: now,
        last_seen_at: now,
        expires_at: now + lifetime,
        authenticated_at: now,
        ip: ip.slice(0, 64),
        user_agent: userAgent.slice(0, 500),
      };
      await knex('sessions').insert(row);
      await knex('sessions').where('expires_at', '<=', now).delete();
      return { token, session: toSession(row) };
    },
    async find(token) {
      if (!/^[\w-]{43}$/.test(token)) return null;
      const now = clock.now();
      const row = await knex<SessionRow>('sessions')
        .where({ id: hashToken(token) })
        .where('expires_at', '>', now)
        .where('created_at', '>', now - longest)
        .first();
      if (row === undefined) return null;
      // Write at most once per hour, not per request.
      if (now - Number(row.last_seen_at) < hour) return toSession(row);
      const expires_at = Math.min(now + Number(row.lifetime), Number(row.created_at) + longest);
      const seen = { last_seen_at: now, expires_at };
      await knex('sessions').where({ id: row.id }).update(seen);
      return toSession({ ...row, ...seen });
    },
    async confirm(id) {
      await knex('sessions').where({ id }).update({ authenticated_at: clock.now() });
    },
    async destroy(id) {
      await knex('sessions').where({ id }).delete();
    },
    destroyAll: (userId, except = '') => knex('sessions').where({ user_id: userId }).whereNot({ id: except }).delete(),
    async list(userId) {
      const rows = await knex<SessionRow>('sessions')
        .where({ user_id: userId })
        .where('expires_at', '>', clock.now())
        .where('created_at', '>', clock.now() - longest)
        .orderBy('last_seen_at', 'desc');
      return rows.map(toSession);
    },
  };
}

/** SHA-256 in hex: the stored form of a random token. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    userId: Number(row.user_id),
    createdAt: Number(row.created_at),
    lastSeenAt: Number(row.last_seen_at),
    expiresAt: Number(row.expires_at),
    authenticatedAt: Number(row.authenticated_at),
    ip: row.ip,
    userAgent: row.user_agent,
  };
}
