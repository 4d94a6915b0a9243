import type { DatabaseApi } from '#plugin-api';
import { mediaMeta } from './media.ts';
import type { UploadStore } from './upload-store.ts';

/** Files that are looked for at once: fewer than the connections that an SDK opens to a store. */
const batchSize = 40;
/** Most names in the sentence. */
const maxNames = 3;

/**
 * A sentence about files that entries of the media library name and the store of uploads lacks, for example after a restore
 * without them; null if all exist.
 */
export async function describeMissingUploads(
  { knex }: Pick<DatabaseApi, 'knex'>,
  uploads: Pick<UploadStore, 'has' | 'missingHint'>,
): Promise<string | null> {
  if (uploads.missingHint === null) return null;
  const missing: string[] = [];
  for (let last = 0, size = batchSize; size === batchSize;) {
    const rows: { id: number; value: string }[] = await knex('post_meta')
      .where({ key: mediaMeta.file })
      .where('id', '>', last)
      .orderBy('id')
      .limit(batchSize)
      .select('id', 'value');
    const files = rows.map(({ value }) => String(JSON.parse(value)));
    const found = await Promise.all(files.map((file) => uploads.has(file)));
    missing.push(...files.filter((_file, index) => found[index] === false));
    [last, size] = [rows.at(-1)?.id ?? last, rows.length];
  }
  if (missing.length === 0) return null;
  const names = missing.slice(0, maxNames).join(', ') + (missing.length > maxNames ? ', ...' : '');
  return (
    `${missing.length} ${missing.length === 1 ? 'file' : 'files'} of the media library ` +
    `${missing.length === 1 ? 'is' : 'are'} missing: ${names}. ${uploads.missingHint}`
  );
}
