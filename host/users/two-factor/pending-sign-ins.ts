import { randomBytes } from 'node:crypto';
import type { Clock, DatabaseApi } from '#plugin-api';
import { hashToken } from '../sessions.ts';

/** A sign-in whose password was right and whose second step is open. */
export interface PendingSignIn {
  /** SHA-256 of the token in hex. */
  readonly id: string;
  readonly userId: number;
  /** Whether the session that it leads to is kept after the browser is closed. */
  readonly remember: boolean;
}

/** Milliseconds for the second step. */
export const pendingLifetime = 10 * 60_000;

/** Sign-ins between password and second step, in the database: any node can serve the second step. */
export interface PendingSignIns {
  /** The token (256 random bits, base64url) is the value of a cookie. Only its hash is stored. */
  create(pending: Omit<PendingSignIn, 'id'>): Promise<string>;
  find(token: string): Promise<PendingSignIn | null>;
  /** Ends it. Returns whether it existed, so that only one of several parallel requests succeeds. */
  remove(id: string): Promise<boolean>;
  removeAll(userId: number): Promise<void>;
}

interface Row {
  readonly id: string;
  readonly user_id: number;
  readonly remember: boolean | number;
  readonly expires_at: number | string;
}

interface Dependencies {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
}

export function createPendingSignIns({ database: { knex }, clock }: Dependencies): PendingSignIns {
  return {
    async create({ userId, remember }) {
      const now = clock.now();
      const token = randomBytes(32).toString('base64url');
      await knex('pending_sign_ins').where('expires_at', '<=', now).delete();
      const row = { id: hashToken(token), user_id: userId, remember, expires_at: now + pendingLifetime };
      await knex('pending_sign_ins').insert(row);
      return token;
    },
    async find(token) {
      if (!/^[\w-]{43}$/.test(token)) return null;
      const row = await knex<Row>('pending_sign_ins')
        .where({ id: hashToken(token) })
        .where('expires_at', '>', clock.now())
        .first();
      return row === undefined ? null : { id: row.id, userId: Number(row.user_id), remember: Boolean(row.remember) };
    },
    async remove(id) {
      return (await knex('pending_sign_ins').where({ id }).delete()) > 0;
    },
    async removeAll(userId) {
      await knex('pending_sign_ins').where({ user_id: userId }).delete();
    },
  };
}
