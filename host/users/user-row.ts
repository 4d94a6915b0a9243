import {
  escapeLike,
  whereContains,
  type DatabaseApi,
  type Knex,
  type TextIndex,
  type UserFilter,
  type UserQuery,
} from '#plugin-api';
import type { UserFacts } from './user.ts';
import { keyOf } from './user-input.ts';
import { toProfile, type ProfileRow } from './profile.ts';

export interface UserRow extends ProfileRow {
  readonly id: number;
  readonly login: string;
  readonly login_key: string;
  readonly email: string;
  readonly email_key: string;
  readonly display_name: string;
  readonly display_key: string;
  /** JSON array of role names. */
  readonly roles: string;
  readonly password_hash: string;
  readonly created_at: number | string;
}

export function toFacts(
  row: Pick<UserRow, 'id' | 'login' | 'email' | 'display_name' | 'roles' | 'created_at' | keyof ProfileRow>,
): UserFacts {
  return {
    id: Number(row.id),
    login: row.login,
    email: row.email,
    displayName: row.display_name,
    roles: JSON.parse(row.roles) as string[],
    registeredAt: Number(row.created_at),
    profile: toProfile(row),
  };
}

/** Arguments of `whereRaw` that match sets of roles with the role. */
export function holdsRole(role: string): [string, string[]] {
  return [`roles like ? escape '\\'`, [`%${escapeLike(JSON.stringify(role))}%`]];
}

/** The index that searches use on SQLite. That of PostgreSQL has another name. */
export const searchIndex: TextIndex = { table: 'users', columns: ['login_key', 'display_key', 'email_key'] };

const searched = { login: 'login_key', displayName: 'display_key', email: 'email_key' } as const;
const orders = {
  id: 'id',
  login: 'login_key',
  slug: 'slug',
  displayName: 'display_key',
  email: 'email_key',
  registeredAt: 'created_at',
} as const;

/** Narrows a selection of users by everything but roles. */
export function filterUsers(
  rows: Knex.QueryBuilder,
  dialect: DatabaseApi['dialect'],
  { search, searchIn, include, exclude, slugs }: UserFilter,
): void {
  if (include !== undefined) void rows.whereIn('users.id', include.filter(isId));
  if (exclude !== undefined) void rows.whereNotIn('users.id', exclude.filter(isId));
  if (slugs !== undefined)
    void rows.whereIn(
      'users.slug',
      slugs.map((slug) => slug.toLowerCase()),
    );
  const text = keyOf(search ?? '');
  if (text !== '' && searchIn?.length !== 0)
    whereContains(rows, dialect, {
      ...searchIndex,
      texts: [text],
      ...(searchIn && { in: searchIn.map((name) => searched[name]) }),
    });
}

/** Sorts equal keys by id, so that pages never overlap. */
export function orderUsers(rows: Knex.QueryBuilder, { orderBy = 'id', descending = false }: UserQuery): void {
  const direction = descending ? 'desc' : 'asc';
  void rows.orderBy(`users.${orders[orderBy]}`, direction);
  if (orderBy !== 'id') void rows.orderBy('users.id', direction);
}

/** Whether a number can be a user id. PostgreSQL rejects larger numbers. */
export function isId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id < 2 ** 31;
}

/** How many numbers a search for a free slug tries at once. */
const triedAtOnce = 100;

/**
 * Returns the preferred slug, or a free one with a number appended: the smallest below 100, else one after a number in use.
 * It tries few slugs, however many users have one that begins so.
 */
export async function findUnusedSlug(knex: Knex, preferred: string): Promise<string> {
  if ((await takenNumbers(knex, preferred, [1])).size === 0) return preferred;
  let [taken, free] = [1, Infinity];
  while (free - taken > 1) {
    const numbers = numbersBetween(taken, free);
    const found = await takenNumbers(knex, preferred, numbers);
    const index = numbers.findIndex((number) => !found.has(number));
    taken = numbers[(index === -1 ? numbers.length : index) - 1] ?? taken;
    free = numbers[index] ?? free;
  }
  return `${preferred}-${free}`;
}

/** All numbers between two of them if they are few, else some at equal distances; without an end, first the next ones. */
function numbersBetween(taken: number, free: number): number[] {
  if (free === Infinity && taken === 1) return Array.from({ length: triedAtOnce }, (_, index) => index + 2);
  if (free === Infinity) return Array.from({ length: 10 }, (_, index) => taken * 2 ** (index + 1));
  const step = Math.ceil((free - taken) / triedAtOnce);
  return Array.from({ length: Math.ceil((free - taken) / step) - 1 }, (_, index) => taken + (index + 1) * step);
}

/** @returns which numbers are appended to the slug of a user; 1 is the slug without a number. */
async function takenNumbers(knex: Knex, preferred: string, numbers: readonly number[]): Promise<ReadonlySet<number>> {
  const slugs = new Map(numbers.map((number) => [number === 1 ? preferred : `${preferred}-${number}`, number]));
  const found = await knex<UserRow>('users')
    .whereIn('slug', [...slugs.keys()])
    .pluck('slug');
  return new Set(found.map((slug) => slugs.get(slug) ?? 0));
}
