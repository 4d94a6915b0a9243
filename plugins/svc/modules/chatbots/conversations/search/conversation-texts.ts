import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { DatabaseApi, Knex } from '#plugin-api';
import { tables, textVersion, trigramColumns, trigramIndex, trigramTable, unindexed } from '../conversation-tables.ts';
import { messageSeparator, toSearchText } from './search-text.ts';

/** The id of a text is that of its conversation times this, plus its position. */
export const textsPerConversation = 2 ** 20;
/** A text takes messages up to so many characters: rewriting it stays quick, and PostgreSQL stores it in its row. */
const fullLength = 1500;
const conversationsAtOnce = 50;
/** Pages that SQLite merges before other work runs: some 10 ms. */
const pagesAtOnce = 64;

interface TextRow {
  readonly id: number;
  readonly text: string;
}

/** Adds the texts of messages. The caller has locked the conversation. */
export async function addTexts(
  transaction: Knex.Transaction,
  conversationId: number,
  contents: readonly string[],
): Promise<void> {
  const [first, last] = idsOf(conversationId);
  const open = (await transaction<TextRow>(tables.texts)
    .whereBetween('id', [first, last])
    .orderBy('id', 'desc')
    .first()) as TextRow | undefined;
  const [row, ...rows] = pack(open ?? { id: first, text: '' }, contents);
  if (row === undefined) return;
  if (open === undefined) rows.unshift(row);
  else if (row.text !== open.text) await transaction(tables.texts).where({ id: row.id }).update({ text: row.text });
  if (rows.length > 0) await transaction(tables.texts).insert(rows);
}

/** Messages one after the other, in as few texts as have room for them. */
export function pack(open: TextRow, contents: readonly string[]): TextRow[] {
  const rows: { id: number; text: string }[] = [{ ...open }];
  for (const content of contents) {
    const text = toSearchText(content) + messageSeparator;
    const last = rows.at(-1);
    if (last !== undefined && (last.text === '' || last.text.length + text.length <= fullLength)) last.text += text;
    else rows.push({ id: open.id + rows.length, text });
  }
  return rows;
}

/** Replaces the texts of a conversation after a message of it was deleted. */
export async function rewriteTexts(transaction: Knex.Transaction, conversationId: number): Promise<void> {
  await deleteTexts(transaction, [conversationId]);
  const contents = (await transaction(tables.messages)
    .where({ conversation_id: conversationId })
    .orderBy('position')
    .pluck('content')) as string[];
  if (contents.length > 0) await addTexts(transaction, conversationId, contents);
}

/** @param ids at most 1,000 conversations. */
export async function deleteTexts(transaction: Knex.Transaction, ids: readonly number[]): Promise<void> {
  for (let start = 0; start < ids.length; start += 100)
    await transaction(tables.texts)
      .where((either) => {
        for (const id of ids.slice(start, start + 100)) void either.orWhereBetween('id', idsOf(id));
      })
      .delete();
}

/** The first and the last id of the texts of a conversation. */
export function idsOf(conversationId: number): [number, number] {
  return [conversationId * textsPerConversation, (conversationId + 1) * textsPerConversation - 1];
}

export type IndexDatabase = Pick<DatabaseApi, 'knex' | 'dialect' | 'direct' | 'transaction'>;

export interface IndexRun {
  readonly signal?: AbortSignal;
  readonly progress?: (done: number, total: number) => void;
  /** Whether to remove the words of deleted messages from the index file. */
  readonly compact?: boolean;
}

/**
 * Indexes what is not indexed yet and returns the number of those conversations. It can be stopped at any time and run on
 * several nodes; searches meanwhile look through the messages of the rest.
 */
export async function indexConversations(
  database: IndexDatabase,
  { signal, progress, compact = false }: IndexRun = {},
): Promise<number> {
  const { count } = (await unindexed(database.knex).count({ count: '*' }).first()) as { count: number };
  let done = 0;
  for (;;) {
    signal?.throwIfAborted();
    const indexed = (await indexSome(database, conversationsAtOnce)) || (await indexSome(database, 1));
    if (indexed === 0) break;
    done += indexed;
    progress?.(done, Math.max(done, Number(count)));
    await yieldToEventLoop();
  }
  if (database.dialect === 'postgresql') await createTrigramIndex(database.knex);
  else if (compact) await compactTrigrams(database, signal);
  return done;
}

/** Skips conversations that are being written, so that it waits for no lock while it holds others. A single one is waited for. */
async function indexSome({ transaction, dialect }: IndexDatabase, limit: number): Promise<number> {
  return transaction(async (trx) => {
    const query = unindexed(trx).orderBy('id').limit(limit);
    if (dialect === 'postgresql') void (limit > 1 ? query.forUpdate().skipLocked() : query.forUpdate());
    const ids = (await query.pluck('id')) as number[];
    if (ids.length === 0) return 0;
    const messages = (await trx(tables.messages)
      .whereIn('conversation_id', ids)
      .orderBy(['conversation_id', 'position'])
      .select('conversation_id', 'content')) as { conversation_id: number; content: string }[];
    const contents = new Map<number, string[]>();
    for (const { conversation_id: id, content } of messages) contents.set(id, [...(contents.get(id) ?? []), content]);
    // A node of an earlier version may have added some.
    await deleteTexts(trx, ids);
    const rows = [...contents].flatMap(([id, texts]) => pack({ id: idsOf(id)[0], text: '' }, texts));
    for (let start = 0; start < rows.length; start += 200)
      await trx(tables.texts).insert(rows.slice(start, start + 200));
    await trx(tables.conversations).whereIn('id', ids).update({ indexed: textVersion });
    return ids.length;
  });
}

/** Whether PostgreSQL's index is complete. Null: there is none. */
export async function findTrigramIndex(knex: Knex): Promise<boolean | null> {
  const { rows } = await knex.raw<{ rows: { indisvalid: boolean }[] }>(
    'SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)',
    [trigramIndex],
  );
  return rows[0]?.indisvalid ?? null;
}

/** Whether a session, of any process, creates the index right now. */
async function isBeingCreated(knex: Knex): Promise<boolean> {
  const { rows } = await knex.raw<{ rows: unknown[] }>(
    'SELECT 1 FROM pg_stat_progress_create_index WHERE datname = current_database() AND index_relid = to_regclass(?)',
    [trigramIndex],
  );
  return rows.length > 0;
}

/**
 * Creates PostgreSQL's index where there is none, beside writers. An interrupted attempt leaves an incomplete one. Without the
 * extension (the server may lack it, or the role the right to create it) every text is read; `doctor` says so.
 */
async function createTrigramIndex(knex: Knex): Promise<void> {
  const isComplete = await findTrigramIndex(knex);
  if (isComplete === true || (isComplete === false && (await isBeingCreated(knex)))) return;
  try {
    await knex.raw('CREATE EXTENSION IF NOT EXISTS pg_trgm');
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error;
    return;
  }
  if (isComplete === false) await knex.raw(`DROP INDEX IF EXISTS ${trigramIndex}`);
  await knex.raw(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${trigramIndex} ${trigramColumns}`);
}

/** SQLite rewrites its index in small steps. It keeps entries of deleted texts, without returning them, until then. */
async function compactTrigrams(database: IndexDatabase, signal: AbortSignal | undefined): Promise<void> {
  const merge = (pages: number): Promise<boolean> =>
    database.direct({
      sqlite: ({ run, rows }) => {
        const changes = (): number => Number(rows('SELECT total_changes()')[0]?.[0]);
        const before = changes();
        run(`INSERT INTO ${trigramTable} (${trigramTable}, rank) VALUES ('merge', ?)`, pages);
        // The statement itself is one change.
        return changes() - before >= 2;
      },
      postgresql: async () => false,
    });
  // A negative number of pages includes parts that are large already.
  for (let hasMore = await merge(-pagesAtOnce); hasMore; hasMore = await merge(pagesAtOnce)) {
    signal?.throwIfAborted();
    await yieldToEventLoop();
  }
}
