/** State of a queue item (contract 6.5, `data.queue_item.status`). */
export const itemStates = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type ItemState = (typeof itemStates)[number];

export type ItemInput = Readonly<Record<string, string | number | null>>;

/** One entry of a task's source, with its state and result. */
export interface Item {
  readonly id: number;
  readonly taskId: number;
  readonly target: string;
  readonly input: ItemInput;
  readonly state: ItemState;
  /** Attempts so far, aborted ones included. */
  readonly attempts: number;
  /** The result of the last attempt in one sentence; empty before the first attempt. */
  readonly message: string;
  readonly postId: number | null;
  readonly ai: { readonly provider: string; readonly model: string } | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Milliseconds until a pending item is due; 0: now; null: not pending. */
  readonly wait: number | null;
}

/** An item whose job runs. */
export interface QueuedItem extends Item {
  readonly sourcePostId: number | null;
}

export type ItemCounts = Readonly<Record<ItemState, number>>;

export interface ItemQuery {
  readonly state?: ItemState;
  /** Only items below this id, the last one of the previous page. */
  readonly before?: number;
  /** Only items above this id, the first one of the next page. The order stays newest first. */
  readonly after?: number;
  /** 1 to 200. */
  readonly limit: number;
}

/** Reference of an item's calls in the usage ledger. Its cost is the sum over all attempts, including those of killed processes. */
export function usageReference({ taskId, id }: Pick<Item, 'taskId' | 'id'>): string {
  return `automation:${String(taskId)}:${String(id)}`;
}

/** A row of the items table. PostgreSQL returns large integers as text. */
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
  /** Milliseconds until `due_at`, if the query selects it. */
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

export function toQueued(row: ItemRow): QueuedItem {
  return { ...toItem(row), sourcePostId: row.source_post_id };
}
