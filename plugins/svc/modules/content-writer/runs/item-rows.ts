import { emptyDraft, type ContentDraft, type ContentInput } from '../write/draft.ts';
import type { Batch, BatchSettings, Claimed, Item, ItemStatus } from './item.ts';

/** As the database has it; PostgreSQL writes large integers as texts. */
export interface ItemRow {
  readonly id: number;
  readonly uuid: string;
  readonly batch_id: number | null;
  readonly user_id: number;
  readonly position: number;
  readonly topic: string;
  readonly input: string;
  readonly status: ItemStatus;
  readonly attempts: number;
  readonly message: string;
  readonly draft: string;
  readonly post_id: number | null;
  readonly lease: string | null;
  readonly due_at: number | string;
  readonly created_at: number | string;
  readonly updated_at: number | string;
}

export interface BatchRow {
  readonly id: number;
  readonly label: string;
  readonly user_id: number;
  readonly status: Batch['status'];
  readonly settings: string;
  readonly created_at: number | string;
  readonly updated_at: number | string;
}

export function itemOf(row: ItemRow): Item {
  return {
    id: row.id,
    uuid: row.uuid,
    batchId: row.batch_id,
    userId: row.user_id,
    position: row.position,
    topic: row.topic,
    input: JSON.parse(row.input) as ContentInput,
    status: row.status,
    attempts: row.attempts,
    message: row.message,
    draft: { ...emptyDraft, ...(JSON.parse(row.draft) as ContentDraft) },
    postId: row.post_id,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

export function claimedOf(row: ItemRow): Claimed {
  return { ...itemOf(row), lease: row.lease ?? '' };
}

export function batchOf(row: BatchRow): Batch {
  return {
    id: row.id,
    label: row.label,
    userId: row.user_id,
    status: row.status,
    settings: JSON.parse(row.settings) as BatchSettings,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

/** Columns that hold what a draft took, beside the draft itself, so that sums need not read it. */
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
