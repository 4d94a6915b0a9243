import { createRowMapper } from '#plugin-api';
import type { PostSettings } from '../posts/post-settings.ts';
import type { TemplateSettings } from '../templates/template.ts';
import { type ContentDraft, type ContentInput, emptyDraft } from '../write/draft.ts';

const items = createRowMapper<Item>({ json: ['input', 'draft'], others: ['cost', 'unpriced', 'tokens'] });

export function toItem(row: object): Item {
  const item = items.fromRow(row);
  return { ...item, draft: { ...emptyDraft, ...item.draft } };
}

/** The rows of batches. */
export const batchRows = createRowMapper<Batch>({ json: ['settings'] });

/** The draft, and its usage in separate columns for sums. */
export function draftColumns(draft: ContentDraft): {
  readonly draft: string;
  readonly cost: number;
  readonly unpriced: number;
  readonly tokens: number;
} {
  return {
    draft: JSON.stringify(draft),
    cost: draft.cost,
    unpriced: draft.unpriced,
    tokens: draft.input_tokens + draft.output_tokens,
  };
}

const longestTopic = 500;

export function shortTopic(topic: string): string {
  const line = topic.replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length > longestTopic ? `${characters.slice(0, longestTopic - 1).join('')}…` : line;
}

/** `waiting`: its batch is in review. */
export const itemStatuses = ['waiting', 'pending', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type ItemStatus = (typeof itemStatuses)[number];

/** A text of a batch, or a single text. */
export interface Item {
  readonly id: number;
  /** Key in events and hooks, the same for every attempt. */
  readonly uuid: string;
  /** Null for a single text. */
  readonly batchId: number | null;
  readonly userId: number;
  /** Position in the batch, from 0. */
  readonly position: number;
  readonly topic: string;
  readonly input: ContentInput;
  readonly status: ItemStatus;
  readonly attempts: number;
  /** The reason of a failure; empty otherwise. */
  readonly message: string;
  readonly draft: ContentDraft;
  readonly postId: number | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface BatchSettings {
  readonly template: TemplateSettings;
  readonly post: PostSettings;
  /** Whether the page of each input is read first. */
  readonly read_pages: boolean;
  /** The mapping of CSV columns; null for other sources. */
  readonly mapping: CsvMapping | null;
}

/** Names of columns; empty for none. */
export interface CsvMapping {
  readonly columns: readonly string[];
  readonly topic: string;
  readonly keywords: string;
  readonly instructions: string;
  /** Missing in batches of earlier versions. */
  readonly category?: string;
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

/** Progress and usage of a batch. */
export interface BatchTotals {
  readonly counts: Readonly<Record<ItemStatus, number>>;
  readonly total: number;
  /** Cost of the calls with a known price, in millionths of a US dollar. */
  readonly cost: number;
  readonly unpriced: number;
  readonly tokens: number;
}
