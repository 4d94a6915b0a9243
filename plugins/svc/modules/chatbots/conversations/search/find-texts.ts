import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DatabaseApi } from '#plugin-api';
import { tables, trigramTable, unindexed } from '../conversation-tables.ts';
import { fromGroups, toIdBits, union, type IdBits } from './id-bits.ts';
import { indexedLength, toNeedle, toSearchText } from './search-text.ts';

const conversationsAtOnce = 50;
/** Milliseconds that texts are looked through before other work runs. */
const longestBlock = 10;

/**
 * PostgreSQL returns groups of ids (see fromGroups), a sixteenth of the numbers of a common word. OFFSET keeps the planner from
 * expecting as many groups as texts, which it would not count in parallel; as a constant of its type it does not rule that out.
 */
const byTrigrams = {
  sqlite: `SELECT rowid >> 20 FROM ${trigramTable} WHERE ${trigramTable} MATCH ?`,
  // The search text has no character that is special here.
  postgresql: `SELECT (ids << 16) | bit_or(bit) FROM (
    SELECT id >> 24 AS ids, 1 << (id >> 20 & 15)::int AS bit FROM ${tables.texts} WHERE text LIKE $1 OFFSET '0'::bigint
  ) AS found GROUP BY ids`,
};
/** Parts of a scan, which SQLite reads in two threads at the same time. */
const scans = ['id <= ?', 'id > ?'].map((part) => ({
  ...byTrigrams,
  sqlite: `SELECT id >> 20 FROM ${tables.texts} WHERE ${part} AND instr(text, ?) > 0`,
}));

/** The conversations with the text in a message; null if the text is blank. Includes all that was written before the call. */
export async function findTexts(
  database: Pick<DatabaseApi, 'knex' | 'dialect' | 'readNumbers'>,
  text: string,
): Promise<IdBits | null> {
  const needle = text === '' ? text : toNeedle(text);
  if (needle === '') return null;
  // First: a conversation that is indexed in between is found twice, and never missed.
  const scanned = await scanUnindexed(database, needle);
  if (database.dialect === 'postgresql')
    return union(fromGroups(await database.readNumbers(byTrigrams, [`%${needle}%`])), toIdBits(scanned));
  const indexed = await findIndexed(database, needle);
  // Reading a million numbers and using them are two blocks of the event loop, not one.
  await yieldToEventLoop();
  return toIdBits(...indexed, scanned);
}

/** SQLite's ids of the conversations with the text. */
async function findIndexed(
  database: Pick<DatabaseApi, 'knex' | 'readNumbers'>,
  needle: string,
): Promise<Float64Array[]> {
  if (Array.from(needle).length >= indexedLength) return [await database.readNumbers(byTrigrams, [`"${needle}"`])];
  // Too short for trigrams: every text is read.
  const texts = () => database.knex(tables.texts);
  // SQLite takes one of them from the end of the table, but reads all of it for both in one statement.
  const ends = await Promise.all([texts().min({ id: 'id' }).first(), texts().max({ id: 'id' }).first()]);
  const middle = Math.floor(ends.reduce((sum, end) => sum + Number(end?.id), 0) / 2);
  return Promise.all(scans.map((select) => database.readNumbers(select, [middle, needle])));
}

/** Looks through the messages of conversations of earlier versions, in steps that let other work run. */
async function scanUnindexed({ knex }: Pick<DatabaseApi, 'knex'>, needle: string): Promise<number[]> {
  const found = new Set<number>();
  for (let after = 0; ;) {
    const ids = (await unindexed(knex)
      .where('id', '>', after)
      .orderBy('id')
      .limit(conversationsAtOnce)
      .pluck('id')) as number[];
    const last = ids.at(-1);
    if (last === undefined) return [...found];
    const messages = (await knex(tables.messages)
      .whereIn('conversation_id', ids)
      .select('conversation_id', 'content')) as { conversation_id: number; content: string }[];
    let since = performance.now();
    for (const { conversation_id: id, content } of messages) {
      if (!found.has(id) && toSearchText(content).includes(needle)) found.add(id);
      if (performance.now() - since < longestBlock) continue;
      await yieldToEventLoop();
      since = performance.now();
    }
    after = last;
    await yieldToEventLoop();
  }
}
