import type { Knex } from '#plugin-api';

export const sourceKinds = ['text', 'qa', 'file', 'post', 'address', 'sitemap'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/**
 * `pending`: waits to be indexed; `indexing`: being read, embedded and written; `deleting`: deleted once its vectors are.
 */
export const sourceStates = ['pending', 'indexing', 'indexed', 'failed', 'deleting'] as const;
export type SourceState = (typeof sourceStates)[number];

export const origins = { admin: 'admin_knowledge_base', task: 'automated_task_indexing' } as const;
export type SourceOrigin = (typeof origins)[keyof typeof origins];

/** A source of a knowledge base. */
export interface Source {
  /** `data.source.log_id` of its event. */
  readonly id: number;
  readonly baseId: number;
  readonly kind: SourceKind;
  readonly title: string;
  /** An empty string if it has none. */
  readonly url: string;
  readonly postId: number | null;
  /** The sitemap it came from. */
  readonly parentId: number | null;
  readonly state: SourceState;
  /** The result, the error or the progress, in one sentence. */
  readonly message: string;
  /** Who requested the next or last indexing. */
  readonly origin: SourceOrigin;
  readonly version: number;
  readonly contentHash: string;
  readonly chunksTotal: number;
  readonly chunksDone: number;
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly indexedAt: number | null;
}

export interface NewSource {
  readonly baseId: number;
  readonly kind: SourceKind;
  /** Unique within its base. */
  readonly identity: string;
  readonly title: string;
  readonly url?: string;
  readonly postId?: number | null;
  readonly parentId?: number | null;
  readonly origin?: SourceOrigin;
  /** Milliseconds for which the caller reserves the source to claim it itself; nodes are not notified. Default 0. */
  readonly holdFor?: number;
  /** The content to index; without it, it is read when the source is indexed. */
  readonly content?: SourceContent;
}

export interface SourceContent {
  /** Text, or Markdown. */
  readonly body?: string;
  readonly fileName?: string;
  readonly file?: Uint8Array | null;
}

/** The right of one node to process a source, until it expires and another node claims it, or the source is requeued. */
export interface Lease {
  readonly sourceId: number;
  /** Unique to this claim. */
  readonly fencingToken: number;
  readonly version: number;
}

/** Thrown when another node has claimed the source, or when it was requeued: the work must end. */
export class LeaseLostError extends Error {
  constructor() {
    super('The lease on the source is lost: it was requeued, or another node claimed it.');
  }
}

export interface Claimed {
  readonly source: Source;
  readonly lease: Lease;
}

export interface SourceFilter {
  readonly baseId?: number;
  readonly state?: SourceState;
  readonly kind?: SourceKind;
  readonly parentId?: number;
}

export interface SourceCounts extends Readonly<Record<SourceState, number>> {
  readonly chunks: number;
}

/** The sources of all knowledge bases. Writes join a running transaction. */
export interface SourceStore {
  get(id: number): Promise<Source | null>;
  list(filter: SourceFilter, page: { readonly limit: number; readonly offset: number }): Promise<readonly Source[]>;
  count(filter: SourceFilter): Promise<number>;
  counts(): Promise<ReadonlyMap<number, SourceCounts>>;
  /** Sources of a post, in all bases. */
  listByPost(postId: number): Promise<readonly Source[]>;
  /** Bases that a post was added to and not removed from, whether or not it is published now. */
  listFollowers(postId: number): Promise<readonly number[]>;
  /** Forgets a deleted post. */
  forgetPost(postId: number): Promise<void>;
  /** Adds or updates a source and queues it. Restores one that is being deleted. A post is followed from now on. */
  put(source: NewSource): Promise<Source>;
  /** Queues sources again, and returns how many. With `force`, unchanged ones are indexed too. */
  requeue(
    filter: SourceFilter & { readonly id?: number },
    options?: { readonly force?: boolean; readonly origin?: SourceOrigin },
  ): Promise<number>;
  /**
   * Marks sources for deletion, and returns how many.
   *
   * @param options `keepsFollowing`: posts come back when they are published again
   */
  markDeleting(
    filter: SourceFilter & { readonly id?: number },
    options?: { readonly keepsFollowing?: boolean },
  ): Promise<number>;
  content(id: number): Promise<Required<SourceContent> | null>;
  /** Stores the text of a file and deletes its bytes. */
  saveText(lease: Lease, read: { readonly title: string; readonly text: string }): Promise<void>;
}

/** Leases of sources. Methods return false once the lease is lost: the worker must then stop and call `release`. */
export interface SourceQueue {
  /** Claims the next due source, or the given one, unless another worker holds it. */
  claim(id?: number): Promise<Claimed | null>;
  isDue(): Promise<boolean>;
  renew(lease: Lease): Promise<boolean>;
  progress(
    lease: Lease,
    progress: { readonly message?: string; readonly total?: number; readonly done?: number },
  ): Promise<boolean>;
  finish(claimed: Claimed, outcome: SourceOutcome, transaction?: Knex.Transaction): Promise<boolean>;
  /** Records a failure. `retryAfter` in milliseconds; null: no automatic retry. */
  fail(claimed: Claimed, failure: { readonly message: string; readonly retryAfter: number | null }): Promise<boolean>;
  /** Ends the lease; does nothing if another node has claimed the source. */
  release(lease: Lease): Promise<void>;
  remove(lease: Lease): Promise<boolean>;
}

export interface SourceOutcome {
  readonly title: string;
  readonly url: string;
  readonly contentHash: string;
  readonly message: string;
  readonly chunks: number;
}
