import type { AdminRequest, User, UserChanges, UsersApi } from '#plugin-api';

/** A signed-in browser. Times in milliseconds since the epoch. */
export interface SessionLine {
  readonly id: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly ip: string;
  readonly userAgent: string;
}

export interface ApplicationPasswordLine {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly lastIp: string | null;
}

/** What the pages about users need; the composition root meets it. */
export interface UserPagesDependencies {
  readonly users: Pick<UsersApi, 'get' | 'list' | 'count' | 'create' | 'delete'> & {
    update(id: number, changes: UserChanges, options?: { readonly keepSession?: string }): Promise<User>;
  };
  readonly sessions: {
    list(userId: number): Promise<readonly SessionLine[]>;
    destroy(id: string): Promise<void>;
    destroyAll(userId: number, except?: string): Promise<number>;
  };
  readonly applicationPasswords: {
    list(userId: number): Promise<readonly ApplicationPasswordLine[]>;
    create(userId: number, name: string): Promise<{ readonly password: string }>;
    revoke(userId: number, id: string): Promise<boolean>;
  };
  /** Address of a user's picture of so many pixels. */
  readonly avatarUrl: (user: User, size: number) => string;
  /** Names of the roles, the most powerful first. */
  readonly roles: readonly string[];
  /** Id of the session that a request came in. */
  readonly currentSession: (request: AdminRequest) => Promise<string>;
  /** Whether this is the caller's own password. Throws RestError 429 after too many tries. */
  readonly isOwnPassword: (request: AdminRequest, password: string) => Promise<boolean>;
}

/** `editor` -> `Editor`. */
export function roleLabel(role: string): string {
  return role.charAt(0).toUpperCase() + role.slice(1);
}
