import type { Clock, HooksApi, Knex, Logger, User, UsersApi } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { createUserChanges, type UserWriter } from './user-changes.ts';
import { slugOf, toColumns, type ProfileRow } from './profile.ts';
import { checkNewUser, keyOf, takenError, takenSlugError, type CheckedUser } from './user-input.ts';
import { createRoles, type Roles } from './roles.ts';
import { createUserQueries, selectRoleSets, type UserListQuery, type UserQueries } from './user-queries.ts';
import { findUnusedSlug, isId, toFacts, type UserRow } from './user-row.ts';
import { createAnonymous, createUser, type CapabilityHooks } from './user.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After a user was created. */
    user_register: (userId: number) => void;
  }
}

export interface UsersDependencies {
  readonly database: Pick<Database, 'knex' | 'transaction' | 'lock' | 'direct' | 'dialect' | 'readNumbers'>;
  readonly hooks: CapabilityHooks & Pick<HooksApi, 'doActionAsync'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

export interface Users extends Omit<UsersApi, 'list' | 'update' | 'delete'>, UserWriter, Roles {
  /** The user object of visitors. */
  readonly anonymous: User;
  /** Returns the user if login or email and password match. Takes the same time for an unknown user. */
  verify(loginOrEmail: string, password: string): Promise<User | null>;
  list(query?: UserListQuery): Promise<User[]>;
  /** Counts in one query what a list with a tab for each role shows. */
  countByRole(filter?: Parameters<UserQueries['countByRole']>[0]): ReturnType<UserQueries['countByRole']>;
  /** Whether the site has an administrator. */
  hasAdministrator(): Promise<boolean>;
}

/** The users of the site. They are not cached, so every node sees changes immediately. */
export function createUsers({ database, hooks, clock, log }: UsersDependencies): Users {
  const { knex } = database;
  const roles = createRoles();
  const queries = createUserQueries(database);
  const writer = createUserChanges({ database, hooks, log, roles });

  async function findRow(loginOrEmail: string): Promise<UserRow | undefined> {
    const key = keyOf(loginOrEmail);
    const rows = await knex<UserRow>('users').where('login_key', key).orWhere('email_key', key);
    // A login may equal the email of another user. The login takes precedence.
    return rows.find((row) => row.login_key === key) ?? rows[0];
  }

  const toUser = (row: UserRow | undefined): User | null => (row ? createUser(toFacts(row), hooks, roles) : null);

  return {
    anonymous: createAnonymous(hooks),
    ...writer,
    ...roles,
    get: async (id) => toUser(isId(id) ? await knex<UserRow>('users').where({ id }).first() : undefined),
    find: async (loginOrEmail) => toUser(await findRow(loginOrEmail)),
    async list(query = {}) {
      return (await queries.list(query)).map((row) => createUser(toFacts(row), hooks, roles));
    },
    count: (filter = {}) => queries.count(filter),
    countByRole: (filter = {}) => queries.countByRole(filter),
    ids: (filter = {}) => queries.ids(filter),
    names: (ids) => queries.names(ids),
    async create(input) {
      const given = checkNewUser(input, roles);
      const taken = await takenMember(knex, given);
      if (taken !== null) throw takenError(taken);
      const row = {
        ...(await createProfile(knex, given)),
        login: given.login,
        login_key: keyOf(given.login),
        email: given.email,
        email_key: keyOf(given.email),
        display_name: given.displayName,
        display_key: keyOf(given.displayName),
        roles: JSON.stringify([given.role]),
        password_hash: await hashPassword(given.password),
        created_at: clock.now(),
      };
      const [inserted] = await knex('users').insert(row).onConflict().ignore().returning('id');
      // Another process has inserted the user in the meantime.
      if (inserted === undefined) throw await conflictError(knex, given);
      const user = createUser(toFacts({ ...row, id: Number(inserted.id) }), hooks, roles);
      log.info('User created', { event: 'user_created', user: user.id, role: given.role });
      await hooks.doActionAsync('user_register', user.id);
      return user;
    },
    async setPassword(id, password) {
      await writer.update(id, { password });
    },
    async verify(loginOrEmail, password) {
      const row = await findRow(loginOrEmail);
      return (await verifyPassword(row?.password_hash ?? null, password)) ? toUser(row) : null;
    },
    async hasAdministrator() {
      return (await selectRoleSets(knex, [['administrator']]).first()) !== undefined;
    },
  };
}

/**
 * Uses the requested slug, or generates a unique one from the display name, which is public too, so that it does not reveal the
 * login. @throws RestError for a slug in use.
 */
async function createProfile(knex: Knex, { login, displayName, profile }: CheckedUser): Promise<ProfileRow> {
  const preferred = profile.slug ?? (slugOf(displayName) || 'user');
  const slug = await findUnusedSlug(knex, preferred);
  if (profile.slug !== undefined && slug !== preferred) throw takenSlugError();
  return {
    first_name: '',
    last_name: '',
    description: '',
    url: '',
    locale: '',
    nickname: login,
    ...toColumns(profile),
    slug,
  };
}

/** The error for a login, email or slug that another process has used in the meantime. */
async function conflictError(knex: Knex, given: CheckedUser): Promise<Error> {
  const member = await takenMember(knex, given);
  return member === null ? takenSlugError() : takenError(member);
}

async function takenMember(
  knex: Knex,
  { login, email }: { login: string; email: string },
): Promise<'login' | 'email' | null> {
  const keys = { login_key: keyOf(login), email_key: keyOf(email) };
  const rows = await knex<UserRow>('users')
    .where('login_key', keys.login_key)
    .orWhere('email_key', keys.email_key)
    .select('login_key');
  if (rows.length === 0) return null;
  return rows.some((row) => row.login_key === keys.login_key) ? 'login' : 'email';
}
