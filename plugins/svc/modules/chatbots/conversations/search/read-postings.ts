import { tables } from '../conversation-tables.ts';
import type { PostgresqlConnection, SqliteConnection } from '#plugin-api';
import { backwards, type IndexDatabase } from './segment-store.ts';

export interface PostingsRow {
  readonly segmentId: number;
  readonly termId: number;
  readonly texts: Uint8Array;
  readonly positions: Uint8Array | null;
}

type Choice =
  | { readonly by: 'term'; readonly kind: 0 | 1 | 2; readonly term: string }
  /** Two common words in a row, see pairTerm. */
  | { readonly by: 'pairs'; readonly terms: readonly string[] }
  /** Words with this part: four letters or more. */
  | { readonly by: 'part'; readonly part: string };

const texts = `SELECT segment_id, term_id, texts FROM ${tables.postings} WHERE term_id IN`;

/** Where a term, or any word with a part, occurs. */
export async function readTexts(database: IndexDatabase, choice: Choice): Promise<PostingsRow[]> {
  const rows = await database.direct<Rows | Promise<Rows>>(
    {
      sqlite: (connection) => readSqlite(connection, choice),
      postgresql: (connection) => readPostgresql(connection, choice),
    },
    { readOnly: true },
  );
  return rows.map(rowOf);
}

type Rows = readonly (readonly unknown[])[];

function rowOf([segmentId, termId, bytes, positions]: readonly unknown[]): PostingsRow {
  return {
    segmentId: Number(segmentId),
    termId: Number(termId),
    texts: bytes as Uint8Array,
    positions: (positions ?? null) as Uint8Array | null,
  };
}

function readSqlite({ rows }: SqliteConnection, choice: Choice): Rows {
  if (choice.by === 'term')
    return rows(`${texts} (SELECT id FROM ${tables.terms} WHERE kind = ? AND term = ?)`, choice.kind, choice.term);
  if (choice.by === 'pairs')
    return rows(
      `${texts} (SELECT id FROM ${tables.terms} WHERE kind = 4 AND term IN (SELECT value FROM json_each(?)))`,
      JSON.stringify(choice.terms),
    );
  return rows(`${texts} (SELECT rowid FROM svc_log_words WHERE svc_log_words MATCH ?)`, `"${choice.part}"`);
}

async function readPostgresql(connection: PostgresqlConnection, choice: Choice): Promise<Rows> {
  if (choice.by === 'term')
    return (
      await connection.rows(`${texts} (SELECT id FROM ${tables.terms} WHERE kind = $1 AND term = $2)`, [
        choice.kind,
        choice.term,
      ])
    ).rows;
  if (choice.by === 'pairs')
    return (
      await connection.rows(`${texts} (SELECT id FROM ${tables.terms} WHERE kind = 4 AND term = ANY($1))`, [
        choice.terms,
      ])
    ).rows;
  // Two questions: their plans must not depend on how many words there may be.
  const { rows: ids } = await connection.rows(`SELECT id FROM ${tables.terms} WHERE kind = 0 AND term LIKE $1`, [
    `%${choice.part}%`,
  ]);
  return (
    await connection.rows(`SELECT segment_id, term_id, texts FROM ${tables.postings} WHERE term_id = ANY($1)`, [
      ids.map(([id]) => id),
    ])
  ).rows;
}

/** The words that a part of a phrase matches. */
export type PhraseWords = { readonly ends: string } | { readonly is: string } | { readonly begins: string };

export interface FoundWord {
  readonly id: number;
  readonly term: string;
}

/** At most `limit` of them. */
export async function findWords(database: IndexDatabase, phrase: PhraseWords, limit: number): Promise<FoundWord[]> {
  const [column, from, to] = rangeOf(phrase);
  // SQLite does not know the number of rows and would scan all words for an end.
  const hint = database.dialect === 'sqlite' && column === 'backwards' ? ` INDEXED BY ${tables.terms}_backwards` : '';
  const sql = (mark: (index: number) => string): string =>
    `SELECT id, term FROM ${tables.terms}${hint} WHERE kind = 0 AND ${column} >= ${mark(1)} AND ${column} ${to === null ? '=' : '<'} ${mark(2)} LIMIT ${String(limit)}`;
  const rows = await database.direct<Rows | Promise<Rows>>(
    {
      sqlite: (connection) =>
        connection.rows(
          sql(() => '?'),
          from,
          to ?? from,
        ),
      postgresql: async (connection) =>
        (
          await connection.rows(
            sql((index) => `$${String(index)}`),
            [from, to ?? from],
          )
        ).rows,
    },
    { readOnly: true },
  );
  return rows.map(([id, term]) => ({ id: Number(id), term: String(term) }));
}

/** Both dialects compare these columns by their bytes; no text of words has a byte 0xf5 or above, as this character's would be behind. */
const behindAll = '\u{10ffff}';

function rangeOf(phrase: PhraseWords): readonly [string, string, string | null] {
  if ('is' in phrase) return ['term', phrase.is, null];
  if ('begins' in phrase) return ['term', phrase.begins, phrase.begins + behindAll];
  const end = backwards(phrase.ends);
  return ['backwards', end, end + behindAll];
}

/** @param segments `in`: these alone, and those that are none of `besides`. Default: all. */
export async function readPositions(
  database: IndexDatabase,
  termIds: readonly number[],
  segments?: { readonly in: readonly number[]; readonly besides: readonly number[] },
): Promise<PostingsRow[]> {
  if (termIds.length === 0) return [];
  const select = `SELECT segment_id, term_id, texts, positions FROM ${tables.postings} JOIN ${tables.positions} USING (term_id, segment_id) WHERE term_id`;
  const lists = segments === undefined ? [termIds] : [termIds, segments.in, segments.besides];
  const rows = await database.direct<Rows | Promise<Rows>>(
    {
      sqlite: (connection) => {
        const each = 'SELECT value FROM json_each(?)';
        return connection.rows(
          `${select} IN (${each})${segments === undefined ? '' : ` AND (segment_id IN (${each}) OR segment_id NOT IN (${each}))`}`,
          ...lists.map((list) => JSON.stringify(list)),
        );
      },
      postgresql: async (connection) =>
        (
          await connection.rows(
            `${select} = ANY($1)${segments === undefined ? '' : ' AND (segment_id = ANY($2) OR segment_id <> ALL($3))'}`,
            lists,
          )
        ).rows,
    },
    { readOnly: true },
  );
  return rows.map(rowOf);
}
