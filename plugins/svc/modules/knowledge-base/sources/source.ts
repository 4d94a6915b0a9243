import type { Knex } from '#plugin-api';

export const sourceKinds = ['text', 'qa', 'file', 'post', 'address', 'sitemap'] as const;
export type SourceKind = (typeof sourceKinds)[number];

/**
 * `pending`: waits to be indexed; `indexing`: is being read, embedded and written; `deleting`: goes as soon as its vectors
 * have gone.
 */
export const sourceStates = ['pending', 'indexing', 'indexed', 'failed', 'deleting'] as const;
export type SourceState = (typeof sourceStates)[number];

export const origins = { admin: 'admin_knowledge_base', task: 'automated_task_indexing' } as const;
export type SourceOrigin = (typeof origins)[keyof typeof origins];

/** What a knowledge base is filled from. */
export interface Source {
  /** `data.source.log_id` of its event. */
  readonly id: number;
  readonly baseId: number;
  readonly kind: SourceKind;
  readonly title: string;
  /** Empty: it has no address. */
  readonly url: string;
  readonly postId: number | null;
  /** The sitemap it came from. */
  readonly parentId: number | null;
  readonly state: SourceState;
  /** What became of it, why it failed, or what is being done. */
  readonly message: string;
  /** Who asked for the indexing that is to come, or was last. */
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
  /** What it is the same source by, within its base. */
  readonly identity: string;
  readonly title: string;
  readonly url?: string;
  readonly postId?: number | null;
  readonly parentId?: number | null;
  readonly origin?: SourceOrigin;
  /** Milliseconds for which it is left to the caller, who claims it; nobody is told of it. Default 0. */
  readonly heldFor?: number;
  /** What there is to index; left out: it is fetched when it is indexed. */
  readonly content?: SourceContent;
}

export interface SourceContent {
  /** Text, or Markdown. */
  readonly body?: string;
  readonly fileName?: string;
  readonly file?: Uint8Array | null;
}

/** The right of one node to work on what was asked of a source, until another has taken it over or something else is asked of it. */
export interface Lease {
  readonly sourceId: number;
  /** Of this claim alone. */
  readonly fence: number;
  readonly version: number;
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

/** What a base is filled from, over all nodes. Writes take part in a running transaction. */
export interface SourceStore {
  get(id: number): Promise<Source | null>;
  list(filter: SourceFilter, page: { readonly limit: number; readonly offset: number }): Promise<readonly Source[]>;
  count(filter: SourceFilter): Promise<number>;
  counts(): Promise<ReadonlyMap<number, SourceCounts>>;
  /** Sources of a post, in all bases. */
  ofPost(postId: number): Promise<readonly Source[]>;
  /** Adds it, or takes what is new of one that is there, and has it indexed. One that is being deleted comes back. */
  put(source: NewSource): Promise<Source>;
  /** Has sources indexed again. `anew`: also what has not changed. Answers how many. */
  requeue(
    filter: SourceFilter & { readonly id?: number },
    options?: { readonly anew?: boolean; readonly origin?: SourceOrigin },
  ): Promise<number>;
  /** Answers how many there were. */
  markDeleting(filter: SourceFilter & { readonly id?: number }): Promise<number>;
  content(id: number): Promise<Required<SourceContent> | null>;
  /** What a file that was read says; its bytes go. */
  keepText(lease: Lease, read: { readonly title: string; readonly text: string }): Promise<void>;
}

/** What the work on sources is done with. Each answers false once the lease is lost or something else was asked of the source: then the work ends, and `release` lets the next one begin. */
export interface SourceQueue {
  /** The next one that is due, or the one that is named whether it is due or not, unless somebody works on it. */
  claim(id?: number): Promise<Claimed | null>;
  isDue(): Promise<boolean>;
  renew(lease: Lease): Promise<boolean>;
  progress(
    lease: Lease,
    progress: { readonly message?: string; readonly total?: number; readonly done?: number },
  ): Promise<boolean>;
  finish(claimed: Claimed, outcome: SourceOutcome, transaction?: Knex.Transaction): Promise<boolean>;
  /** Tried again after so many milliseconds, or not before somebody asks where that is null. */
  fail(claimed: Claimed, failure: { readonly message: string; readonly retryAfter: number | null }): Promise<boolean>;
  /** Given back, for whoever comes next; nothing where another has it. */
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
