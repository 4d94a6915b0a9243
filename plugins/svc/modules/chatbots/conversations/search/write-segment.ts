import type { SegmentBuilder, SegmentRow } from './segment-builder.ts';
import { insertRows, publishSegment, type IndexDatabase, type Publication } from './segment-store.ts';

const rowsAtOnce = 250;

/** Resolves after everything that waits has had its turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Writes the rows in small steps that hold up nobody, and then makes the segment count. */
export async function writeSegment(
  database: IndexDatabase,
  builder: SegmentBuilder,
  publication: Publication,
): Promise<boolean> {
  let batch: SegmentRow[] = [];
  for (const row of builder.rows()) {
    if (row === null) {
      await nextTurn();
      continue;
    }
    batch.push(row);
    if (batch.length < rowsAtOnce) continue;
    await insertRows(database, publication.segmentId, batch);
    await nextTurn();
    batch = [];
  }
  if (batch.length > 0) await insertRows(database, publication.segmentId, batch);
  return publishSegment(database, publication);
}
