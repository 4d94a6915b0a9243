import { createHash, randomBytes } from 'node:crypto';
import type { Clock, DatabaseApi, User, UsersApi } from '#plugin-api';
import type { UserRow } from './user-row.ts';

/** `reset`: the user forgot the password. `invitation`: a new user chooses the first one. */
export type PasswordLinkKind = 'reset' | 'invitation';

export interface PasswordLink {
  readonly user: User;
  readonly kind: PasswordLinkKind;
}

/** Times are milliseconds since the epoch. */
export interface LinkTimes {
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Milliseconds that a link works. */
export const linkLifetimes: Readonly<Record<PasswordLinkKind, number>> = {
  reset: 3_600_000,
  invitation: 7 * 24 * 3_600_000,
};

/**
 * Single-use links to choose a password. Only the SHA-256 of a token is stored. A link is void after its time, after any link
 * of the user was used, and after the password or the email address changed.
 */
export interface PasswordLinks {
  /** The token (256 random bits, base64url) is returned only here. A new invitation replaces the previous one. */
  create(userId: number, kind: PasswordLinkKind): Promise<LinkTimes & { readonly token: string }>;
  /** Null: the link is void. */
  find(token: string): Promise<PasswordLink | null>;
  /**
   * Sets the password, voids all links of the user and ends all sessions. Null: the link is void; only one of several
   * parallel callers succeeds.
   *
   * @throws RestError 400 for an invalid password, which keeps the link valid.
   */
  redeem(token: string, password: string): Promise<PasswordLink | null>;
  /** The invitation of a user who has not chosen a password yet; it may have expired. */
  invitation(userId: number): Promise<LinkTimes | null>;
  /** Returns whether the user had an invitation. */
  revokeInvitation(userId: number): Promise<boolean>;
  /** Reset links of a user in the last hour. */
  countResets(userId: number): Promise<number>;
}

interface LinkRow {
  readonly id: string;
  readonly user_id: number;
  readonly kind: PasswordLinkKind;
  readonly bound_to: string;
  readonly created_at: number | string;
  readonly expires_at: number | string;
}

export interface PasswordLinksDependencies {
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction'>;
  readonly users: Pick<UsersApi, 'get' | 'setPassword'>;
  readonly clock: Pick<Clock, 'now'>;
}

export function createPasswordLinks({ database, users, clock }: PasswordLinksDependencies): PasswordLinks {
  const { knex } = database;

  /** What a link is bound to, as a hash: password and email address of the user. */
  async function bindingOf(userId: number): Promise<string | null> {
    const row = await knex<UserRow>('users').where({ id: userId }).first('password_hash', 'email_key');
    return row === undefined ? null : hash(JSON.stringify([row.password_hash, row.email_key]));
  }

  async function toLink(row: LinkRow | undefined): Promise<PasswordLink | null> {
    if (row === undefined || (await bindingOf(row.user_id)) !== row.bound_to) return null;
    const user = await users.get(row.user_id);
    return user && { user, kind: row.kind };
  }

  const valid = (token: string) =>
    knex<LinkRow>('password_links')
      .where({ id: hash(token) })
      .where('expires_at', '>', clock.now());

  async function storedInvitation(userId: number): Promise<LinkRow | undefined> {
    const row = await knex<LinkRow>('password_links').where({ user_id: userId, kind: 'invitation' }).first();
    return row !== undefined && row.bound_to === (await bindingOf(userId)) ? row : undefined;
  }

  return {
    create: (userId, kind) =>
      database.transaction(async () => {
        const now = clock.now();
        const token = randomBytes(32).toString('base64url');
        const expiresAt = now + linkLifetimes[kind];
        // Expired invitations stay, so that the page of the user can show them.
        await knex('password_links').where({ kind: 'reset' }).where('expires_at', '<=', now).delete();
        if (kind === 'invitation') await knex('password_links').where({ user_id: userId, kind }).delete();
        await knex('password_links').insert({
          id: hash(token),
          user_id: userId,
          kind,
          bound_to: await bindingOf(userId),
          created_at: now,
          expires_at: expiresAt,
        });
        return { token, createdAt: now, expiresAt };
      }),
    find: async (token) => toLink(await valid(token).first()),
    redeem: (token, password) =>
      database.transaction(async () => {
        const link = await toLink(await valid(token).first());
        // Of several parallel callers, one deletes the row.
        if (link === null || (await valid(token).delete()) !== 1) return null;
        await users.setPassword(link.user.id, password);
        await knex('password_links').where({ user_id: link.user.id }).delete();
        return link;
      }),
    async invitation(userId) {
      const row = await storedInvitation(userId);
      return row === undefined ? null : { createdAt: Number(row.created_at), expiresAt: Number(row.expires_at) };
    },
    revokeInvitation: async (userId) =>
      (await knex('password_links').where({ user_id: userId, kind: 'invitation' }).delete()) > 0,
    async countResets(userId) {
      const [found] = await knex('password_links')
        .where({ user_id: userId, kind: 'reset' })
        .where('created_at', '>', clock.now() - linkLifetimes.reset)
        .count({ total: '*' });
      return Number(found?.['total'] ?? 0);
    },
  };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
