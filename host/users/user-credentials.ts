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
    /**
     * All that lets programs act for the user ends: after a demotion, by whatever means, before a deletion (both in the
     * transaction of the change), and where an administrator or a reset of the password asks for it.
     */
    revoke_user_credentials: (userId: number) => void;
  }
}

/** Access that outlives a session. It ends with a role that is lost and with the account, and with a password on request. */
export interface UserCredentials {
  list(userId: number): Promise<readonly UserCredential[]>;
  revoke(userId: number): Promise<void>;
}

interface Dependencies {
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
  readonly applicationPasswords: Pick<ApplicationPasswords, 'list'>;
}

export function createUserCredentials({ hooks, applicationPasswords }: Dependencies): UserCredentials {
  return {
    async list(userId) {
      const own = (await applicationPasswords.list(userId)).map(({ name }) => ({ kind: 'Application password', name }));
      return hooks.applyFiltersAsync('user_credentials', own, userId);
    },
    revoke: (userId) => hooks.doActionAsync('revoke_user_credentials', userId),
  };
}
