import type { HooksApi } from '#plugin-api';
import type { ApplicationPasswords } from './application-passwords.ts';

/** What lets a program act for a user without the password. */
export interface UserCredential {
  /** What it is, such as `API key`. */
  readonly kind: string;
  /** The name that its user gave. */
  readonly name: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** What lets programs act for a user, besides application passwords. Return it without what no longer works. */
    user_credentials: (
      credentials: readonly UserCredential[],
      userId: number,
    ) => readonly UserCredential[] | Promise<readonly UserCredential[]>;
  }
  interface ActionMap {
    /** An administrator ends, or a user after a reset of the password, all that lets programs act for the user. */
    revoke_user_credentials: (userId: number) => void;
  }
}

/** Access that outlives a session: it does not end with the password, the role or the account, unless it is revoked. */
export interface UserCredentials {
  list(userId: number): Promise<readonly UserCredential[]>;
  revoke(userId: number): Promise<void>;
}

export function createUserCredentials({
  hooks,
  applicationPasswords,
}: {
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
  readonly applicationPasswords: Pick<ApplicationPasswords, 'list' | 'revokeAll'>;
}): UserCredentials {
  return {
    async list(userId) {
      const own = (await applicationPasswords.list(userId)).map(({ name }) => ({ kind: 'Application password', name }));
      return hooks.applyFiltersAsync('user_credentials', own, userId);
    },
    async revoke(userId) {
      await applicationPasswords.revokeAll(userId);
      await hooks.doActionAsync('revoke_user_credentials', userId);
    },
  };
}
