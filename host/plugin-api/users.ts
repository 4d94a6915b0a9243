/** What people tell about themselves. Texts, empty where nothing is told. */
export interface UserProfile {
  readonly firstName: string;
  readonly lastName: string;
  /** Default the login. */
  readonly nickname: string;
  readonly description: string;
  /** A web address. */
  readonly url: string;
  /** A language such as `de_DE`; empty: that of the site. */
  readonly locale: string;
  /** The user's name in addresses, unlike that of any other user: letters a to z, digits, `_` and `-`. Made from the login. */
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
  /** 1..60 characters of letters, digits, space and `_.-@`; unique without regard to case. */
  readonly login: string;
  readonly email: string;
  /** 8..1024 characters; stored as an argon2id hash (D3). */
  readonly password: string;
  readonly displayName?: string;
  /** Default `subscriber`. */
  readonly role?: string;
  readonly profile?: Partial<UserProfile>;
}

/** What `update` changes; what is left out stays. */
export interface UserChanges {
  readonly email?: string;
  readonly displayName?: string;
  /** Replaces all roles; empty takes them all away. Ends the user's sessions when they differ. */
  readonly roles?: readonly string[];
  /** Ends the user's sessions. */
  readonly password?: string;
  /** Its members that are given. */
  readonly profile?: Partial<UserProfile>;
}

export interface UserFilter {
  /** Holds this role. */
  readonly role?: string;
  /** Holds one of these. */
  readonly roles?: readonly string[];
  /** Part of login, display name or e-mail address, without regard to the case of letters; `%` and `_` mean themselves. */
  readonly search?: string;
  /** Where `search` looks. Default: all of them. */
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

export interface UsersApi {
  get(id: number): Promise<User | null>;
  /** Finds by login or e-mail address, without regard to case. */
  find(loginOrEmail: string): Promise<User | null>;
  list(query?: UserQuery): Promise<User[]>;
  count(filter?: UserFilter): Promise<number>;
  /** Ids of all that the filter picks, in no order: quick for many, where `list` reads all there is to know of each. */
  ids(filter?: UserFilter): Promise<number[]>;
  /** Display names by id, of those that there are. */
  names(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Throws RestError 400 `rest_invalid_param` or `existing_user_login` / `existing_user_email` / `rest_user_invalid_slug`. */
  create(user: NewUser): Promise<User>;
  setPassword(id: number, password: string): Promise<void>;
  /**
   * Answers the user as changed. Throws RestError 404 `rest_user_invalid_id`, 400 `rest_invalid_param` or
   * `existing_user_email` or `rest_user_invalid_slug`, and 400 `rest_user_last_administrator` when nobody could manage the site any more.
   */
  update(id: number, changes: UserChanges): Promise<User>;
  /**
   * Removes the user with sessions and application passwords; answers whether there was one. What belonged to them is
   * the affair of listeners to the action `delete_user`, which runs in the same transaction.
   *
   * @param options `reassignTo`: id of the user who gets what belonged to them; null or left out: it goes too.
   *   Throws RestError 400 `rest_user_invalid_reassign`, `rest_user_last_administrator`.
   */
  delete(id: number, options?: { readonly reassignTo?: number | null }): Promise<boolean>;
}
