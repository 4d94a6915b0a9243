import { createHash, randomUUID } from 'node:crypto';
import { isSameSecret, RestError } from '#plugin-api';
import type { Clock, DatabaseApi, HooksApi, User, UsersApi } from '#plugin-api';
import { generatePassword } from './passwords.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After a user got an application password. `name` is its purpose. */
    wp_create_application_password: (userId: number, name: string) => void;
    /** After one was revoked. `name` is its purpose. */
    wp_delete_application_password: (userId: number, name: string) => void;
  }
}

export interface ApplicationPassword {
  /** UUID. */
  readonly id: string;
  readonly userId: number;
  /** Purpose, entered by the user. */
  readonly name: string;
  /** UUID of the program; empty if it has none. */
  readonly appId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Accurate to one hour; null: never. */
  readonly lastUsedAt: number | null;
  readonly lastIp: string | null;
}

/** Passwords for programs: Basic authentication on REST, not for sign-in. They survive a change of the account password. */
export interface ApplicationPasswords {
  /**
   * Returns the password, in groups of four characters, this one time. Spaces are ignored when it is used.
   *
   * @param name 1..100 characters.
   */
  create(
    userId: number,
    name: string,
    appId?: string,
  ): Promise<{ readonly password: string; readonly item: ApplicationPassword }>;
  /** The user, or null when name or password is wrong. */
  verify(credentials: { readonly login: string; readonly password: string; readonly ip: string }): Promise<User | null>;
  /** Id of the password that authenticated this user object; null: none. */
  usedBy(user: User): string | null;
  list(userId: number): Promise<ApplicationPassword[]>;
  /** Returns the updated password, or null if it does not exist. @throws RestError like `create`. */
  update(
    userId: number,
    id: string,
    changes: { readonly name?: string; readonly appId?: string },
  ): Promise<ApplicationPassword | null>;
  /** Returns whether it existed. */
  revoke(userId: number, id: string): Promise<boolean>;
  /** Returns how many the user had. */
  revokeAll(userId: number): Promise<number>;
}

interface Row {
  readonly id: string;
  readonly user_id: number;
  readonly name: string;
  readonly app_id: string;
  readonly password_hash: string;
  readonly created_at: number | string;
  readonly last_used_at: number | string | null;
  readonly last_ip: string | null;
}

interface Dependencies {
  readonly database: Pick<DatabaseApi, 'knex'>;
  readonly users: Pick<UsersApi, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
}

const hour = 3_600_000;

export function createApplicationPasswords({
  database: { knex },
  users,
  clock,
  hooks,
}: Dependencies): ApplicationPasswords {
  // Keyed by the object that `verify` returns, which belongs to a single request.
  const used = new WeakMap<User, string>();

  async function recordUse(row: Row, ip: string): Promise<void> {
    const now = clock.now();
    if (row.last_used_at !== null && now - Number(row.last_used_at) < hour && row.last_ip === ip) return;
    await knex('application_passwords')
      .where({ id: row.id })
      .update({ last_used_at: now, last_ip: ip.slice(0, 64) });
  }

  async function revoke(which: { readonly user_id: number; readonly id?: string }): Promise<number> {
    const found = await knex<Row>('application_passwords').where(which).select('id', 'user_id', 'name');
    let revoked = 0;
    for (const { id, user_id, name } of found) {
      // Of several callers at once, one deletes it.
      if ((await knex('application_passwords').where({ id }).delete()) === 0) continue;
      revoked += 1;
      await hooks.doActionAsync('wp_delete_application_password', Number(user_id), name);
    }
    return revoked;
  }

  return {
    async create(userId, name, appId = '') {
      const label = checkName(name);
      const password = generatePassword(24);
      const row: Row = {
        id: randomUUID(),
        user_id: userId,
        name: label,
        app_id: appId,
        password_hash: hashPassword(password),
        created_at: clock.now(),
        last_used_at: null,
        last_ip: null,
      };
      await knex('application_passwords').insert(row);
      await hooks.doActionAsync('wp_create_application_password', userId, label);
      return { password: password.replace(/(.{4})(?!$)/g, '$1 '), item: toItem(row) };
    },
    async verify({ login, password, ip }) {
      const user = await users.find(login);
      const hash = hashPassword(password.replace(/\s/g, ''));
      const rows = await knex<Row>('application_passwords').where({ user_id: user?.id ?? 0 });
      const row = rows.find(({ password_hash }) => isSameSecret(password_hash, hash));
      if (row === undefined) return null;
      await recordUse(row, ip);
      if (user !== null) used.set(user, row.id);
      return user;
    },
    usedBy: (user) => used.get(user) ?? null,
    async update(userId, id, { name, appId }) {
      const changes = {
        ...(name !== undefined && { name: checkName(name) }),
        ...(appId !== undefined && { app_id: appId }),
      };
      if (Object.keys(changes).length > 0)
        await knex('application_passwords').where({ user_id: userId, id }).update(changes);
      const row = await knex<Row>('application_passwords').where({ user_id: userId, id }).first();
      return row === undefined ? null : toItem(row);
    },
    async list(userId) {
      return (await knex<Row>('application_passwords').where({ user_id: userId }).orderBy('created_at')).map(toItem);
    },
    revoke: async (userId, id) => (await revoke({ user_id: userId, id })) > 0,
    revokeAll: (userId) => revoke({ user_id: userId }),
  };
}

function checkName(name: string): string {
  const label = name.trim();
  if (label === '' || label.length > 100) throw nameError();
  return label;
}

function nameError(): RestError {
  const message = 'Enter a name of 1 to 100 characters for the application password.';
  return new RestError({
    code: 'application_password_empty_name',
    message,
    status: 400,
    data: { params: { name: message } },
  });
}

/** 139 random bits cannot be guessed, so a fast hash is enough and keeps REST calls fast. */
function hashPassword(password: string): string {
  return createHash('sha256').update(password).digest('hex');
}

function toItem(row: Row): ApplicationPassword {
  return {
    id: row.id,
    userId: Number(row.user_id),
    name: row.name,
    appId: row.app_id,
    createdAt: Number(row.created_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
    lastIp: row.last_ip,
  };
}
