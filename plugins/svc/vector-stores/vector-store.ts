import type { Clock, JsonSchema, Logger } from '#plugin-api';
import type { VectorFilter } from './vector-filter.ts';

/** Saved settings of one store, secrets in plain text. Never logged, never sent to a browser. */
export interface VectorStoreSettings {
  readonly url?: string;
  readonly api_key?: string;
  readonly [name: string]: unknown;
}

/** What a store is given to be asked: everything from outside comes in here. */
export interface VectorStoreConnection {
  readonly settings: VectorStoreSettings;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds one exchange may take, answer read, 1 or more. */
  readonly timeout: number;
  /** Aborted when the caller gives up. */
  readonly signal?: AbortSignal;
}

export const vectorMetrics = ['cosine', 'euclidean', 'dotproduct'] as const;

/** How near two vectors are: the stores' own words for it are mapped to these. */
export type VectorMetric = (typeof vectorMetrics)[number];

/** An index or collection. */
export interface VectorTarget {
  readonly name: string;
  /** Length of its vectors; null where the store learns it from the first one, or does not tell. */
  readonly dimension: number | null;
  /** Null for one that this service has no word for. */
  readonly metric: VectorMetric | null;
}

export type VectorMetadata = Readonly<Record<string, unknown>>;

/** One vector to be written, its id final. */
export interface VectorRecord {
  readonly id: string;
  readonly values: readonly number[];
  readonly content: string;
  readonly metadata: VectorMetadata;
}

/** One vector read back. */
export interface StoredVector {
  /** As it was given, whatever the store made of it. */
  readonly id: string;
  /** Null where nobody stored one under `original_content` or as the document. */
  readonly content: string | null;
  /** As the store holds it, without the keys of this service: nested values may come back as JSON text (D15). */
  readonly metadata: VectorMetadata;
}

/** One neighbour. `score`: higher is nearer, whatever the metric; 1 is the same direction where the metric is cosine. */
export interface FoundVector extends StoredVector {
  readonly score: number;
}

export interface VectorQuery {
  readonly vector: readonly number[];
  /** 1 or more. */
  readonly limit: number;
  readonly filter?: VectorFilter;
  readonly namespace?: string;
}

/** Where records are looked for. Stores without namespaces ignore it (contract 4.7). */
export interface NamespaceChoice {
  readonly namespace?: string;
}

/** What one request may hold. */
export interface WriteLimits {
  readonly records: number;
  /** Bytes of the body as it goes on the wire. */
  readonly bytes: number;
}

/**
 * A store with its settings, ready to be asked. Each operation is one or more exchanges without further tries, and throws
 * VectorStoreError; `not_found` is thrown by all that name a target, except where null says so.
 */
export interface OpenVectorStore {
  list(): Promise<VectorTarget[]>;
  /** Null: there is no such index or collection. */
  describe(target: string): Promise<VectorTarget | null>;
  /** Throws `conflict` when the name is taken. Ready for writes when it resolves, or soon after (Pinecone). */
  create(target: { readonly name: string; readonly dimension: number; readonly metric: VectorMetric }): Promise<void>;
  /** Deletes the index or collection with all it holds. */
  remove(target: string): Promise<void>;
  /** Asked before each upsert, as servers differ. */
  writeLimits(): Promise<WriteLimits>;
  /** Bytes a record adds to the body of `write`. Left out: those of its JSON. */
  sizeOf?(record: VectorRecord): number;
  /** Writes records that keep to `writeLimits` in one request; those of the same ids are replaced, so that it may be repeated. */
  write(target: string, records: readonly VectorRecord[], options: NamespaceChoice): Promise<void>;
  /** The nearest vectors, nearest first. */
  query(target: string, query: VectorQuery): Promise<FoundVector[]>;
  /** Those of the ids that exist, in the order of the ids. */
  fetch(target: string, ids: readonly string[], options: NamespaceChoice): Promise<StoredVector[]>;
  /** Ids that do not exist are no error. */
  deleteIds(target: string, ids: readonly string[], options: NamespaceChoice): Promise<void>;
  deleteWhere(target: string, filter: VectorFilter, options: NamespaceChoice): Promise<void>;
  /** Vectors in it; in the one namespace where one is named. */
  count(target: string, options: NamespaceChoice): Promise<number>;
}

/** One vector database. A file `<id>.store.ts` exports it as `store`; the filter `svc_vector_stores` adds those of other plugins. */
export interface VectorStore {
  /** Lower-case letters and digits; the value of `provider` in requests. */
  readonly id: string;
  readonly label: string;
  /** What it calls a target. */
  readonly targetKind: 'index' | 'collection';
  /** Object schema of its settings: `title` and `description` make the form, `writeOnly` marks secrets, `default` fills the field. */
  readonly settings: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** Names of settings that must be filled before it can be asked. */
  readonly required: readonly string[];
  /** Metrics a new target may have, the usual one first. */
  readonly metrics: readonly VectorMetric[];
  /** What a target's name must look like, and the sentence that says so. */
  readonly targetName?: { readonly pattern: RegExp; readonly rule: string };
  /**
   * What is wrong with an item for this store, before anything is embedded or written: a sentence that follows
   * "vectors[3]: ", or null. Left out: nothing ever is.
   */
  refuse?(item: Pick<VectorRecord, 'id' | 'content' | 'metadata'>): string | null;
  /** Two ids of the same key are one vector to this store. Left out: ids are as different as their texts. */
  keyOf?(id: string): string;
  /** Cheap: loads nothing and asks nothing until the first operation. */
  open(connection: VectorStoreConnection): OpenVectorStore;
}

const kinds = [
  'not_found',
  'conflict',
  'unsupported',
  'auth',
  'rate_limited',
  'rejected',
  'unavailable',
  'unreadable',
  'connection',
  'timeout',
  'aborted',
] as const;

export type VectorStoreErrorKind = (typeof kinds)[number];

export interface VectorStoreErrorInit {
  readonly kind: VectorStoreErrorKind;
  /** The store's own sentence, with secrets cut out; or ours when there was none. It follows "<store> failed: ". */
  readonly message: string;
  /** HTTP status of the store, or null when none came. */
  readonly status?: number | null;
  /** Seconds the store asked to wait, or null. */
  readonly retryAfter?: number | null;
  readonly cause?: unknown;
}

/**
 * What went wrong at a store. Its kinds are those of ProviderError and three more, so that one place decides for both
 * whether another try may help; every operation may be repeated, writes have ids.
 */
export class VectorStoreError extends Error {
  readonly kind: VectorStoreErrorKind;
  readonly status: number | null;
  readonly retryAfter: number | null;

  constructor(init: VectorStoreErrorInit) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'VectorStoreError';
    this.kind = init.kind;
    this.status = init.status ?? null;
    this.retryAfter = init.retryAfter ?? null;
  }
}

/** The VectorStoreError that was thrown, or null. A store of another plugin cannot import the class: an error with a known `kind` counts. */
export function asVectorStoreError(thrown: unknown): VectorStoreError | null {
  if (thrown instanceof VectorStoreError) return thrown;
  if (!(thrown instanceof Error) || !('kind' in thrown) || !kinds.includes(thrown.kind as VectorStoreErrorKind))
    return null;
  const { status, retryAfter } = thrown as { status?: unknown; retryAfter?: unknown };
  return new VectorStoreError({
    kind: thrown.kind as VectorStoreErrorKind,
    message: thrown.message,
    status: typeof status === 'number' ? status : null,
    retryAfter: typeof retryAfter === 'number' ? retryAfter : null,
    cause: thrown,
  });
}
