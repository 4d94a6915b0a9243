import { RestError, type HostApi } from '#plugin-api';
import './knowledge-hooks.ts';
import { knowledgeTexts, percentOf, type KnowledgeText } from './knowledge-text.ts';
import type { SearchResult, SearchVectors } from './search-vectors.ts';
import type { UsageOrigin } from './usage-record.ts';

/** Which texts are looked for, and where: what a chatbot or a form is set to. */
export interface KnowledgeSettings {
  readonly enabled: boolean;
  /** Id of a knowledge base, which then says all that the next five members say; 0: they say it themselves. */
  readonly base: number;
  /** Id of a vector store, for example `qdrant`; empty while `enabled` is off. */
  readonly store: string;
  /** Name of its index or collection. */
  readonly target: string;
  /** Pinecone only. */
  readonly namespace: string;
  /** What the target was filled with. */
  readonly embedding_provider: string;
  readonly embedding_model: string;
  /** Most texts per question, 1 to 20. Default 3. */
  readonly top_k: number;
  /** Percent; texts less alike are left out. 0 to 100, default 20. */
  readonly min_score: number;
  /** Whether readers see where an answer comes from. */
  readonly show_sources: boolean;
}

/** Who asked, for what is kept of questions without an answer. */
export interface KnowledgeAsker {
  /** 0: a guest. */
  readonly userId: number;
  /** UUID; null: there is none. */
  readonly conversation: string | null;
}

export interface FindKnowledgeInput {
  readonly knowledge: KnowledgeSettings;
  /** What somebody asked; its first 8,000 characters are looked at. */
  readonly text: string;
  /** For the usage ledger. */
  readonly origin: UsageOrigin;
  readonly signal?: AbortSignal | undefined;
  /** Null or left out: nothing of the question may be kept. */
  readonly asker?: KnowledgeAsker | null | undefined;
}

/**
 * The texts that fit a question, best first; none while `enabled` is off, and none that are less alike than `min_score`.
 *
 * @throws RestError of D5 where the knowledge base, the vector store or the embedding provider fails; an Error after ten
 *   seconds. What answers people should go on without.
 */
export type FindKnowledge = (input: FindKnowledgeInput) => Promise<readonly KnowledgeText[]>;

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
    const texts = knowledgeTexts(result, knowledge.min_score);
    if (texts.length === 0 && asker)
      await hooks.doActionAsync('svc_knowledge_missing', { knowledge, text, bestScore: bestOf(result), origin, asker });
    return texts;
  };
}

function bestOf({ found, metric }: SearchResult): number | null {
  return found.length === 0 ? null : Math.round(Math.max(...found.map(({ score }) => percentOf(score, metric))));
}

function unknownBase(id: number): RestError {
  return new RestError({
    code: 'rest_svc_knowledge_base_not_found',
    status: 404,
    message: `There is no knowledge base ${String(id)}. Choose another one where it is used.`,
    data: { id },
  });
}
