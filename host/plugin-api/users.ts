/** A signed-in user, or the anonymous visitor with `id` 0. */
export interface User {
  /** 1 or more; 0 for a visitor who is not signed in. */
  readonly id: number;
  readonly login: string;
  readonly email: string;
  readonly displayName: string;
  readonly roles: readonly string[];
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
}

export interface UsersApi {
  get(id: number): Promise<User | null>;
  /** Finds by login or e-mail address, without regard to case. */
  find(loginOrEmail: string): Promise<User | null>;
  list(query?: { readonly limit?: number; readonly offset?: number; readonly role?: string }): Promise<User[]>;
  count(): Promise<number>;
  /** Throws RestError 400 `rest_invalid_param` or `existing_user_login` / `existing_user_email`. */
  create(user: NewUser): Promise<User>;
  setPassword(id: number, password: string): Promise<void>;
}
