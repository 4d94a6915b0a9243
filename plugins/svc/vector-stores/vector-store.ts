import type { Clock, DatabaseApi, JsonSchema, Logger } from '#plugin-api';
import type { VectorFilter } from './vector-filter.ts';
import { UpstreamError, upstreamErrorKinds, upstreamErrorOf } from '../kit/upstream-error.ts';

/** Saved settings of one store, secrets in plain text. Never logged, never sent to a browser. */
export interface VectorStoreSettings {
  readonly url?: string;
  readonly api_key?: string;
  readonly [name: string]: unknown;
}

/** What a store needs for its calls. */
export interface VectorStoreConnection {
  readonly settings: VectorStoreSettings;
  /** Passes the outbound guard (D35). */
  readonly fetch: typeof globalThis.fetch;
  /** undici's, with the same guard, for clients that have no option for a `fetch`. */
  readonly dispatcher: () => Promise<unknown>;
  /** The site's own, for a store that needs no other service. */
  readonly database: DatabaseApi;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time limit of one exchange in milliseconds, until the body is read; 1 or more. */
  readonly timeout: number;
  /** Aborted when the caller cancels. */
  readonly signal?: AbortSignal;
}

export const vectorMetrics = ['cosine', 'euclidean', 'dotproduct'] as const;

/** Similarity metrics; stores map their names to these. */
export type VectorMetric = (typeof vectorMetrics)[number];

/** An index or collection. */
export interface VectorTarget {
  readonly name: string;
  /** Length of its vectors; null if unknown, or if the first vector sets it. */
  readonly dimension: number | null;
  /** Null for any other metric. */
  readonly metric: VectorMetric | null;
}

/** The time limit in the settings of every store. */
export const timeoutField: JsonSchema = {
  type: 'integer',
  title: 'Time limit (seconds)',
  description: 'Requests that take longer fail with 504.',
  minimum: 1,
  maximum: 600,
  default: 30,
};

export type VectorMetadata = Readonly<Record<string, unknown>>;

/** One vector to write, with its final id. */
export interface VectorRecord {
  readonly id: string;
  readonly values: readonly number[];
  readonly content: string;
  readonly metadata: VectorMetadata;
}

/** One vector read back. */
export interface StoredVector {
  /** The id from the caller, even if the store uses another one. */
  readonly id: string;
  /** Null if neither `original_content` nor the document is stored. */
  readonly content: string | null;
  /** Metadata without the keys of this service. Nested values may be JSON text (D15). */
  readonly metadata: VectorMetadata;
}

/** A search result. A higher `score` is nearer for every metric; with cosine, 1 is the same direction. */
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

/** The namespace of an operation. Stores without namespaces ignore it (contract 4.7). */
export interface NamespaceChoice {
  readonly namespace?: string;
}

/** Limits of one request. */
export interface WriteLimits {
  readonly records: number;
  /** Bytes of the body as sent. */
  readonly bytes: number;
}

/**
 * A store with its settings. Each operation is one or more exchanges without retries, and throws VectorStoreError. A missing
 * target throws `not_found`, unless an operation returns null for it.
 */
export interface OpenVectorStore {
  list(): Promise<VectorTarget[]>;
  /** Null if the index or collection does not exist. */
  describe(target: string): Promise<VectorTarget | null>;
  /** Throws `conflict` if the name exists. Ready for writes when it resolves, or soon after (Pinecone). */
  create(target: { readonly name: string; readonly dimension: number; readonly metric: VectorMetric }): Promise<void>;
  /** Deletes the index or collection with its vectors. */
  remove(target: string): Promise<void>;
  /** Called before each upsert, because servers differ. */
  writeLimits(): Promise<WriteLimits>;
  /** Bytes that a record adds to the body of `write`. Default: the size of its JSON. */
  sizeOf?(record: VectorRecord): number;
  /** Writes records within `writeLimits` in one request. Replaces records of the same ids, so it can be repeated. */
  write(target: string, records: readonly VectorRecord[], options: NamespaceChoice): Promise<void>;
  /** The nearest vectors, nearest first. */
  query(target: string, query: VectorQuery): Promise<FoundVector[]>;
  /** The existing vectors, in the order of the ids. */
  fetch(target: string, ids: readonly string[], options: NamespaceChoice): Promise<StoredVector[]>;
  /** Ids that do not exist are no error. */
  deleteIds(target: string, ids: readonly string[], options: NamespaceChoice): Promise<void>;
  deleteWhere(target: string, filter: VectorFilter, options: NamespaceChoice): Promise<void>;
  /** The number of vectors, in the namespace if one is set. */
  count(target: string, options: NamespaceChoice): Promise<number>;
}

/** One vector database. A file `<id>.store.ts` exports it as `store`; the filter `svc_vector_stores` adds those of other plugins. */
export interface VectorStore {
  /** Lower-case letters and digits; the value of `provider` in requests. */
  readonly id: string;
  readonly label: string;
  /** The store's term for a target. */
  readonly targetKind: 'index' | 'collection';
  /** Object schema of its settings. The form uses `title`, `description` and `default`; `writeOnly` marks secrets. */
  readonly settings: JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };
  /** Names of the required settings. */
  readonly required: readonly string[];
  /** Supported metrics of a new target; the first is the default. */
  readonly metrics: readonly VectorMetric[];
  /** Whether it works as it is, with nothing to set up. Default false. */
  readonly isBuiltIn?: boolean;
  /** Pattern for names of targets, and its description. */
  readonly targetName?: { readonly pattern: RegExp; readonly rule: string };
  /**
   * Checks an item before it is embedded. Returns a sentence that follows "vectors[3]: ", or null if the store accepts it.
   * Omitted if the store accepts any item.
   */
  refuse?(item: Pick<VectorRecord, 'id' | 'content' | 'metadata'>): string | null;
  /** Ids with the same key are one vector in this store. Default: the id itself. */
  keyOf?(id: string): string;
  /** Connects to nothing yet: the first operation does. The store's code is loaded here at the latest. */
  open(connection: VectorStoreConnection): OpenVectorStore | Promise<OpenVectorStore>;
}

const kinds = ['not_found', 'conflict', 'unsupported', ...upstreamErrorKinds] as const;

export type VectorStoreErrorKind = (typeof kinds)[number];

/**
 * An error of a store. Its kinds are those of ProviderError and three more, so both share one retry policy. Every operation
 * can be repeated, because writes have ids.
 */
export class VectorStoreError extends UpstreamError<VectorStoreErrorKind> {
  override readonly name = 'VectorStoreError';
}

/** The thrown VectorStoreError, or null. A store of another plugin cannot import the class, so any error with a known `kind` counts. */
export function asVectorStoreError(thrown: unknown): VectorStoreError | null {
  if (thrown instanceof VectorStoreError) return thrown;
  const known = upstreamErrorOf(thrown, kinds);
  return known === null ? null : new VectorStoreError(known);
}

/** Null instead of the error of a missing index or collection. */
export function nullIfMissing(thrown: unknown): null {
  if (thrown instanceof VectorStoreError && thrown.kind === 'not_found') return null;
  throw thrown;
}

/** What a store knows of its indexes or collections. */
export interface KnownTargets<Target> {
  /** Loaded by the first call, and again after a failure. */
  find(name: string): Promise<Target>;
  has(name: string): boolean;
}

/** Remembers the description of each target for the life of a connection. */
export function rememberTargets<Target>(load: (name: string) => Promise<Target>): KnownTargets<Target> {
  const known = new Map<string, Promise<Target>>();
  return {
    find(name) {
      const loading = known.get(name) ?? load(name);
      known.set(name, loading);
      loading.catch(() => known.delete(name));
      return loading;
    },
    has: (name) => known.has(name),
  };
}
