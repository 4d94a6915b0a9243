import { segmentStates, tables } from '../conversation-tables.ts';
import { yieldToEventLoop, writeSegment } from './segment-store.ts';
import { mostTexts } from './postings.ts';
import { createSegmentBuilder, type SegmentBuilder, type SegmentRow } from './segment-builder.ts';
import { beginSegment, type IndexDatabase } from './segment-store.ts';

/** So many segments of about one size are made into one. */
const mostAlike = 8;
const rowsAtOnce = 1000;

interface Segment {
  readonly id: number;
  readonly conversations: Uint32Array;
}

export function asConversations(bytes: Uint8Array): Uint32Array {
  // A copy: numbers of four bytes must begin at a multiple of four.
  return new Uint32Array(Uint8Array.from(bytes).buffer);
}

/** Small segments of similar size that should be merged, oldest first. May be empty. */
export async function segmentsToMerge(database: IndexDatabase): Promise<readonly Segment[]> {
  const segments = await liveSegments(database);
  for (const below of [2_000, 16_000, mostTexts]) {
    const alike: Segment[] = [];
    let size = 0;
    for (const segment of segments) {
      if (segment.conversations.length >= below || size + segment.conversations.length > mostTexts) continue;
      alike.push(segment);
      size += segment.conversations.length;
    }
    if (alike.length >= mostAlike) return alike;
  }
  return [];
}

async function liveSegments(database: IndexDatabase): Promise<readonly Segment[]> {
  const rows = (await database
    .knex(tables.segments)
    .where({ state: segmentStates.live })
    .orderBy('id')
    .select('id', 'conversations')) as { id: number; conversations: Uint8Array }[];
  return rows.map(({ id, conversations }) => ({ id, conversations: asConversations(conversations) }));
}

/** Segments that contain deleted conversations. */
export async function segmentsWithGone(database: IndexDatabase): Promise<readonly Segment[]> {
  const found: Segment[] = [];
  for (const segment of await liveSegments(database))
    if ((await withoutGone(database, segment)).includes(0)) found.push(segment);
  return found;
}

/**
 * Merges segments into one, without deleted texts. Returns false if a message was deleted in the meantime.
 */
export async function mergeSegments(
  database: IndexDatabase,
  segments: readonly Segment[],
  pairsFrom?: number,
): Promise<boolean> {
  const segmentId = await beginSegment(database);
  const builder = createSegmentBuilder(pairsFrom);
  for (const segment of segments) {
    const numbers = builder.takeTexts(await withoutGone(database, segment));
    await takeOverWords(database, { builder, segmentId: segment.id, numbers });
  }
  return writeSegment(database, builder, {
    segmentId,
    conversations: builder.conversations(),
    messages: [],
    replaces: segments.map(({ id }) => id),
  });
}

/** The conversations of the texts; deleted ones are 0. */
async function withoutGone(database: IndexDatabase, { id, conversations }: Segment): Promise<Uint32Array> {
  const dead = (await database
    .knex(tables.indexTombstones)
    .where('segment_id', '>=', id)
    .pluck('conversation_id')) as number[];
  const alive = new Set<number>();
  const ids = [...new Set(conversations)];
  for (let start = 0; start < ids.length; start += rowsAtOnce) {
    const found = (await database
      .knex(tables.conversations)
      .whereIn('id', ids.slice(start, start + rowsAtOnce))
      .pluck('id')) as number[];
    for (const one of found) alive.add(one);
  }
  for (const one of dead) alive.delete(one);
  return conversations.map((one) => (alive.has(one) ? one : 0));
}

interface TakeOver {
  readonly builder: SegmentBuilder;
  readonly segmentId: number;
  readonly numbers: Int32Array;
}

async function takeOverWords(database: IndexDatabase, { builder, segmentId, numbers }: TakeOver): Promise<void> {
  for (let after = 0; ;) {
    const rows = await wordRows(database, segmentId, after);
    for (const [index, row] of rows.entries()) {
      builder.takeOver(row, numbers);
      if (index % 20 === 0) await yieldToEventLoop();
    }
    if (rows.length < rowsAtOnce) return;
    after = rows.at(-1)?.termId ?? 0;
  }
}

type WordRow = Pick<SegmentRow, 'term' | 'texts' | 'positions'> & { readonly termId: number };

async function wordRows(database: IndexDatabase, segmentId: number, after: number): Promise<WordRow[]> {
  const sql = (mark: (index: number) => string): string =>
    `SELECT texts.term_id, terms.term, texts.texts, positions.positions FROM ${tables.postings} texts JOIN ${tables.terms} terms ON terms.id = texts.term_id
     LEFT JOIN ${tables.positions} positions ON positions.term_id = texts.term_id AND positions.segment_id = texts.segment_id
     WHERE texts.segment_id = ${mark(1)} AND texts.term_id > ${mark(2)} AND terms.kind IN (0, 2) ORDER BY texts.term_id LIMIT ${String(rowsAtOnce)}`;
  const rows = await database.direct(
    {
      sqlite: (connection) =>
        connection.rows(
          sql(() => '?'),
          segmentId,
          after,
        ),
      postgresql: async (connection) =>
        (
          await connection.rows(
            sql((index) => `$${String(index)}`),
            [segmentId, after],
          )
        ).rows,
    },
    { readOnly: true },
  );
  return rows.map(([termId, term, texts, positions]) => ({
    termId: Number(termId),
    term: String(term),
    texts: texts as Uint8Array,
    positions: positions as Uint8Array | null,
  }));
}
