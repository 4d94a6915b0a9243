import type { Undo } from './undo.ts';

/** Profile of a user. Unset fields are empty. */
export interface UserProfile {
  readonly firstName: string;
  readonly lastName: string;
  /** Default the login. */
  readonly nickname: string;
  readonly description: string;
  /** A web address. */
  readonly url: string;
  /** A locale such as `de_DE`; empty for the site's locale. */
  readonly locale: string;
  /** The user's unique name in URLs: letters a to z, digits, `_` and `-`. Default: generated from the login. */
  readonly slug: string;
}

/** A signed-in user, or the anonymous visitor with `id` 0. */
export interface User {
  /** 1 or more; 0 for a visitor who is not signed in. */
  readonly id: number;
  readonly login: string;
  readonly email: string;
  readonly displayName: string;
  readonly roles: readonly string[];
  /** Milliseconds since the epoch; absent for a visitor. */
  readonly registeredAt?: number;
  /** Absent for a visitor. */
  readonly profile?: UserProfile;
  /** Whether the user holds the capability, for example `manage_options`. */
  can(capability: string, ...args: readonly unknown[]): boolean;
}

export interface NewUser {
  /** 1..60 characters of letters, digits, space and `_.-@`; unique, ignoring case. */
  readonly login: string;
  readonly email: string;
  /** 12..1024 characters, none that is common in data breaches; stored as an argon2id hash (D3). */
  readonly password: string;
  readonly displayName?: string;
  /** Default `subscriber`. */
  readonly role?: string;
  readonly profile?: Partial<UserProfile>;
}

/** Fields to update; omitted fields stay unchanged. */
export interface UserChanges {
  readonly email?: string;
  readonly displayName?: string;
  /** Replaces all roles; an empty list removes them. Ends the user's sessions if the roles change. */
  readonly roles?: readonly string[];
  /** Ends the user's sessions. */
  readonly password?: string;
  /** Only the given members change. */
  readonly profile?: Partial<UserProfile>;
}

export interface UserFilter {
  /** Users with this role. */
  readonly role?: string;
  /** Users with any of these roles. */
  readonly roles?: readonly string[];
  /** Part of login, display name or email address, ignoring case; `%` and `_` are literal. */
  readonly search?: string;
  /** Fields that `search` uses. Default: all. */
  readonly searchIn?: readonly ('login' | 'displayName' | 'email')[];
  readonly include?: readonly number[];
  readonly exclude?: readonly number[];
  readonly slugs?: readonly string[];
}

export interface UserQuery extends UserFilter {
  /** Default 100. */
  readonly limit?: number;
  readonly offset?: number;
  /** Default `id`. */
  readonly orderBy?: 'id' | 'login' | 'slug' | 'displayName' | 'email' | 'registeredAt';
  readonly descending?: boolean;
}

/** A set of capabilities that users have. */
export interface Role {
  /** 1 to 60 lowercase letters, digits, `_` and `-`. Begin it with the plugin's name: `order_helper_clerk`. */
  readonly name: string;
  readonly label: string;
  /** Such as `read`, which signing in to the admin needs, and `edit_posts`. */
  readonly capabilities: readonly string[];
}

export interface UsersApi {
  /** The roles of WordPress, most powerful first, then those of plugins, each with all its capabilities. */
  roles(): readonly Role[];
  /**
   * Adds a role in `register`. Undone with the plugin: users keep the role's name, which grants nothing until the plugin is
   * active again. Throws Error if the role exists.
   */
  addRole(role: Role): Undo;
  /**
   * Grants a capability to a role in `register`, until the plugin is deactivated; several plugins may grant the same one.
   * Administrators do not have new capabilities by themselves: grant them to `administrator` too. Throws Error for an unknown
   * role.
   */
  addCapability(role: string, capability: string): Undo;
  get(id: number): Promise<User | null>;
  /** Finds by login or email address, ignoring case. */
  find(loginOrEmail: string): Promise<User | null>;
  list(query?: UserQuery): Promise<User[]>;
  count(filter?: UserFilter): Promise<number>;
  /** Ids of all matching users, unordered: fast for many users, and sees what `readNumbers` sees of a running transaction. */
  ids(filter?: UserFilter): Promise<number[]>;
  /** Display names by id, for existing users. */
  names(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Throws RestError 400 `rest_invalid_param` or `existing_user_login` / `existing_user_email` / `rest_user_invalid_slug`. */
  create(user: NewUser): Promise<User>;
  setPassword(id: number, password: string): Promise<void>;
  /**
   * Returns the updated user. Throws RestError 404 `rest_user_invalid_id`, 400 `rest_invalid_param` or
   * `existing_user_email` or `rest_user_invalid_slug`, and 400 `rest_user_last_administrator` if no administrator would be left.
   */
  update(id: number, changes: UserChanges): Promise<User>;
  /**
   * Deletes the user with sessions and application passwords. Returns whether the user existed. Callbacks of the action
   * `delete_user`, which runs in the same transaction, handle the user's content.
   *
   * @param options `reassignTo`: id of the user who gets the deleted user's content; null or omitted: the content is deleted.
   *   Throws RestError 400 `rest_user_invalid_reassign`, `rest_user_last_administrator`.
   */
  delete(id: number, options?: { readonly reassignTo?: number | null }): Promise<boolean>;
}
