import type { Knex } from 'knex';
import type { DatabaseApi } from './database.ts';

/** An index for the search of parts of words. Its name is that of the table and `_trigrams`. */
export interface TextIndex {
  /** It has the integer primary key `id`. */
  readonly table: string;
  /** Columns that are not null, with texts in lower case. */
  readonly columns: readonly string[];
}

/** The index of a shorter text is no faster than reading all rows. */
const indexedLength = 3;

/**
 * Creates the index, for a migration. SQLite gets an FTS5 table that triggers keep up to date, PostgreSQL an index of the
 * extension pg_trgm. Where PostgreSQL lacks the extension, or its role the right to create it, there is no index, and
 * searches read all rows.
 */
export async function createTextIndex(
  knex: Knex,
  dialect: DatabaseApi['dialect'],
  { table, columns }: TextIndex,
): Promise<void> {
  const name = `${table}_trigrams`;
  if (dialect === 'sqlite') {
    for (const statement of textIndexStatements({ table, columns, name })) await knex.raw(statement);
    const list = columns.join(', ');
    await knex.raw(`INSERT INTO ${name} (rowid, ${list}) SELECT id, ${list} FROM ${table}`);
    return;
  }
  try {
    await knex.transaction(async (nested) => {
      await nested.raw('CREATE EXTENSION IF NOT EXISTS pg_trgm');
      const list = columns.map((column) => `${column} gin_trgm_ops`).join(', ');
      await nested.raw(`CREATE INDEX ${name} ON ${table} USING gin (${list})`);
    });
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error;
  }
}

/** Drops the index, for `uninstall` and migrations; the table may be gone. Does nothing if there is none. */
export async function dropTextIndex(
  knex: Knex,
  dialect: DatabaseApi['dialect'],
  { table }: Pick<TextIndex, 'table'>,
): Promise<void> {
  const statements =
    dialect === 'sqlite'
      ? [
          ...['added', 'changed', 'removed'].map((change) => `DROP TRIGGER IF EXISTS ${table}_${change}`),
          `DROP TABLE IF EXISTS ${table}_trigrams`,
        ]
      : [`DROP INDEX IF EXISTS ${table}_trigrams`];
  for (const statement of statements) await knex.raw(statement);
}

/** Of SQLite: the table of the index and its triggers, so that a restored backup has one. It stores no text. */
export function textIndexStatements({ table, columns, name }: TextIndex & { readonly name: string }): string[] {
  const list = columns.join(', ');
  const values = columns.map((column) => `new.${column}`).join(', ');
  const isChanged = columns.map((column) => `new.${column} <> old.${column}`).join(' OR ');
  const row = `(rowid, ${list}) VALUES (new.id, ${values})`;
  return [
    `CREATE VIRTUAL TABLE ${name} USING fts5(${list}, content='', contentless_delete=1, tokenize='trigram case_sensitive 1')`,
    `CREATE TRIGGER ${table}_added AFTER INSERT ON ${table} BEGIN INSERT INTO ${name} ${row}; END`,
    `CREATE TRIGGER ${table}_changed AFTER UPDATE ON ${table} WHEN ${isChanged} BEGIN INSERT OR REPLACE INTO ${name} ${row}; END`,
    `CREATE TRIGGER ${table}_removed AFTER DELETE ON ${table} BEGIN DELETE FROM ${name} WHERE rowid = old.id; END`,
  ];
}

export interface TextSearch extends TextIndex {
  /** In lower case. A row has each of them in one of the columns. */
  readonly texts: readonly string[];
  /** The columns that are searched. Default: all of the index. */
  readonly in?: readonly string[];
}

/**
 * Narrows a selection of the table to the rows of a search, by the index for texts of three characters or more.
 *
 * @returns whether the selection uses the index of SQLite: its planner does not know how few rows that finds.
 */
export function whereContains(
  select: Knex.QueryBuilder,
  dialect: DatabaseApi['dialect'],
  { texts, table, columns, in: searched = columns }: TextSearch,
): boolean {
  const isIndexed = (text: string): boolean =>
    dialect === 'sqlite' && Array.from(text).length >= indexedLength && !text.includes('\0');
  const phrases = texts.filter(isIndexed).map((text) => `{${searched.join(' ')}} : "${text.replaceAll('"', '""')}"`);
  // All in one: the rows of a frequent word alone are many.
  if (phrases.length > 0) {
    const name = `${table}_trigrams`;
    void select.whereRaw(`${table}.id IN (SELECT rowid FROM ${name} WHERE ${name} MATCH ?)`, [phrases.join(' AND ')]);
  }
  for (const text of texts.filter((one) => !isIndexed(one)))
    void select.where((either) => {
      for (const column of searched)
        void either.orWhereRaw(`${table}.${column} LIKE ? ESCAPE '\\'`, [`%${escapeLike(text)}%`]);
    });
  return phrases.length > 0;
}

/** The text with its wildcards escaped, for `LIKE ? ESCAPE '\'`. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
