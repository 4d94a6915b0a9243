import type { Logger } from '#plugin-api';
import { tables } from '../conversation-tables.ts';
import { createSegmentBuilder, type SegmentBuilder } from './segment-builder.ts';
import { beginSegment, type IndexDatabase } from './segment-store.ts';
import { foldForSearch } from './tokens.ts';
import { tidyIndex } from './tidy-index.ts';
import { mergeSegments, segmentsToMerge, segmentsWithGone } from './merge-segments.ts';
import { yieldToEventLoop, writeSegment } from './segment-store.ts';

/** With fewer new messages, each search scans them instead of indexing them. */
export const worthIndexing = 200;
const messagesAtOnce = 20_000;
/** Milliseconds. The node that maintains the index renews its lease. */
const leaseTime = 60_000;

export interface IndexMaintenance {
  readonly database: IndexDatabase;
  readonly log: Pick<Logger, 'info'>;
  /** Texts of a segment from which its common words are paired. Default 4,096. */
  readonly pairsFrom?: number | undefined;
}

/**
 * Updates the index: indexes new messages, merges small segments, and removes replaced ones. One node at a time; others
 * return false at once. If it is interrupted, searches are slower but correct.
 *
 * @param options `all`: index the last few messages too. `purge`: rewrite segments that contain deleted conversations.
 */
export async function maintainIndex(
  parts: IndexMaintenance,
  { all = false, purge = false }: { readonly all?: boolean; readonly purge?: boolean } = {},
): Promise<boolean> {
  const { database, pairsFrom } = parts;
  if (!(await takeLease(database))) return false;
  try {
    while (await indexPending(parts, all ? 1 : worthIndexing)) await renewLease(database);
    for (let group = await segmentsToMerge(database); group.length > 0; group = await segmentsToMerge(database)) {
      if (!(await mergeSegments(database, group, pairsFrom))) break;
      await renewLease(database);
    }
    for (const segment of purge ? await segmentsWithGone(database) : []) {
      await mergeSegments(database, [segment], pairsFrom);
      await renewLease(database);
    }
    await tidyIndex(database);
    return true;
  } finally {
    await database.knex(tables.state).where({ name: 'index_lease' }).update({ value: 0 });
  }
}

async function takeLease(database: IndexDatabase): Promise<boolean> {
  const taken = await database
    .knex(tables.state)
    .where({ name: 'index_lease' })
    .where('value', '<', database.now())
    .update({ value: database.knex.raw('? + ?', [database.now(), leaseTime]) });
  return taken > 0;
}

async function renewLease(database: IndexDatabase): Promise<void> {
  await database
    .knex(tables.state)
    .where({ name: 'index_lease' })
    .update({ value: database.knex.raw('? + ?', [database.now(), leaseTime]) });
}

/** Writes one segment of new messages. Returns whether there was anything to index. */
async function indexPending({ database, pairsFrom }: IndexMaintenance, atLeast: number): Promise<boolean> {
  const rows = (await database
    .knex(tables.messages)
    .where({ indexed: 0 })
    .orderBy(['conversation_id', 'position'])
    .limit(messagesAtOnce)
    .select('id', 'conversation_id', 'content')) as PendingRow[];
  if (rows.length < atLeast) return false;
  const segmentId = await beginSegment(database);
  const builder = createSegmentBuilder(pairsFrom);
  await addTexts(builder, rows);
  await writeSegment(database, builder, {
    segmentId,
    conversations: builder.conversations(),
    messages: rows.map(({ id }) => id),
    replaces: [],
  });
  return true;
}

interface PendingRow {
  readonly id: number;
  readonly conversation_id: number;
  readonly content: string;
}

async function addTexts(builder: SegmentBuilder, rows: readonly PendingRow[]): Promise<void> {
  for (let first = 0; first < rows.length;) {
    const conversation = rows[first]?.conversation_id ?? 0;
    let next = first;
    while (rows[next]?.conversation_id === conversation) next += 1;
    builder.add(
      conversation,
      rows.slice(first, next).map(({ content }) => foldForSearch(content)),
    );
    if (builder.size() % 50 === 0) await yieldToEventLoop();
    first = next;
  }
}
