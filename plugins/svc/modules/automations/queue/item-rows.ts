import type { ClaimedItem, Item, ItemInput, ItemState } from './item.ts';

/** A row of the table of items. Figures may come as texts where they are large. */
export interface ItemRow {
  readonly id: number;
  readonly task_id: number;
  readonly target: string;
  readonly input: string;
  readonly source_post_id: number | null;
  readonly state: ItemState;
  readonly attempts: number;
  readonly tries_from: number;
  readonly message: string;
  readonly post_id: number | null;
  readonly ai_provider: string | null;
  readonly ai_model: string | null;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly due_at: number | null;
  readonly token: number;
  /** Milliseconds until `due_at`, where it was asked for. */
  readonly wait?: number | null;
}

export function toItem(row: ItemRow): Item {
  return {
    id: row.id,
    taskId: row.task_id,
    target: row.target,
    input: JSON.parse(row.input) as ItemInput,
    state: row.state,
    attempts: row.attempts,
    message: row.message,
    postId: row.post_id,
    ai: row.ai_provider === null ? null : { provider: row.ai_provider, model: row.ai_model ?? '' },
    createdAt: Number(row.created_at),
    startedAt: row.started_at === null ? null : Number(row.started_at),
    finishedAt: row.finished_at === null ? null : Number(row.finished_at),
    wait: row.state === 'pending' ? Math.max(0, Number(row.wait ?? 0)) : null,
  };
}

export function toClaimed(row: ItemRow): ClaimedItem {
  return { ...toItem(row), token: row.token, tries: row.attempts - row.tries_from, sourcePostId: row.source_post_id };
}
