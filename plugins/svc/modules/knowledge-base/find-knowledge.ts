import { isUrl, RestError, type HostApi } from '#plugin-api';
import type { SearchResult, SearchVectors } from '../../ai/search-vectors.ts';
import type {
  FindKnowledge,
  FindKnowledgeInput,
  KnowledgeSettings,
  KnowledgePassage,
} from '../../kit/assistants/assistant-knowledge.ts';
import './hooks.ts';
import type { UsageOrigin } from '../../kit/usage-origin.ts';
import type { KnowledgeBase } from './bases/base-store.ts';

export interface FoundPassage {
  /** Id of its vector. */
  readonly id: string;
  /** Id of the source; null for a passage that no knowledge base added. */
  readonly sourceId: number | null;
  readonly title: string;
  readonly url: string;
  readonly heading: string;
  readonly text: string;
  /** Percent, 0 to 100, with one decimal. */
  readonly score: number;
}

const searchOrigin: UsageOrigin = { module: 'knowledge-base', route: null, botId: null, reference: null };

export interface SearchInit {
  readonly text: string;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
  /** Default: the module itself. */
  readonly origin?: UsageOrigin;
}

/** The passages of a knowledge base that match a question best. @throws RestError of D5 */
export async function searchKnowledge(
  { host, searchVectors }: { readonly host: Pick<HostApi, 'hooks'>; readonly searchVectors: SearchVectors },
  base: KnowledgeBase,
  { text, limit, signal, origin = searchOrigin }: SearchInit,
): Promise<readonly FoundPassage[]> {
  const { found, metric } = await searchVectors({
    store: base.store,
    target: base.target,
    text,
    limit,
    signal,
    origin,
    embedding: { provider: base.embeddingProvider, model: base.embeddingModel },
    ...(base.namespace !== '' && { namespace: base.namespace }),
  });
  const passages = found.map(({ id, content, metadata, score }): FoundPassage => ({
    id,
    sourceId: typeof metadata['kb_source'] === 'number' ? metadata['kb_source'] : null,
    title: toText(metadata['title']),
    url: toText(metadata['url']),
    heading: toText(metadata['heading']),
    text: content ?? '',
    score: Math.round(similarityPercent(score, metric) * 10) / 10,
  }));
  return host.hooks.applyFiltersAsync('svc_knowledge_results', passages, { base, text });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export interface FindKnowledgeParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock'>;
  readonly searchVectors: SearchVectors;
}

/** In milliseconds; after it the model answers without the knowledge. */
const searchTimeout = 10_000;
/** Characters of a question that are embedded; models have limits. */
const maxQuestionLength = 8_000;

/** See FindKnowledge. Stateless: any node can serve any call. */
export function createFindKnowledge({ host, searchVectors }: FindKnowledgeParts): FindKnowledge {
  const { hooks, clock } = host;

  async function resolveTarget(knowledge: KnowledgeSettings) {
    if (knowledge.base === 0) {
      return {
        store: knowledge.store,
        target: knowledge.target,
        namespace: knowledge.namespace,
        embedding: { provider: knowledge.embedding_provider, model: knowledge.embedding_model },
      };
    }
    const base = (await hooks.applyFiltersAsync('svc_knowledge_bases', [])).find(({ id }) => id === knowledge.base);
    if (base === undefined) throw baseNotFoundError(knowledge.base);
    return {
      store: base.store,
      target: base.target,
      namespace: base.namespace,
      embedding: { provider: base.embeddingProvider, model: base.embeddingModel },
    };
  }

  async function search({ knowledge, text, origin, signal }: FindKnowledgeInput): Promise<SearchResult> {
    const limit = new AbortController();
    const undo = clock.after(searchTimeout, () => {
      limit.abort();
    });
    try {
      const { store, target, namespace, embedding } = await resolveTarget(knowledge);
      return await searchVectors({
        store,
        target,
        text: text.slice(0, maxQuestionLength),
        embedding,
        limit: knowledge.top_k,
        ...(namespace !== '' && { namespace }),
        signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
        origin,
      });
    } catch (error) {
      throw limit.signal.aborted && signal?.aborted !== true
        ? new Error(`The search of the knowledge base timed out after ${String(searchTimeout / 1000)} seconds.`, {
            cause: error,
          })
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
      await hooks.doActionAsync('svc_knowledge_missing', {
        knowledge,
        text,
        bestScore: bestScore(result),
        origin,
        asker,
      });
    return texts;
  };
}

function bestScore({ found, metric }: SearchResult): number | null {
  return found.length === 0
    ? null
    : Math.round(Math.max(...found.map(({ score }) => similarityPercent(score, metric))));
}

function baseNotFoundError(id: number): RestError {
  return new RestError({
    code: 'rest_svc_knowledge_base_not_found',
    status: 404,
    message: `The knowledge base ${String(id)} does not exist. Choose another one in the settings of the chatbot or form.`,
    data: { id },
  });
}

/** Maximum characters; they limit the cost of a question. */
const longest = { text: 8_000, all: 40_000, title: 200 } as const;
const titleKeys = ['title', 'post_title', 'source_title', 'name', 'file_name', 'filename', 'file', 'source'] as const;
const urlKeys = ['url', 'post_url', 'source_url', 'link', 'permalink', 'source'] as const;

/**
 * The distinct passages that match at all, best first. A score depends on language and model more than on rightness, so the
 * minimum is relative to the best passage (D53).
 *
 * @param minimum percent of the score of the best passage; 0 for none
 */
export function matchingPassages(
  { found, metric }: Pick<SearchResult, 'found' | 'metric'>,
  minimum: number,
): KnowledgePassage[] {
  const texts: KnowledgePassage[] = [];
  let left: number = longest.all;
  const best = Math.max(0, ...found.map(({ score }) => similarityPercent(score, metric)));
  for (const { id, content, metadata, score: given } of found) {
    const text = (content ?? '').trim().slice(0, Math.min(longest.text, left));
    const score = similarityPercent(given, metric);
    if (text === '' || score === 0 || score < (best * minimum) / 100 || texts.some((known) => known.text === text))
      continue;
    left -= text.length;
    texts.push({ id, title: passageTitle(metadata, text), url: passageUrl(metadata), text, score: Math.round(score) });
  }
  return texts;
}

/**
 * A store's score in percent. Cosine and dot product: 1 is 100, 0 or less is 0. A Euclidean score is a negative distance:
 * 0 is 100, -1 is 50, -4 is 20.
 */
export function similarityPercent(score: number, metric: SearchResult['metric']): number {
  if (Number.isNaN(score)) return 0;
  const share = metric === 'euclidean' ? 1 / (1 + Math.max(0, -score)) : score;
  return Math.min(1, Math.max(0, share)) * 100;
}

type Metadata = Readonly<Record<string, unknown>>;

function passageTitle(metadata: Metadata, text: string): string {
  const named = firstText(metadata, titleKeys) ?? passageUrl(metadata).replace(/^https?:\/\/|[?#].*/g, '');
  const title = (named || text).replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
  const most = named === '' ? 60 : longest.title;
  return title.length > most ? `${title.slice(0, most - 1)}…` : title;
}

/** Only http and https, because pages show it as a link. */
function passageUrl(metadata: Metadata): string {
  const address = firstText(metadata, urlKeys, (text) => /^https?:\/\/[^\s"'<>\\]+$/i.test(text) && isUrl(text));
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
