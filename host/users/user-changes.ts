import { RestError, restError } from '#plugin-api';
import type { HooksApi, Knex, Logger, User, UserChanges } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { hashPassword } from './passwords.ts';
import { slugOf, toColumns, type ProfileRow } from './profile.ts';
import type { Roles } from './roles.ts';
import { checkChanges, keyOf, takenError, takenSlugError } from './user-input.ts';
import { selectRoleSets } from './user-queries.ts';
import { findUnusedSlug, isId, toFacts, type UserRow } from './user-row.ts';
import { createUser, type CapabilityHooks } from './user.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After the data, roles or password of a user changed. `before` is the previous version. */
    profile_update: (userId: number, before: User) => void;
    /** After the password of a user changed, by any means. */
    user_password_changed: (userId: number) => void;
    /** After the roles changed. `role` is the first new role, or empty. */
    set_user_role: (userId: number, role: string, before: readonly string[]) => void;
    /** Before a user is deleted, in the same transaction. Use it to reassign or delete their data. */
    delete_user: (userId: number, reassignTo: number | null, user: User) => void;
    /** After a user was deleted. The content belongs to `reassignTo` now, or was deleted if that is null. */
    deleted_user: (userId: number, reassignTo: number | null, user: User) => void;
  }
}

export interface ChangesDependencies {
  readonly database: Pick<Database, 'knex' | 'transaction' | 'lock'>;
  readonly hooks: CapabilityHooks & Pick<HooksApi, 'doActionAsync'>;
  readonly log: Logger;
  readonly roles: Roles;
}

export interface ChangeOptions {
  /** Id of a session to keep when all others end, for users who change their own account. */
  readonly keepSession?: string;
  /** What lets programs act for the user outlives a demotion or the account. Default: it ends with either. */
  readonly keepCredentials?: boolean;
}

export interface UserWriter {
  update(id: number, changes: UserChanges, options?: ChangeOptions): Promise<User>;
  delete(
    id: number,
    options?: Pick<ChangeOptions, 'keepCredentials'> & { readonly reassignTo?: number | null },
  ): Promise<boolean>;
}

/** Updates and deletes users. A lock across all nodes protects the last administrator. */
export function createUserChanges({ database, hooks, log, roles }: ChangesDependencies): UserWriter {
  const { knex } = database;
  const find = async (id: number): Promise<UserRow | undefined> =>
    isId(id) ? await knex<UserRow>('users').where({ id }).first() : undefined;

  return {
    async update(id, changes, { keepSession = '', keepCredentials = false } = {}) {
      const known = changes.password === undefined ? undefined : await find(id);
      const given = checkChanges(changes, roles, known && [known.login, known.email, known.display_name]);
      const password_hash = given.password === undefined ? undefined : await hashPassword(given.password);
      const { before, after, rolesChanged } = await database.transaction(async () => {
        if (given.roles !== undefined) await database.lock('administrators');
        const row = await find(id);
        if (row === undefined) throw unknownUser();
        const columns = { ...(await renameSlug(knex, row, given)), ...toChangedColumns(given, password_hash) };
        const rolesChanged = columns.roles !== undefined && columns.roles !== row.roles;
        if (rolesChanged && given.roles?.includes('administrator') === false) await refuseLastAdministrator(knex, row);
        if (columns.email_key !== undefined && columns.email_key !== row.email_key)
          await refuseTakenEmail(knex, columns.email_key);
        if (
          columns.slug !== undefined &&
          columns.slug !== row.slug &&
          (await knex('users').where({ slug: columns.slug }).first('id')) !== undefined
        )
          throw takenSlugError();
        if (Object.keys(columns).length > 0) await knex('users').where({ id }).update(columns);
        if (rolesChanged || password_hash !== undefined) {
          await knex('sessions').where({ user_id: id }).whereNot({ id: keepSession }).delete();
          await knex('pending_sign_ins').where({ user_id: id }).delete();
        }
        const before = createUser(toFacts(row), hooks, roles);
        const after = createUser(toFacts({ ...row, ...columns }), hooks, roles);
        if (rolesChanged && !keepCredentials && losesRights(roles, before, after))
          await hooks.doActionAsync('revoke_user_credentials', id);
        return { before, after, rolesChanged };
      });
      log.info('User updated', { event: 'user_updated', user: id, changed: Object.keys(given).join(' ') });
      if (rolesChanged) await hooks.doActionAsync('set_user_role', id, after.roles[0] ?? '', before.roles);
      if (password_hash !== undefined) await hooks.doActionAsync('user_password_changed', id);
      await hooks.doActionAsync('profile_update', id, before);
      return after;
    },
    async delete(id, { reassignTo = null, keepCredentials = false } = {}) {
      const removed = await database.transaction(async () => {
        await database.lock('administrators');
        const row = await find(id);
        if (row === undefined) return null;
        if (reassignTo !== null && (reassignTo === id || (await find(reassignTo)) === undefined)) {
          throw restError(400, 'rest_user_invalid_reassign', 'Invalid user ID for reassignment.');
        }
        await refuseLastAdministrator(knex, row);
        const user = createUser(toFacts(row), hooks, roles);
        if (!keepCredentials) await hooks.doActionAsync('revoke_user_credentials', id);
        await hooks.doActionAsync('delete_user', id, reassignTo, user);
        await knex('users').where({ id }).delete();
        return user;
      });
      if (removed === null) return false;
      log.info('User deleted', { event: 'user_deleted', user: id });
      await hooks.doActionAsync('deleted_user', id, reassignTo, removed);
      return true;
    },
  };
}

/** Whether the roles after grant less. The name of a role counts as a capability, but grants nothing. */
function losesRights(roles: Roles, before: User, after: User): boolean {
  const left = roles.capabilitiesOf(after.roles);
  return Object.keys(roles.capabilitiesOf(before.roles)).some((name) => !roles.isRole(name) && left[name] !== true);
}

export function unknownUser(): RestError {
  return restError(404, 'rest_user_invalid_id', 'Invalid user ID.');
}

type Columns = Partial<
  Pick<UserRow, 'email' | 'email_key' | 'display_name' | 'display_key' | 'roles' | 'password_hash' | keyof ProfileRow>
>;

function toChangedColumns(
  { email, displayName, roles, profile = {} }: UserChanges,
  password_hash: string | undefined,
): Columns {
  return {
    ...(email !== undefined && { email, email_key: keyOf(email) }),
    ...(displayName !== undefined && { display_name: displayName, display_key: keyOf(displayName) }),
    ...(roles !== undefined && { roles: JSON.stringify(roles) }),
    ...(password_hash !== undefined && { password_hash }),
    ...toColumns(profile),
  };
}

/** A slug made from the login follows the display name: both are public, and the login need not be. */
async function renameSlug(knex: Knex, row: UserRow, { displayName = '' }: UserChanges): Promise<{ slug?: string }> {
  const [fromLogin, preferred] = [slugOf(row.login), slugOf(displayName)];
  const isFromLogin = row.slug.startsWith(fromLogin) && /^(?:-\d+)?$/.test(row.slug.slice(fromLogin.length));
  if (preferred === '' || preferred === fromLogin || !isFromLogin || displayName === row.display_name) return {};
  return { slug: await findUnusedSlug(knex, preferred) };
}

async function refuseTakenEmail(knex: Knex, email_key: string): Promise<void> {
  if ((await knex('users').where({ email_key }).first('id')) !== undefined) throw takenError('email');
}

/** @throws RestError for the only administrator. */
async function refuseLastAdministrator(knex: Knex, row: UserRow): Promise<void> {
  if (!toFacts(row).roles.includes('administrator')) return;
  const administrators = knex('users').whereIn('roles', selectRoleSets(knex, [['administrator']]));
  if ((await administrators.whereNot({ id: row.id }).first('id')) !== undefined) return;
  throw new RestError({
    code: 'rest_user_last_administrator',
    message: 'This is the last administrator. Make another user an administrator first.',
    status: 400,
    data: { params: { role: 'This is the only administrator. Make another user an administrator first.' } },
  });
}
