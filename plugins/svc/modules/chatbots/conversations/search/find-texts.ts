import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DatabaseApi } from '#plugin-api';
import { tables, trigramTable, unindexed } from '../conversation-tables.ts';
import { elements, type Sql } from './log-query.ts';
import { indexedLength, toNeedle, toSearchText } from './search-text.ts';

const conversationsAtOnce = 50;
/** Milliseconds that texts are looked through before other work runs. */
const longestBlock = 10;

/**
 * Selects the ids of the conversations with the text in a message, with all that was written before the call.
 * Null: it is blank.
 */
export async function selectTexts(database: Pick<DatabaseApi, 'knex' | 'dialect'>, text = ''): Promise<Sql | null> {
  const needle = text === '' ? text : toNeedle(text);
  if (needle === '') return null;
  // First: a conversation that is indexed in between is found twice, and never missed.
  const scanned = await scanUnindexed(database, needle);
  const { sql, values } = selectIndexed(database.dialect, needle);
  return scanned.length === 0
    ? { sql, values }
    : { sql: `${sql} UNION ALL ${elements[database.dialect]}`, values: [...values, JSON.stringify(scanned)] };
}

/** No needle has a character that is special here. */
function selectIndexed(dialect: DatabaseApi['dialect'], needle: string): Sql {
  if (dialect === 'postgresql')
    return { sql: `SELECT id >> 20 FROM ${tables.texts} WHERE text LIKE ?`, values: [`%${needle}%`] };
  // Too short for trigrams: every text is read.
  if (Array.from(needle).length < indexedLength)
    return { sql: `SELECT id >> 20 FROM ${tables.texts} WHERE instr(text, ?) > 0`, values: [needle] };
  return {
    sql: `SELECT rowid >> 20 FROM ${trigramTable} WHERE ${trigramTable} MATCH ?`,
    values: [`"${needle}"`],
  };
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
