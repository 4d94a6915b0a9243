import { withoutUndefined } from '#plugin-api';
import { currentDryRun } from '../kit/dry-run.ts';
import { errors } from '../kit/errors.ts';
import type { VectorFilter } from '../vector-stores/vector-filter.ts';
import type { FoundVector, VectorMetric } from '../vector-stores/vector-store.ts';
import { checkDimension } from './open-vector-store.ts';
import type { Embed } from './embed.ts';
import type { OpenStore } from './open-vector-store.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';

export interface SearchInput {
  /** Id of a vector store. */
  readonly store: string;
  readonly target: string;
  /** A text, and the provider and model that embedded the texts of its target. */
  readonly text: string;
  readonly embedding: { readonly provider: string; readonly model: string };
  /** Maximum number of results, 1 or more. */
  readonly limit: number;
  readonly filter?: VectorFilter | undefined;
  readonly namespace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the usage ledger. */
  readonly origin?: UsageOrigin | undefined;
}

export interface SearchResult {
  /** Nearest first. */
  readonly found: readonly FoundVector[];
  /** The metric of the scores in `found`; null if the store does not report it. */
  readonly metric: VectorMetric | null;
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number };
}

export type SearchVectors = (input: SearchInput) => Promise<SearchResult>;

/**
 * The stored texts nearest to a text. To search by a vector, use `openStore(id)` and its `query`.
 *
 * @throws RestError of D5: 404 for an unknown target, 400 if its vectors have another length.
 */
export function createSearchVectors({
  openStore,
  embed,
}: {
  readonly openStore: OpenStore;
  readonly embed: Embed;
}): SearchVectors {
  return async ({ store: storeId, target: name, text, embedding, limit, filter, namespace, signal, origin }) => {
    if (text.trim() === '') throw errors.empty_input({ values: { name: 'The text' } });
    const session = await openStore(storeId, { signal });
    const { store } = session;
    const embedText = () =>
      embed({
        provider: embedding.provider,
        model: embedding.model,
        input: [text],
        taskType: 'RETRIEVAL_QUERY',
        signal,
        origin,
      });
    // A dry run ends here (D31): it contacts no store.
    if (currentDryRun() !== undefined) await embedText();
    const target = await session.describe(name);
    if (target === null)
      throw errors.vector_target_not_found({
        values: { provider: store.label, target: name },
        data: { provider: store.id, provider_status: 404 },
      });
    const { embeddings, usage } = await embedText();
    const vector = embeddings[0] ?? [];
    checkDimension({ store, target, model: embedding.model, vector });
    const found = await session.query(name, { vector, limit, ...withoutUndefined({ filter, namespace }) });
    return { found, metric: target.metric, usage };
  };
}
