import type { HostApi } from '#plugin-api';
import { similarityPercent } from './find-knowledge.ts';
import type { SearchVectors } from '../../ai/search-vectors.ts';
import type { UsageOrigin } from '../../kit/usage-origin.ts';
import type { KnowledgeBase } from './bases/base.ts';
import './hooks.ts';

export interface FoundPassage {
  /** Of its vector. */
  readonly id: string;
  /** Id of the source; null: something else filled the index or collection. */
  readonly sourceId: number | null;
  readonly title: string;
  readonly url: string;
  readonly heading: string;
  readonly text: string;
  /** Percent, 0 to 100, with one decimal. */
  readonly score: number;
}

export const searchOrigin: UsageOrigin = { module: 'knowledge-base', route: null, botId: null, reference: null };

/** What a knowledge base holds that is most like a question. @throws RestError of D5 */
export async function searchKnowledge(
  { host, searchVectors }: { readonly host: Pick<HostApi, 'hooks'>; readonly searchVectors: SearchVectors },
  base: KnowledgeBase,
  { text, limit, signal }: { readonly text: string; readonly limit: number; readonly signal?: AbortSignal | undefined },
): Promise<readonly FoundPassage[]> {
  const { found, metric } = await searchVectors({
    store: base.store,
    target: base.target,
    text,
    limit,
    signal,
    origin: searchOrigin,
    embedding: { provider: base.embeddingProvider, model: base.embeddingModel },
    ...(base.namespace !== '' && { namespace: base.namespace }),
  });
  const passages = found.map(({ id, content, metadata, score }): FoundPassage => ({
    id,
    sourceId: typeof metadata['kb_source'] === 'number' ? metadata['kb_source'] : null,
    title: stringOf(metadata['title']),
    url: stringOf(metadata['url']),
    heading: stringOf(metadata['heading']),
    text: content ?? '',
    score: Math.round(similarityPercent(score, metric) * 10) / 10,
  }));
  return host.hooks.applyFiltersAsync('svc_knowledge_results', passages, { base, text });
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
