import type { DatabaseApi, Knex } from '#plugin-api';
import { segmentStates, tables } from '../conversation-tables.ts';
import type { SegmentRow, SegmentBuilder } from './segment-builder.ts';

const rowsAtOnce = 250;

/** Yields to other work that waits on the event loop. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Writes the rows in small steps, then makes the segment live. */
export async function writeSegment(
  database: IndexDatabase,
  builder: SegmentBuilder,
  publication: Publication,
): Promise<boolean> {
  let batch: SegmentRow[] = [];
  for (const row of builder.rows()) {
    if (row === null) {
      await yieldToEventLoop();
      continue;
    }
    batch.push(row);
    if (batch.length < rowsAtOnce) continue;
    await insertRows(database, publication.segmentId, batch);
    await yieldToEventLoop();
    batch = [];
  }
  if (batch.length > 0) await insertRows(database, publication.segmentId, batch);
  return publishSegment(database, publication);
}

export type IndexDatabase = Pick<DatabaseApi, 'knex' | 'direct' | 'transaction' | 'dialect' | 'now'>;

/** Locks the index until the transaction ends and increases its generation, so that caches are read again. */
export async function holdIndex(transaction: Knex.Transaction): Promise<void> {
  await transaction(tables.state).where({ name: 'index_generation' }).increment('value', 1);
}

/** Creates a segment that searches do not see yet. */
export async function beginSegment(database: IndexDatabase): Promise<number> {
  const [row] = await database
    .knex(tables.segments)
    .insert({ state: segmentStates.building, changed_at: database.now() })
    .returning('id');
  return Number((row as { id: number } | undefined)?.id);
}

/** @param rows a few hundred: they hold up SQLite's writers together. */
export async function insertRows(
  database: IndexDatabase,
  segmentId: number,
  rows: readonly SegmentRow[],
): Promise<void> {
  await database.direct({
    sqlite({ run, rows: select }) {
      for (const { kind, term, texts, positions } of rows) {
        const found = select(`SELECT id FROM ${tables.terms} WHERE kind = ? AND term = ?`, kind, term)[0]?.[0];
        const id =
          found ??
          run(
            `INSERT INTO ${tables.terms} (kind, term, backwards) VALUES (?, ?, ?)`,
            kind,
            term,
            kind === 0 ? backwards(term) : null,
          ).lastId;
        run(
          `INSERT INTO ${tables.postings} (term_id, segment_id, texts) VALUES (?, ?, ?)`,
          Number(id),
          segmentId,
          texts,
        );
        if (positions !== null)
          run(
            `INSERT INTO ${tables.positions} (term_id, segment_id, positions) VALUES (?, ?, ?)`,
            Number(id),
            segmentId,
            positions,
          );
      }
    },
    async postgresql({ rows: query }) {
      const kinds = rows.map(({ kind }) => kind);
      const terms = rows.map(({ term }) => term);
      await query(
        `INSERT INTO ${tables.terms} (kind, term, backwards)
         SELECT given.kind, given.term, given.backwards FROM unnest($1::smallint[], $2::text[], $3::text[]) AS given (kind, term, backwards)
         WHERE NOT EXISTS (SELECT 1 FROM ${tables.terms} known WHERE known.kind = given.kind AND known.term = given.term COLLATE "C") ON CONFLICT DO NOTHING`,
        [kinds, terms, rows.map(({ kind, term }) => (kind === 0 ? backwards(term) : null))],
      );
      await query(
        `WITH given AS MATERIALIZED (
           SELECT terms.id AS term_id, given.texts, given.positions FROM unnest($2::smallint[], $3::text[], $4::bytea[], $5::bytea[]) AS given (kind, term, texts, positions)
           JOIN ${tables.terms} terms ON terms.kind = given.kind AND terms.term = given.term COLLATE "C"
         ), placed AS (INSERT INTO ${tables.positions} (term_id, segment_id, positions) SELECT term_id, $1, positions FROM given WHERE positions IS NOT NULL)
         INSERT INTO ${tables.postings} (term_id, segment_id, texts) SELECT term_id, $1, texts FROM given`,
        [
          segmentId,
          kinds,
          terms,
          rows.map(({ texts }) => asBytea(texts)),
          rows.map(({ positions }) => (positions === null ? null : asBytea(positions))),
        ],
      );
    },
  });
}

/** Lists of bytes are sent as text: the driver would write them as JSON. */
function asBytea(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

export function backwards(word: string): string {
  return Array.from(word).reverse().join('');
}

export interface Publication {
  readonly segmentId: number;
  readonly conversations: Uint32Array;
  /** Ids of the rows of messages that it holds for the first time. */
  readonly messages: readonly number[];
  /** Segments that it replaces. */
  readonly replaces: readonly number[];
}

/**
 * Makes a segment live, atomically. Returns false and drops the segment if it is out of date: one of its messages or one of
 * the replaced segments was deleted in the meantime.
 */
export async function publishSegment(
  database: IndexDatabase,
  { segmentId, conversations, messages, replaces }: Publication,
): Promise<boolean> {
  const bytes = Buffer.from(conversations.buffer, conversations.byteOffset, conversations.byteLength);
  const published = await database
    .transaction(async (transaction) => {
      await holdIndex(transaction);
      const newDead = await transaction(tables.indexTombstones)
        .where('segment_id', '>=', segmentId)
        .first('segment_id');
      const replaced = await transaction(tables.segments)
        .whereIn('id', [...replaces])
        .where({ state: segmentStates.live })
        .update({ state: segmentStates.dropped, changed_at: database.now() });
      const counted = await markIndexed(database, transaction, messages);
      if (newDead !== undefined || replaced !== replaces.length || counted !== messages.length) throw new OutOfDate();
      const live = await transaction(tables.segments)
        .where({ id: segmentId, state: segmentStates.building })
        .update({ state: segmentStates.live, conversations: bytes, changed_at: database.now() });
      if (live === 0) throw new OutOfDate();
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof OutOfDate) return false;
      throw error;
    });
  if (!published)
    await database
      .knex(tables.segments)
      .where({ id: segmentId })
      .update({ state: segmentStates.dropped, changed_at: 0 });
  return published;
}

class OutOfDate extends Error {}

async function markIndexed(
  database: IndexDatabase,
  transaction: Knex.Transaction,
  messages: readonly number[],
): Promise<number> {
  if (messages.length === 0) return 0;
  return database.direct(
    {
      sqlite: ({ run }) =>
        run(
          `UPDATE ${tables.messages} SET indexed = 1 WHERE indexed = 0 AND id IN (SELECT value FROM json_each(?))`,
          JSON.stringify(messages),
        ).changes,
      postgresql: async ({ rows }) =>
        (await rows(`UPDATE ${tables.messages} SET indexed = 1 WHERE indexed = 0 AND id = ANY($1)`, [messages]))
          .changes,
    },
    { transaction },
  );
}
