import type { PostSettings } from '../posts/post-settings.ts';
import type { TemplateSettings } from '../templates/template.ts';
import type { ContentDraft, ContentInput } from '../write/draft.ts';

/** `waiting`: its batch is looked over. */
export const itemStatuses = ['waiting', 'pending', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type ItemStatus = (typeof itemStatuses)[number];

/** One text: of a batch, or one that was streamed or asked for alone. */
export interface Item {
  readonly id: number;
  /** Its key in events and hooks, the same at every attempt. */
  readonly uuid: string;
  /** Null: alone. */
  readonly batchId: number | null;
  readonly userId: number;
  /** In its batch, from 0. */
  readonly position: number;
  readonly topic: string;
  readonly input: ContentInput;
  readonly status: ItemStatus;
  readonly attempts: number;
  /** Why it failed, or what became of it. */
  readonly message: string;
  readonly draft: ContentDraft;
  readonly postId: number | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An item that this process works on. */
export interface Claimed extends Item {
  /** Of this claim alone: who took over has another. */
  readonly lease: string;
}

export interface BatchSettings {
  readonly template: TemplateSettings;
  readonly post: PostSettings;
  /** The address of each input is read before it is written about. */
  readonly read_pages: boolean;
  /** Columns of a CSV and what they are taken for; null: it was no CSV. */
  readonly mapping: CsvMapping | null;
}

/** Names of columns; '': none. */
export interface CsvMapping {
  readonly columns: readonly string[];
  readonly topic: string;
  readonly keywords: string;
  readonly instructions: string;
}

export interface Batch {
  readonly id: number;
  readonly label: string;
  readonly userId: number;
  readonly status: 'draft' | 'started';
  readonly settings: BatchSettings;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** How far a batch is. */
export interface BatchTotals {
  readonly counts: Readonly<Record<ItemStatus, number>>;
  readonly total: number;
  /** Millionths of a US dollar; calls without a price are left out. */
  readonly cost: number;
  readonly unpriced: number;
  readonly tokens: number;
}
