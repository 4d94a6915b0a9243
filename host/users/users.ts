import type { Clock, DatabaseApi, HooksApi, Knex, Logger, User, UsersApi } from '#plugin-api';
import { hashPassword, verifyPassword } from './passwords.ts';
import { checkNewUser, checkPassword, keyOf, takenError } from './user-input.ts';
import { createAnonymous, createUser } from './user.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After a user was created. */
    user_register: (userId: number) => void;
    /** After a user's data or password changed. */
    profile_update: (userId: number) => void;
  }
}

export interface UsersDependencies {
  readonly database: Pick<DatabaseApi, 'knex' | 'transaction'>;
  readonly hooks: Pick<HooksApi, 'applyFilters' | 'doActionAsync'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

export interface Users extends UsersApi {
  /** The visitor who is not signed in. */
  readonly anonymous: User;
  /** The user with this login or address, if the password is theirs. Takes the same time when there is no such user. */
  verify(loginOrEmail: string, password: string): Promise<User | null>;
  /** Whether anyone could sign in and manage the site. */
  hasAdministrator(): Promise<boolean>;
}

interface UserRow {
  readonly id: number;
  readonly login: string;
  readonly login_key: string;
  readonly email: string;
  readonly display_name: string;
  readonly roles: string;
  readonly password_hash: string;
}

/** The users of the site, in the database alone: every node sees a change at once. */
export function createUsers({ database, hooks, clock, log }: UsersDependencies): Users {
  const { knex } = database;

  async function findRow(loginOrEmail: string): Promise<UserRow | undefined> {
    const key = keyOf(loginOrEmail);
    const rows = await knex<UserRow>('users').where('login_key', key).orWhere('email_key', key);
    // A login may look like another's address; the login wins.
    return rows.find((row) => row.login_key === key) ?? rows[0];
  }

  const toUser = (row: UserRow | undefined): User | null => (row ? createUser(factsOf(row), hooks) : null);

  return {
    anonymous: createAnonymous(hooks),
    get: async (id) => toUser(Number.isInteger(id) && id > 0 && id < 2 ** 31 ? await knex<UserRow>('users').where({ id }).first() : undefined),
    find: async (loginOrEmail) => toUser(await findRow(loginOrEmail)),
    async list({ limit = 100, offset = 0, role } = {}) {
      const page = knex<UserRow>('users').orderBy('id').limit(limit).offset(offset);
      const rows: UserRow[] = await (role === undefined ? page : page.whereRaw(...holdsRole(role)));
      return rows.map((row) => createUser(factsOf(row), hooks));
    },
    async count() {
      return Number((await knex('users').count({ total: '*' }).first())?.['total'] ?? 0);
    },
    async create(input) {
      const given = checkNewUser(input);
      const taken = await takenMember(knex, given);
      if (taken !== null) throw takenError(taken);
      const row = {
        login: given.login, login_key: keyOf(given.login), email: given.email, email_key: keyOf(given.email), display_name: given.displayName,
        roles: JSON.stringify([given.role]), password_hash: await hashPassword(given.password), created_at: clock.now(),
      };
      const [inserted] = await knex('users').insert(row).onConflict().ignore().returning('id');
      // Another process was faster.
      if (inserted === undefined) throw takenError((await takenMember(knex, given)) ?? 'login');
      const user = createUser(factsOf({ ...row, id: Number(inserted.id) }), hooks);
      log.info('A user was created.', { user: user.id, role: given.role });
      await hooks.doActionAsync('user_register', user.id);
      return user;
    },
    async setPassword(id, password) {
      checkPassword(password);
      const password_hash = await hashPassword(password);
      await database.transaction(async (transaction) => {
        const changed = await transaction('users').where({ id }).update({ password_hash });
        if (changed === 0) throw new Error(`There is no user ${id}.`);
        await transaction('sessions').where({ user_id: id }).delete();
      });
      log.info('A password was changed; all sessions of the user ended.', { user: id });
      await hooks.doActionAsync('profile_update', id);
    },
    async verify(loginOrEmail, password) {
      const row = await findRow(loginOrEmail);
      return (await verifyPassword(row?.password_hash ?? null, password)) ? toUser(row) : null;
    },
    async hasAdministrator() {
      return (await knex('users').whereRaw(...holdsRole('administrator')).first('id')) !== undefined;
    },
  };
}

function factsOf(row: UserRow) {
  return { id: Number(row.id), login: row.login, email: row.email, displayName: row.display_name, roles: JSON.parse(row.roles) as string[] };
}

/** Arguments of whereRaw: the JSON array of roles holds this one. */
function holdsRole(role: string): [string, string[]] {
  return [`roles like ? escape '\\'`, [`%${JSON.stringify(role).replace(/[\\%_]/g, '\\$&')}%`]];
}

async function takenMember(knex: Knex, { login, email }: { login: string; email: string }): Promise<'login' | 'email' | null> {
  const keys = { login_key: keyOf(login), email_key: keyOf(email) };
  const rows = await knex<UserRow>('users').where('login_key', keys.login_key).orWhere('email_key', keys.email_key).select('login_key');
  if (rows.length === 0) return null;
  return rows.some((row) => row.login_key === keys.login_key) ? 'login' : 'email';
}
