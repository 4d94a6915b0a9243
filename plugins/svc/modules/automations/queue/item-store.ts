import type { HostApi, Knex } from '#plugin-api';
import { itemJob, taskTables, toItemJob } from '../tables.ts';
import { itemStates, toItem, type Item, type ItemCounts, type ItemQuery, type ItemState } from './item.ts';

/** Items for pages and commands. */
export interface ItemStore {
  get(id: number): Promise<Item | null>;
  /** Newest first. */
  list(taskId: number, query: ItemQuery): Promise<Item[]>;
  counts(taskId: number): Promise<ItemCounts>;
  /** The counts of every task that has items, by task id. */
  allCounts(): Promise<ReadonlyMap<number, ItemCounts>>;
  /** Queues failed and cancelled items again, with all their attempts. Returns their number. */
  retry(taskId: number, choice: ItemChoice): Promise<number>;
  /** Cancels pending and processing items. Running attempts are aborted and store nothing. Returns their number. */
  cancel(taskId: number, choice: ItemChoice): Promise<number>;
  /** Adds the jobs of pending items that have none: of a task that was resumed, or of all active tasks. */
  requeue(taskId?: number): Promise<void>;
  /** Changes with every item, for pages that poll. */
  stamp(taskId: number): Promise<string>;
}

/** Which items; without members, all for which the operation is possible. */
export interface ItemChoice {
  readonly ids?: readonly number[];
  readonly state?: ItemState;
}

const none: ItemCounts = { pending: 0, processing: 0, completed: 0, failed: 0, cancelled: 0 };

export function createItemStore({ database, jobs }: Pick<HostApi, 'database' | 'jobs'>): ItemStore {
  const items = () => database.knex(taskTables.items);
  const withWait = () => items().select('*', database.knex.raw('(?? - ?) as wait', ['due_at', database.now()]));

  function chosen(taskId: number, { ids, state }: ItemChoice, possible: readonly ItemState[]): Knex.QueryBuilder {
    const query = items()
      .where({ task_id: taskId })
      .whereIn('state', state === undefined ? [...possible] : possible.filter((one) => one === state));
    return ids === undefined ? query : query.whereIn('id', [...ids]);
  }

  return {
    async get(id) {
      const row = (await withWait().where({ id }).first()) as object | undefined;
      return row === undefined ? null : toItem(row);
    },
    async list(taskId, { state, before, after, limit }) {
      const query = withWait()
        .where({ task_id: taskId })
        .orderBy('id', after === undefined ? 'desc' : 'asc')
        .limit(limit);
      if (state !== undefined) void query.where({ state });
      if (before !== undefined) void query.where('id', '<', before);
      if (after !== undefined) void query.where('id', '>', after);
      const rows = ((await query) as object[]).map(toItem);
      return after === undefined ? rows : rows.reverse();
    },
    async counts(taskId) {
      const rows = (await items().where({ task_id: taskId }).groupBy('state').select('state').count({ n: '*' })) as {
        readonly state: ItemState;
        readonly n: number | string;
      }[];
      return { ...none, ...Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)])) };
    },
    async allCounts() {
      const rows = (await items().groupBy('task_id', 'state').select('task_id', 'state').count({ n: '*' })) as {
        readonly task_id: number;
        readonly state: ItemState;
        readonly n: number | string;
      }[];
      const counts = new Map<number, ItemCounts>();
      for (const { task_id: id, state, n } of rows) counts.set(id, { ...none, ...counts.get(id), [state]: Number(n) });
      return counts;
    },
    async retry(taskId, choice) {
      const changes = {
        state: 'pending',
        tries_from: database.knex.ref('attempts'),
        message: '',
        finished_at: null,
      };
      return database.transaction(async () => {
        const rows = await chosen(taskId, choice, ['failed', 'cancelled'])
          .update(changes as never)
          .returning(['id', 'task_id']);
        await jobs.addMany(itemJob, rows.map(toItemJob));
        return rows.length;
      });
    },
    async cancel(taskId, choice) {
      const changes = { state: 'cancelled', due_at: null, message: 'Cancelled.', finished_at: database.now() };
      return database.transaction(async () => {
        const rows = (await chosen(taskId, choice, ['pending', 'processing'])
          .update(changes as never)
          .returning('id')) as { readonly id: number }[];
        await jobs.cancel({ name: itemJob, keys: rows.map(({ id }) => String(id)) });
        return rows.length;
      });
    },
    async requeue(taskId) {
      const active = database.knex(taskTables.tasks).select('id').where({ status: 'active' });
      const waiting = items().where({ state: 'pending' }).whereIn('task_id', active).orderBy('id');
      if (taskId !== undefined) void waiting.where({ task_id: taskId });
      await jobs.addMany(itemJob, (await waiting.select('id', 'task_id')).map(toItemJob));
    },
    async stamp(taskId) {
      const row = (await items()
        .where({ task_id: taskId })
        .select(database.knex.raw('sum(attempts) as attempts, max(id) as last, max(finished_at) as finished'))
        .first()) as Readonly<Record<string, unknown>> | undefined;
      const counts = await this.counts(taskId);
      return [...itemStates.map((state) => counts[state]), ...Object.values(row ?? {})]
        .map((value) => String(value ?? ''))
        .join('-');
    },
  };
}
