import { createHmac } from 'node:crypto';
import { isSameSecret, type Clock, type DatabaseApi } from '#plugin-api';

/** What a challenge is for and whose it is: a session, a pending sign-in, or empty for a visitor. */
export interface ChallengeScope {
  readonly purpose: 'passkey-registration' | 'passkey-sign-in' | 'passkey-second-step' | 'passkey-confirmation';
  readonly owner: string;
}

/**
 * Challenges of passkeys. They are signed instead of stored, so a visitor who only asks for them fills no table, and
 * every node accepts them. Each one works once, within five minutes.
 */
export interface Challenges {
  /** Signs a challenge. The browser sends the returned text back with the passkey's response. */
  sign(scope: ChallengeScope, challenge: string): string;
  /** Whether the text of `sign` belongs to this challenge and scope and has not expired. */
  verify(check: ChallengeScope & { readonly challenge: string; readonly signed: string }): boolean;
  /** Marks the challenge as used. Returns false if it has been used before, on any node. */
  use(challenge: string): Promise<boolean>;
}

const lifetimeMilliseconds = 5 * 60_000;

export interface ChallengesDependencies {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly clock: Pick<Clock, 'now'>;
  /** 32 bytes, the same on all nodes. */
  readonly key: () => Buffer;
}

export function createChallenges({ database: { knex }, clock, key }: ChallengesDependencies): Challenges {
  const mac = ({ purpose, owner }: ChallengeScope, challenge: string, expiresAt: number): string =>
    createHmac('sha256', key())
      .update(JSON.stringify([purpose, owner, challenge, expiresAt]))
      .digest('base64url');

  return {
    sign(scope, challenge) {
      const expiresAt = clock.now() + lifetimeMilliseconds;
      return `${expiresAt}.${mac(scope, challenge, expiresAt)}`;
    },
    verify({ challenge, signed, ...scope }) {
      const [expires = '', signature = ''] = signed.split('.', 2);
      const expiresAt = Number(expires);
      return expiresAt > clock.now() && isSameSecret(signature, mac(scope, challenge, expiresAt));
    },
    async use(challenge) {
      const now = clock.now();
      await knex('used_challenges').where('expires_at', '<=', now).delete();
      const row = { challenge, expires_at: now + lifetimeMilliseconds };
      const inserted: unknown[] = await knex('used_challenges')
        .insert(row)
        .onConflict('challenge')
        .ignore()
        .returning('challenge');
      return inserted.length > 0;
    },
  };
}
