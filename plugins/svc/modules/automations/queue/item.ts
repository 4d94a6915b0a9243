import { createRowMapper } from '#plugin-api';

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

interface ItemColumns extends Omit<Item, 'ai' | 'wait'> {
  readonly aiProvider: string | null;
  readonly aiModel: string | null;
  readonly sourcePostId: number | null;
  /** Milliseconds until `due_at`, if the query selects it. */
  readonly wait?: number | null;
}

const { fromRow } = createRowMapper<ItemColumns>({
  json: ['input'],
  others: ['run_id', 'identity', 'seen_modified', 'tries_from', 'due_at'],
});

export function toQueued(row: object): QueuedItem {
  const { aiProvider, aiModel, wait, ...item } = fromRow(row);
  return {
    ...item,
    ai: aiProvider === null ? null : { provider: aiProvider, model: aiModel ?? '' },
    wait: item.state === 'pending' ? Math.max(0, Number(wait ?? 0)) : null,
  };
}

export function toItem(row: object): Item {
  const { sourcePostId: _source, ...item } = toQueued(row);
  return item;
}
