import { RestError } from '#plugin-api';
import type { KnowledgeBase } from '../bases/base.ts';
import { createChunkRows } from '../chunks/chunk-rows.ts';
import type { IndexParts } from './index-parts.ts';

export interface Deletion {
  readonly sourceId: number;
  readonly base: Pick<KnowledgeBase, 'store' | 'target' | 'namespace'>;
  /** Vectors that stay; null: none do. */
  readonly kept: ReadonlySet<string> | null;
  /** Throws when the work is not ours any more. */
  readonly hold: () => Promise<void>;
}

const atOnce = 500;

/** Deletes vectors of a source from its store, and then what is known of them. Answers how many. An index or collection that is gone holds none. */
export async function deleteVectors(
  parts: Pick<IndexParts, 'host' | 'openVectorStore'>,
  { sourceId, base, kept, hold }: Deletion,
  signal: AbortSignal,
): Promise<number> {
  const rows = createChunkRows(parts.host.database);
  let deleted = 0;
  for (
    let stale = await rows.takeStale(sourceId, { kept, limit: atOnce });
    stale.length > 0;
    stale = await rows.takeStale(sourceId, { kept, limit: atOnce })
  ) {
    const store = await parts.openVectorStore(base.store, { signal });
    await store
      .deleteIds(base.target, stale, base.namespace === '' ? {} : { namespace: base.namespace })
      .catch(unlessGone);
    await rows.forget(sourceId, stale);
    deleted += stale.length;
    await hold();
  }
  return deleted;
}

function unlessGone(error: unknown): void {
  if (!(error instanceof RestError && error.code === 'rest_svc_vector_target_not_found')) throw error;
}
