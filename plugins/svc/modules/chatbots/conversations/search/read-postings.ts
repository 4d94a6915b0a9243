import { tables } from '../conversation-tables.ts';
import type { PostgresqlConnection, SqliteConnection } from '#plugin-api';
import { backwards, type IndexDatabase } from './segment-store.ts';

export interface PostingsRow {
  readonly segmentId: number;
  readonly termId: number;
  readonly texts: Uint8Array;
  readonly places: Uint8Array | null;
}

type Choice =
  | { readonly by: 'term'; readonly kind: 0 | 1 | 2; readonly term: string }
  /** Words with this part: four letters or more. */
  | { readonly by: 'part'; readonly part: string };

const texts = `SELECT segment_id, term_id, texts FROM ${tables.postings} WHERE term_id IN`;

/** Where a term, or any word with a part, occurs. */
export async function readTexts(database: IndexDatabase, choice: Choice): Promise<PostingsRow[]> {
  const rows = await database.direct<Rows | Promise<Rows>>({
    sqlite: (connection) => readSqlite(connection, choice),
    postgresql: (connection) => readPostgresql(connection, choice),
  }, { readOnly: true });
  return rows.map(rowOf);
}

type Rows = readonly (readonly unknown[])[];

function rowOf([segmentId, termId, bytes, places]: readonly unknown[]): PostingsRow {
  return { segmentId: Number(segmentId), termId: Number(termId), texts: bytes as Uint8Array, places: (places ?? null) as Uint8Array | null };
}

function readSqlite({ rows }: SqliteConnection, choice: Choice): Rows {
  if (choice.by === 'term') return rows(`${texts} (SELECT id FROM ${tables.terms} WHERE kind = ? AND term = ?)`, choice.kind, choice.term);
  return rows(`${texts} (SELECT rowid FROM svc_log_words WHERE svc_log_words MATCH ?)`, `"${choice.part}"`);
}

async function readPostgresql(connection: PostgresqlConnection, choice: Choice): Promise<Rows> {
  if (choice.by === 'term') return (await connection.rows(`${texts} (SELECT id FROM ${tables.terms} WHERE kind = $1 AND term = $2)`, [choice.kind, choice.term])).rows;
  // Two questions: their plans must not depend on how many words there may be.
  const { rows: ids } = await connection.rows(`SELECT id FROM ${tables.terms} WHERE kind = 0 AND term LIKE $1`, [`%${choice.part}%`]);
  return (await connection.rows(`SELECT segment_id, term_id, texts FROM ${tables.postings} WHERE term_id = ANY($1)`, [ids.map(([id]) => id)])).rows;
}

/** Which words a part of a phrase stands for. */
export type PhraseWords = { readonly ends: string } | { readonly is: string } | { readonly begins: string };

/** Ids of words, at most `limit` of them. */
export async function findWords(database: IndexDatabase, words: PhraseWords, limit: number): Promise<number[]> {
  const [column, from, to] = rangeOf(words);
  const sql = (mark: (index: number) => string): string => `SELECT id FROM ${tables.terms} WHERE kind = 0 AND ${column} >= ${mark(1)} AND ${column} ${to === null ? '=' : '<'} ${mark(2)} LIMIT ${String(limit)}`;
  const rows = await database.direct<Rows | Promise<Rows>>({
    sqlite: (connection) => connection.rows(sql(() => '?'), from, to ?? from),
    postgresql: async (connection) => (await connection.rows(sql((index) => `$${String(index)}`), [from, to ?? from])).rows,
  }, { readOnly: true });
  return rows.map(([id]) => Number(id));
}

/** Both dialects compare these columns by their bytes; no text of words has a byte 0xf5 or above, as this character's would be behind. */
const behindAll = '\u{10ffff}';

function rangeOf(words: PhraseWords): readonly [string, string, string | null] {
  if ('is' in words) return ['term', words.is, null];
  if ('begins' in words) return ['term', words.begins, words.begins + behindAll];
  const end = backwards(words.ends);
  return ['backwards', end, end + behindAll];
}

/** With places, in order of segments. */
export async function readPlaces(database: IndexDatabase, termIds: readonly number[]): Promise<PostingsRow[]> {
  const select = `SELECT segment_id, term_id, texts, places FROM ${tables.postings} WHERE term_id`;
  const rows = await database.direct<Rows | Promise<Rows>>({
    sqlite: (connection) => connection.rows(`${select} IN (SELECT value FROM json_each(?))`, JSON.stringify(termIds)),
    postgresql: async (connection) => (await connection.rows(`${select} = ANY($1)`, [termIds])).rows,
  }, { readOnly: true });
  return rows.map(rowOf);
}
