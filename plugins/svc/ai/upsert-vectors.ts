import { randomUUID } from 'node:crypto';
import { RestError } from '#plugin-api';
import { errors } from '../kit/errors.ts';
import type { VectorMetadata, VectorStore } from '../vector-stores/vector-store.ts';
import { checkDimension } from './open-vector-store.ts';
import type { Embed } from './embed.ts';
import type { OpenStore } from './open-vector-store.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';

/** Contract 2.4. */
export interface VectorItem {
  readonly content: string;
  readonly id?: string;
  readonly metadata?: VectorMetadata;
}

export interface UpsertInput {
  /** Id of a vector store. */
  readonly store: string;
  /** Index or collection; it must exist. */
  readonly target: string;
  readonly items: readonly VectorItem[];
  readonly embedding: { readonly provider: string; readonly model: string };
  /** Ignored by stores without namespaces. */
  readonly namespace?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the usage ledger. */
  readonly origin?: UsageOrigin | undefined;
}

export interface Upserted {
  /** Ids of the vectors, generated ones included, in the order of the items. */
  readonly ids: readonly string[];
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number };
}

export type UpsertVectors = (input: UpsertInput) => Promise<Upserted>;

export interface UpsertParts {
  readonly openStore: OpenStore;
  readonly embed: Embed;
  /** How many texts fit into the provider's first call. */
  readonly firstCall: (provider: string, texts: readonly string[]) => number;
  readonly newId?: () => string;
}

/**
 * Embeds texts and writes them as vectors (contract 4.7, D15): first checks everything, the target included, then embeds
 * everything, then writes it in batches. Nothing is written unless all was embedded. Compares the length of the vectors
 * with the target's after the first call to the provider, so that a wrong model costs one call. Safe to repeat with the
 * same ids: their vectors are replaced. Keeps no state: any node may serve any call.
 *
 * @throws RestError of D5; if the store fails part way, with `data.upserted_count`.
 */
export function createUpsertVectors({ openStore, embed, firstCall, newId = randomUUID }: UpsertParts): UpsertVectors {
  return async ({ store: storeId, target: name, items, embedding, namespace, signal, origin }) => {
    refuseBlank(items);
    const session = await openStore(storeId, { signal });
    const { store } = session;
    const records = items.map(({ id, content, metadata = {} }) => ({ id: id ?? newId(), content, metadata }));
    refuseDuplicates(records, store);
    refuseUnfit(records, store);
    const target = await session.describe(name);
    if (target === null)
      throw errors.vector_target_not_found({
        values: { provider: store.label, target: name },
        data: { provider: store.id, provider_status: 404 },
      });

    const texts = records.map(({ content }) => content);
    const ask = (input: readonly string[]) =>
      embed({
        provider: embedding.provider,
        model: embedding.model,
        input,
        taskType: 'RETRIEVAL_DOCUMENT',
        signal,
        origin,
      });
    const first = Math.max(1, firstCall(embedding.provider, texts));
    const begun = await ask(texts.slice(0, first));
    checkDimension({ store, target, model: embedding.model, vector: begun.embeddings[0] ?? [] });
    const rest = texts.length > first ? await ask(texts.slice(first)) : null;
    const values = [...begun.embeddings, ...(rest?.embeddings ?? [])];
    const vectors = records.map((record, index) => ({ ...record, values: values[index] ?? [] }));
    refuseMixed(
      vectors.map((vector) => vector.values.length),
      embedding.provider,
    );

    await session.write(name, vectors, namespace === undefined ? {} : { namespace });
    return {
      ids: records.map(({ id }) => id),
      usage: {
        input_tokens: begun.usage.input_tokens + (rest?.usage.input_tokens ?? 0),
        total_tokens: begun.usage.total_tokens + (rest?.usage.total_tokens ?? 0),
      },
    };
  };
}

function refuseBlank(items: readonly VectorItem[]): void {
  const blank = items.findIndex(({ content }) => content.trim() === '');
  if (blank >= 0) throw errors.empty_input({ values: { name: `The content of vectors[${String(blank)}]` } });
}

function refuseDuplicates(records: readonly { readonly id: string }[], store: VectorStore): void {
  const seen = new Set<string>();
  for (const { id } of records) {
    const key = store.keyOf?.(id) ?? id;
    if (seen.has(key)) throw errors.duplicate_vector_id({ values: { id }, data: { id } });
    seen.add(key);
  }
}

/** Refuses what the store would refuse, before anything is paid for: the store's own error would come part way. */
function refuseUnfit(
  records: readonly { readonly id: string; readonly content: string; readonly metadata: VectorMetadata }[],
  store: VectorStore,
): void {
  for (const [index, record] of records.entries()) {
    const reason = store.refuse?.(record) ?? null;
    if (reason === null) continue;
    const message = `vectors[${String(index)}]: ${reason}`;
    throw new RestError({
      code: 'rest_invalid_param',
      status: 400,
      message: 'Invalid parameter(s): vectors',
      data: {
        params: { vectors: message },
        details: { vectors: { code: 'rest_invalid_param', message, data: { param: 'vectors' } } },
      },
    });
  }
}

/** An upsert makes several calls for embeddings: an upstream might return another length for each. */
function refuseMixed(lengths: readonly number[], provider: string): void {
  if (new Set(lengths).size > 1) {
    throw errors.provider_error({
      values: { provider, reason: 'its response contains vectors of several lengths.' },
      data: { provider, provider_status: 200 },
    });
  }
}
