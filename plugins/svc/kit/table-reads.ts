import type { Knex } from '#plugin-api';
import { foldText } from './fold-text.ts';

/** Which of the rows of a query to read. */
export interface RowPage {
  readonly limit: number;
  readonly offset: number;
}

/** The number of rows that a query finds. */
export async function countRows(query: Knex.QueryBuilder): Promise<number> {
  const [row] = (await query.count({ total: '*' })) as { readonly total?: number | string }[];
  return Number(row?.total ?? 0);
}

/** Keeps rows whose folded text in a column contains a text. Case and accents do not matter; `%` and `_` are literal. */
export function searchIn(query: Knex.QueryBuilder, column: string, search: string | undefined): void {
  const part = foldText(search ?? '').trim();
  if (part !== '') void query.whereRaw(`${column} like ? escape '!'`, [`%${part.replace(/[!%_]/g, '!$&')}%`]);
}

/** All rows of a query, the highest id first, read in batches. @param select a new query each time */
export async function* readInBatches(select: () => Knex.QueryBuilder, size: number): AsyncGenerator<object> {
  let before: number | undefined;
  for (;;) {
    const query = select().orderBy('id', 'desc').limit(size);
    const rows = (await (before === undefined ? query : query.where('id', '<', before))) as { readonly id: number }[];
    yield* rows;
    if (rows.length < size) return;
    before = rows.at(-1)?.id;
  }
}

/** A record in an export of personal data. */
export interface PersonalRecord {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A user, a session, or an email address that was entered. */
export type Submitter = { readonly userId: number } | { readonly sessionId: string } | { readonly email: string };

/** The columns that name a person. */
export function columnsOf(person: Submitter): Readonly<Record<string, string | number>> {
  if ('userId' in person) return { user_id: person.userId };
  return 'sessionId' in person ? { session_id: person.sessionId } : { email: foldText(person.email).trim() };
}
