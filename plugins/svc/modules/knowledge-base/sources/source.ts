import type { Knex } from '#plugin-api';
import type { RowPage } from '../../../kit/table-reads.ts';

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
  /** Whether the caller starts the job that indexes it. Default false: it is added here. */
  readonly isHeld?: boolean;
  /** The content to index; without it, it is read when the source is indexed. */
  readonly content?: SourceContent;
}

export interface SourceContent {
  /** Text, or Markdown. */
  readonly body?: string;
  readonly fileName?: string;
  readonly file?: Uint8Array | null;
}

/** The source was requeued or deleted while it was indexed: the work must end. Its job runs again. */
export class SourceChangedError extends Error {
  constructor() {
    super('The source was requeued while it was being indexed.');
  }
}

export interface SourceFilter {
  readonly baseId?: number;
  readonly state?: SourceState;
  readonly kind?: SourceKind;
  readonly parentId?: number;
  /** Leaves out sitemaps, which only name other sources. */
  readonly hasText?: true;
}

export interface SourceCounts extends Readonly<Record<SourceState, number>> {
  readonly chunks: number;
}

/** The sources of all knowledge bases. Writes join a running transaction. */
export interface SourceStore {
  get(id: number): Promise<Source | null>;
  list(filter: SourceFilter, page: RowPage): Promise<readonly Source[]>;
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
  saveText(source: Source, read: { readonly title: string; readonly text: string }): Promise<void>;
}

/** Writes of the job that indexes a source. They change nothing, and return false, once the source was requeued. */
export interface SourceWork {
  /** Marks a source as being indexed. Null if it does not exist or nothing is to be done. */
  begin(id: number): Promise<Source | null>;
  /** @throws SourceChangedError */
  progress(
    source: Source,
    progress: { readonly message?: string; readonly total?: number; readonly done?: number },
  ): Promise<void>;
  finish(source: Source, outcome: SourceOutcome, transaction?: Knex.Transaction): Promise<boolean>;
  /** The next attempt comes later, or none does. A source that is being deleted stays so. */
  end(id: number, state: 'pending' | 'failed', message: string | null): Promise<Source | null>;
  remove(source: Source): Promise<boolean>;
}

export interface SourceOutcome {
  readonly title: string;
  readonly url: string;
  readonly contentHash: string;
  readonly message: string;
  readonly chunks: number;
}
