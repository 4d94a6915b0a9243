import type { Knex, UserFilter, UserQuery } from '#plugin-api';
import type { Database } from '../database/database-contract.ts';
import { filterUsers, holdsRole, isId, orderUsers, type UserRow } from './user-row.ts';

export interface UserTotals {
  readonly total: number;
  /** Users with each role. One with several roles counts for each; roles without users are missing. */
  readonly byRole: ReadonlyMap<string, number>;
}

export interface UserListQuery extends UserQuery {
  /** How many users match, if known. Pages in the second half are then read from the end. */
  readonly total?: number;
}

export interface UserQueries {
  list(query: UserListQuery): Promise<UserRow[]>;
  count(filter: UserFilter): Promise<number>;
  /** Counts in one query what a list with a tab for each role shows. */
  countByRole(filter: Omit<UserFilter, 'role' | 'roles'>): Promise<UserTotals>;
  ids(filter: UserFilter): Promise<number[]>;
  names(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
}

type Rows = readonly (readonly unknown[])[];
type ReadDatabase = Pick<Database, 'knex' | 'dialect' | 'direct' | 'readNumbers'>;

/** As many rows are sorted in some 20 ms. */
const maxSorted = 20_000;

/** Reads users by the indexes of their table. Each takes milliseconds with a million users, unless a search finds most of them. */
export function createUserQueries(database: ReadDatabase): UserQueries {
  const { knex, dialect } = database;
  let commonSet = '';

  /** @param isCovered whether the query reads no rows of the table besides those it returns. */
  async function select(filter: UserFilter, isCovered: boolean): Promise<{ readonly rows: Knex.QueryBuilder }> {
    const rows = knex('users');
    filterUsers(rows, dialect, filter);
    const choices = choicesOf(filter);
    if (choices.length === 0) return { rows };
    const sets = await selectRoleSets(knex, choices).pluck<string[]>('roles');
    if (dialect === 'sqlite' && !isCovered && (await isCommon(knex, sets))) whereCommonRoles(rows, sets);
    else void rows.whereIn('users.roles', sets);
    return { rows };
  }

  return {
    async list(query) {
      const { rows } = await select(query, false);
      paginateUsers(rows, query);
      // The rows before the page are read in an index only.
      const found = knex<UserRow>('users').select('*').whereIn('id', rows.select('users.id'));
      orderUsers(found, query);
      return await found;
    },
    async count(filter) {
      const isNarrowed = Object.entries(filter).some(
        ([name, value]) => value !== undefined && !name.startsWith('role'),
      );
      const { rows } = await select(filter, !isNarrowed);
      return Number((await rows.count({ total: '*' }))[0]?.['total'] ?? 0);
    },
    async countByRole(filter) {
      const sets = Object.values(filter).some((value) => value !== undefined)
        ? await countSets(database, filter)
        : await countAllSets(knex, commonSet);
      const [common] = [...sets].sort(([, one], [, other]) => other - one);
      commonSet = common?.[0] ?? '';
      return addUp(sets);
    },
    async ids(filter) {
      const rows = knex('users').select('users.id');
      filterUsers(rows, dialect, filter);
      const choices = choicesOf(filter);
      if (choices.length > 0) void rows.whereIn('users.roles', selectRoleSets(knex, choices));
      const { sql, bindings } = rows.toSQL().toNative();
      return [...(await database.readNumbers({ sqlite: sql, postgresql: sql }, bindings as (string | number)[]))];
    },
    names: (ids) => readNames(database, ids),
  };
}

/** Cuts a page, in whatever order: the outer query sorts it. */
function paginateUsers(rows: Knex.QueryBuilder, query: UserListQuery): void {
  const { limit = 100, offset = 0, total = 0, descending = false } = query;
  const isFromEnd = offset > total / 2 && offset < total;
  orderUsers(rows, { ...query, descending: isFromEnd ? !descending : descending });
  if (isFromEnd) void rows.limit(Math.min(limit, total - offset)).offset(Math.max(0, total - offset - limit));
  else void rows.limit(limit).offset(offset);
}

/** A user holds a role of each of them. */
function choicesOf({ role, roles }: UserFilter): readonly (readonly string[])[] {
  return [...(role === undefined ? [] : [[role]]), ...(roles === undefined ? [] : [roles])];
}

/**
 * The sets of roles that users have, as stored, with a role of each choice. Far fewer than users: it jumps from one to the
 * next in the index.
 */
export function selectRoleSets(knex: Knex, choices: readonly (readonly string[])[]): Knex.QueryBuilder {
  const next = `select min(roles) from users union all
    select (select min(users.roles) from users where users.roles > role_sets.roles) from role_sets where role_sets.roles is not null`;
  const sets = knex
    .withRecursive('role_sets', ['roles'], knex.raw(next))
    .from('role_sets')
    .select('roles')
    .whereNotNull('roles');
  for (const choice of choices) {
    void sets.where((either) => {
      if (choice.length === 0) void either.whereRaw('1 = 0');
      for (const name of choice) void either.orWhereRaw(...holdsRole(name));
    });
  }
  return sets;
}

async function isCommon(knex: Knex, sets: readonly string[]): Promise<boolean> {
  return (await knex('users').whereIn('roles', sets).offset(maxSorted).first('id')) !== undefined;
}

/** As an expression, so that SQLite walks the index of the order and does not sort the users that it finds by roles. */
function whereCommonRoles(rows: Knex.QueryBuilder, sets: readonly string[]): void {
  void rows.whereRaw(`+users.roles in (${sets.map(() => '?').join(', ')})`, [...sets]);
}

type Sets = ReadonlyMap<string, number>;

async function countSets({ knex, dialect }: ReadDatabase, filter: UserFilter): Promise<Sets> {
  const rows = knex('users').select('users.roles').count({ total: '*' });
  filterUsers(rows, dialect, filter);
  const found = (await rows.groupBy('users.roles')) as { roles: string; total: number | string }[];
  return new Map(found.map(({ roles, total }) => [roles, Number(total)]));
}

/** @param common the set that most users have, which takes no time then; any other set is right too. */
async function countAllSets(knex: Knex, common: string): Promise<Sets> {
  const count = (): Knex.QueryBuilder => knex('users').count({ total: '*' });
  const others = (sign: '<' | '>'): Knex.QueryBuilder =>
    count().select('roles').where('roles', sign, common).groupBy('roles');
  const found = (await count()
    .select({ roles: knex.raw('null') })
    .unionAll([others('<'), others('>')])) as { roles: string | null; total: number | string }[];
  const sets = new Map<string, number>();
  let rest = 0;
  for (const { roles, total } of found) {
    if (roles === null) rest += Number(total);
    else {
      sets.set(roles, Number(total));
      rest -= Number(total);
    }
  }
  return rest > 0 ? sets.set(common, rest) : sets;
}

function addUp(sets: Sets): UserTotals {
  const byRole = new Map<string, number>();
  let total = 0;
  for (const [roles, count] of sets) {
    total += count;
    for (const role of new Set(JSON.parse(roles) as string[])) byRole.set(role, (byRole.get(role) ?? 0) + count);
  }
  return { total, byRole };
}

/** Reads display names with prepared statements, because every page of a list needs them. */
async function readNames(
  database: Pick<Database, 'direct'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const known = ids.filter(isId);
  if (known.length === 0) return new Map();
  const rows = await database.direct<Rows | Promise<Rows>>(
    {
      sqlite: (connection) =>
        connection.rows(
          'SELECT id, display_name FROM users WHERE id IN (SELECT value FROM json_each(?))',
          JSON.stringify(known),
        ),
      postgresql: async (connection) =>
        (await connection.rows('SELECT id, display_name FROM users WHERE id = ANY($1)', [known])).rows,
    },
    { readOnly: true },
  );
  return new Map(rows.map(([id, name]) => [Number(id), String(name)]));
}
