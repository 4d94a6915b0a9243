import { RestError } from '#plugin-api';
import type { KnowledgeBase } from '../bases/base-store.ts';
import { createChunkRows } from '../chunks/chunk-rows.ts';
import type { IndexParts } from '../knowledge.ts';

export interface Deletion {
  readonly sourceId: number;
  readonly base: Pick<KnowledgeBase, 'store' | 'target' | 'namespace'>;
  /** Ids of vectors to keep; null deletes all. */
  readonly current: ReadonlySet<string> | null;
}

const batchSize = 500;

/** Deletes vectors of a source from its store, then their rows; returns how many. A missing index or collection is no error. */
export async function deleteVectors(
  parts: Pick<IndexParts, 'host' | 'openVectorStore'>,
  { sourceId, base, current }: Deletion,
  signal: AbortSignal,
): Promise<number> {
  const rows = createChunkRows(parts.host.database);
  let deleted = 0;
  for (
    let stale = await rows.markStale(sourceId, { current, limit: batchSize });
    stale.length > 0;
    stale = await rows.markStale(sourceId, { current, limit: batchSize })
  ) {
    const store = await parts.openVectorStore(base.store, { signal });
    await store
      .deleteIds(base.target, stale, base.namespace === '' ? {} : { namespace: base.namespace })
      .catch(ignoreMissingTarget);
    await rows.remove(sourceId, stale);
    deleted += stale.length;
    signal.throwIfAborted();
  }
  return deleted;
}

function ignoreMissingTarget(error: unknown): void {
  if (!(error instanceof RestError && error.code === 'rest_svc_vector_target_not_found')) throw error;
}
