import type { TwoFactorForPages } from './two-step-page.ts';
import {
  restError,
  type RestError,
  type AdminRequest,
  type Role,
  type User,
  type UserChanges,
  type UserQuery,
  type UsersApi,
} from '#plugin-api';

/** A signed-in browser. Times are milliseconds since the epoch. */
export interface SessionRow {
  readonly id: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly ip: string;
  readonly userAgent: string;
}

export interface ApplicationPasswordRow {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly lastIp: string | null;
}

/** Dependencies of the user pages. The composition root provides them. */
export interface UserPagesDependencies {
  readonly users: Pick<UsersApi, 'get' | 'create'> & {
    list(query?: UserQuery & { readonly total?: number }): Promise<User[]>;
    countByRole(filter?: {
      readonly search?: string;
    }): Promise<{ readonly total: number; readonly byRole: ReadonlyMap<string, number> }>;
    update(
      id: number,
      changes: UserChanges,
      options?: { readonly keepSession?: string; readonly keepCredentials?: boolean },
    ): Promise<User>;
    delete(
      id: number,
      options?: { readonly reassignTo?: number | null; readonly keepCredentials?: boolean },
    ): Promise<boolean>;
  };
  readonly sessions: {
    list(userId: number): Promise<readonly SessionRow[]>;
    destroy(id: string): Promise<void>;
    destroyAll(userId: number, except?: string): Promise<number>;
  };
  readonly applicationPasswords: {
    list(userId: number): Promise<readonly ApplicationPasswordRow[]>;
    create(userId: number, name: string, appId?: string): Promise<{ readonly password: string }>;
    revoke(userId: number, id: string): Promise<boolean>;
  };
  /** What lets programs act for a user. */
  readonly credentials: {
    list(userId: number): Promise<readonly { readonly kind: string; readonly name: string }[]>;
    revoke(userId: number): Promise<void>;
  };
  /** Null, or why the user can have no application passwords. */
  readonly applicationPasswordsError: (user: User) => Promise<RestError | null>;
  /** Whether invitations can be sent by mail. */
  readonly isMailAvailable: () => Promise<boolean>;
  readonly invitations: {
    /** Sends a link with which the user chooses a password. It replaces the previous one. */
    send(user: User): Promise<void>;
    /** The invitation that the user has not accepted yet. Times in milliseconds since the epoch. */
    find(userId: number): Promise<{ readonly createdAt: number; readonly expiresAt: number } | null>;
    /** Returns whether the user had one. */
    revoke(userId: number): Promise<boolean>;
  };
  /** Languages to choose from. */
  readonly locales: () => readonly { readonly value: string; readonly label: string }[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A random password for an invited user, which no person sees. */
  readonly temporaryPassword: () => string;
  readonly twoFactor: TwoFactorForPages;
  readonly siteName: () => Promise<string>;
  /** Without a trailing slash. */
  readonly siteUrl: () => string;
  /** URL of the avatar of a user. @param size in pixels. */
  readonly avatarUrl: (user: User, size: number) => string;
  /** Most powerful first. */
  readonly roles: () => readonly Role[];
  /** Id of the session of a request. */
  readonly currentSession: (request: AdminRequest) => Promise<string>;
}

/** Labels of roles, such as `Editor`; the name of a role whose plugin is inactive. */
export function roleLabels(names: readonly string[], roles: readonly Role[]): string {
  return names.map((name) => roles.find((role) => role.name === name)?.label ?? `${name} (inactive)`).join(', ');
}

/** @throws RestError 404 */
export async function findUser(users: Pick<UsersApi, 'get'>, id: number): Promise<User> {
  const user = await users.get(id);
  if (user !== null) return user;
  const message = 'This user does not exist. It may have been deleted.';
  throw restError(404, 'rest_user_invalid_id', message);
}
