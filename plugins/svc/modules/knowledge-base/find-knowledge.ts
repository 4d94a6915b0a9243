import { isUrl, RestError, type HostApi } from '#plugin-api';
import type { SearchResult, SearchVectors } from '../../ai/search-vectors.ts';
import type {
  FindKnowledge,
  FindKnowledgeInput,
  KnowledgeSettings,
  KnowledgePassage,
} from '../../kit/assistants/assistant-knowledge.ts';
import './hooks.ts';

export interface FindKnowledgeParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock'>;
  readonly searchVectors: SearchVectors;
}

/** Milliseconds somebody waits for the knowledge before the answer is made without it. */
const patience = 10_000;
/** Characters of a question that are embedded; the rest says little and models have limits. */
const longestQuestion = 8_000;

/** See FindKnowledge. Keeps no state: any node may serve any call. */
export function createFindKnowledge({ host, searchVectors }: FindKnowledgeParts): FindKnowledge {
  const { hooks, clock } = host;

  async function placeOf(knowledge: KnowledgeSettings) {
    if (knowledge.base === 0) {
      return {
        store: knowledge.store,
        target: knowledge.target,
        namespace: knowledge.namespace,
        embedding: { provider: knowledge.embedding_provider, model: knowledge.embedding_model },
      };
    }
    const base = (await hooks.applyFiltersAsync('svc_knowledge_bases', [])).find(({ id }) => id === knowledge.base);
    if (base === undefined) throw unknownBase(knowledge.base);
    return {
      store: base.store,
      target: base.target,
      namespace: base.namespace,
      embedding: { provider: base.embeddingProvider, model: base.embeddingModel },
    };
  }

  async function search({ knowledge, text, origin, signal }: FindKnowledgeInput): Promise<SearchResult> {
    const limit = new AbortController();
    const undo = clock.after(patience, () => {
      limit.abort();
    });
    try {
      const { store, target, namespace, embedding } = await placeOf(knowledge);
      return await searchVectors({
        store,
        target,
        text: text.slice(0, longestQuestion),
        embedding,
        limit: knowledge.top_k,
        ...(namespace !== '' && { namespace }),
        signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
        origin,
      });
    } catch (error) {
      throw limit.signal.aborted && signal?.aborted !== true
        ? new Error(`The knowledge did not answer within ${String(patience / 1000)} seconds.`, { cause: error })
        : error;
    } finally {
      undo();
    }
  }

  return async (input) => {
    const { knowledge, text, origin, asker } = input;
    if (!knowledge.enabled) return [];
    const result = await search(input);
    const texts = matchingPassages(result, knowledge.min_score);
    if (texts.length === 0 && asker)
      await hooks.doActionAsync('svc_knowledge_missing', { knowledge, text, bestScore: bestOf(result), origin, asker });
    return texts;
  };
}

function bestOf({ found, metric }: SearchResult): number | null {
  return found.length === 0
    ? null
    : Math.round(Math.max(...found.map(({ score }) => similarityPercent(score, metric))));
}

function unknownBase(id: number): RestError {
  return new RestError({
    code: 'rest_svc_knowledge_base_not_found',
    status: 404,
    message: `There is no knowledge base ${String(id)}. Choose another one where it is used.`,
    data: { id },
  });
}

/** Characters of one text, and of all together: what an index was filled with must not make a question dear without end. */
const longest = { text: 8_000, all: 40_000, title: 200 } as const;
const titleNames = ['title', 'post_title', 'source_title', 'name', 'file_name', 'filename', 'file', 'source'] as const;
const addressNames = ['url', 'post_url', 'source_url', 'link', 'permalink', 'source'] as const;

/** What was found, as texts: those alike enough, each once, best first. */
export function matchingPassages(
  { found, metric }: Pick<SearchResult, 'found' | 'metric'>,
  minimum: number,
): KnowledgePassage[] {
  const texts: KnowledgePassage[] = [];
  let left: number = longest.all;
  for (const { id, content, metadata, score: given } of found) {
    const text = (content ?? '').trim().slice(0, Math.min(longest.text, left));
    const score = similarityPercent(given, metric);
    if (text === '' || score < minimum || texts.some((known) => known.text === text)) continue;
    left -= text.length;
    texts.push({ id, title: titleOf(metadata, text), url: addressOf(metadata), text, score: Math.round(score) });
  }
  return texts;
}

/**
 * A store's score in percent. Cosine and dot product: 1 is 100, 0 and less is 0; dot products of vectors that are not of
 * unit length mean little. Euclidean scores are distances below zero: 0 is 100, 1 is 50, 4 is 20.
 */
export function similarityPercent(score: number, metric: SearchResult['metric']): number {
  if (Number.isNaN(score)) return 0;
  const share = metric === 'euclidean' ? 1 / (1 + Math.max(0, -score)) : score;
  return Math.min(1, Math.max(0, share)) * 100;
}

type Metadata = Readonly<Record<string, unknown>>;

function titleOf(metadata: Metadata, text: string): string {
  const named = firstText(metadata, titleNames) ?? addressOf(metadata).replace(/^https?:\/\/|[?#].*$/g, '');
  const title = (named || text).replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
  const most = named === '' ? 60 : longest.title;
  return title.length > most ? `${title.slice(0, most - 1)}…` : title;
}

/** Never the address of a script: it becomes a link. */
function addressOf(metadata: Metadata): string {
  const address = firstText(metadata, addressNames, (text) => /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && isUrl(text));
  return address ?? '';
}

function firstText(
  metadata: Metadata,
  names: readonly string[],
  fits: (text: string) => boolean = () => true,
): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '' && fits(value.trim())) return value.trim();
  }
  return undefined;
}
