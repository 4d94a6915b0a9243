import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseApi } from '#plugin-api';
import { mediaMeta } from './media.ts';

const batchSize = 500;
/** Most names in the sentence. */
const maxNames = 3;

/**
 * A sentence about files that entries of the media library name and the folder of uploads lacks, for example after a restore
 * without them; null if all exist.
 *
 * @param dataDir `:memory:`: nothing is checked.
 */
export async function describeMissingUploads(
  { knex }: Pick<DatabaseApi, 'knex'>,
  dataDir: string,
): Promise<string | null> {
  if (dataDir === ':memory:') return null;
  const missing: string[] = [];
  for (let last = 0, size = batchSize; size === batchSize;) {
    const rows: { id: number; value: string }[] = await knex('post_meta')
      .where({ key: mediaMeta.file })
      .where('id', '>', last)
      .orderBy('id')
      .limit(batchSize)
      .select('id', 'value');
    for (const { value } of rows) {
      const file = String(JSON.parse(value));
      await access(join(dataDir, 'uploads', file)).catch(() => missing.push(file));
    }
    [last, size] = [rows.at(-1)?.id ?? last, rows.length];
  }
  if (missing.length === 0) return null;
  const names = missing.slice(0, maxNames).join(', ') + (missing.length > maxNames ? ', ...' : '');
  return (
    `${missing.length} ${missing.length === 1 ? 'file' : 'files'} of the media library ` +
    `${missing.length === 1 ? 'is' : 'are'} missing: ${names}. Copy the folder uploads of the former DATA_DIR.`
  );
}
