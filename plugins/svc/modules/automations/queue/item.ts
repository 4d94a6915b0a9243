/** State of a queue item (contract 6.5, `data.queue_item.status`). */
export const itemStates = ['pending', 'processing', 'completed', 'failed', 'cancelled'] as const;
export type ItemState = (typeof itemStates)[number];

export type ItemInput = Readonly<Record<string, string | number | null>>;

/** One entry of a task's source, and what became of it. */
export interface Item {
  readonly id: number;
  readonly taskId: number;
  readonly target: string;
  readonly input: ItemInput;
  readonly state: ItemState;
  /** Begun so far, given up ones included. */
  readonly attempts: number;
  /** What came of the last attempt, one sentence; empty before the first. */
  readonly message: string;
  readonly postId: number | null;
  readonly ai: { readonly provider: string; readonly model: string } | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Milliseconds until a pending item may be begun; 0: at once; null: not pending. */
  readonly wait: number | null;
}

/** A claimed item: whoever holds the token may write what becomes of it. */
export interface ClaimedItem extends Item {
  readonly token: number;
  /** Attempts that count towards the most there may be, this one included. */
  readonly tries: number;
  readonly sourcePostId: number | null;
}

export type ItemCounts = Readonly<Record<ItemState, number>>;

export interface ItemQuery {
  readonly state?: ItemState;
  /** Only items below this id: the last one of the page before. */
  readonly before?: number;
  /** Only items above this id: the first one of the page after; they come newest first all the same. */
  readonly after?: number;
  /** 1 to 200. */
  readonly limit: number;
}

/** Reference of an item's calls in the usage ledger: its cost is the sum over all attempts, those of killed processes too. */
export function referenceOf({ taskId, id }: Pick<Item, 'taskId' | 'id'>): string {
  return `automation:${String(taskId)}:${String(id)}`;
}
