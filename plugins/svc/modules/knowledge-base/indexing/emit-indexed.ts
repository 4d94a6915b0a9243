import type { Knex } from '#plugin-api';
import type { EventData } from '../../../kit/define-event.ts';
import type { KnowledgeBase } from '../bases/base.ts';
import type { sourceIndexedEvent } from '../source-indexed.event.ts';
import type { Source } from '../sources/source.ts';
import type { IndexParts } from './index-parts.ts';

/** `kb.source_indexed` (contract 6.5), once for each version of a source that was indexed (D19). */
export async function emitIndexed(
  parts: Pick<IndexParts, 'host' | 'labelOf' | 'vectorStores'>,
  { source, base, message }: { readonly source: Source; readonly base: KnowledgeBase; readonly message: string },
  transaction: Knex.Transaction,
): Promise<void> {
  const data = {
    source: {
      log_id: source.id,
      post_id: source.postId,
      post_title: source.title,
      post_url: source.url === '' ? null : source.url,
    },
    provider: parts.vectorStores.get(base.store)?.label ?? base.store,
    store: { id: base.target, name: base.name },
    status: 'indexed',
    message,
    embedding: { provider: await parts.labelOf(base.embeddingProvider), model: base.embeddingModel },
  } satisfies EventData<typeof sourceIndexedEvent>;
  const key = [source.version];
  await parts.host.hooks.doActionAsync('svc_event_emit', 'kb.source_indexed', data, {
    origin: source.origin,
    key,
    transaction,
  });
}
