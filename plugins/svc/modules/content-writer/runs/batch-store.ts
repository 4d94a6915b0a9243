import { storedJson } from '#plugin-api';
import { randomUUID } from 'node:crypto';
import type { RowPage } from '../../../kit/table-reads.ts';
import type { HostApi, Knex } from '#plugin-api';
import { contentTableNames, writeTextJob } from '../content-tables.ts';
import { emptyDraft, type ContentInput } from '../write/draft.ts';
import { batchRows, toItem, shortTopic } from './item.ts';
import { itemStatuses, type Batch, type BatchSettings, type BatchTotals, type Item, type ItemStatus } from './item.ts';

/** Stores batches and their texts. */
export interface BatchStore {
  createBatch(batch: {
    readonly label: string;
    readonly userId: number;
    readonly settings: BatchSettings;
    readonly inputs: readonly ContentInput[];
  }): Promise<Batch>;
  batch(id: number): Promise<Batch | null>;
  /** Newest first. @param userId null for all users */
  batches(query: RowPage & { readonly userId: number | null }): Promise<readonly Batch[]>;
  countBatches(userId: number | null): Promise<number>;
  /** Changes a batch that is not started yet. */
  changeBatch(
    id: number,
    changes: { readonly settings: BatchSettings; readonly inputs?: readonly ContentInput[] },
  ): Promise<void>;
  /** Returns false if the batch was already started. */
  startBatch(id: number): Promise<boolean>;
  /** Deletes the batch and its items. Posts are kept. */
  deleteBatch(id: number): Promise<void>;
  totals(batchIds: readonly number[]): Promise<ReadonlyMap<number, BatchTotals>>;
  items(batchId: number, page: RowPage): Promise<readonly Item[]>;
  allInputs(batchId: number): Promise<readonly ContentInput[]>;
  /** Cancels all unfinished items. Returns their number. */
  cancel(batchId: number): Promise<number>;
  /** Queues failed and cancelled items again with their finished sections. Returns their number. @param id default: all */
  retry(batchId: number, id?: number): Promise<number>;
}

type Host = Pick<HostApi, 'database' | 'clock' | 'jobs'>;

const zero = Object.fromEntries(itemStatuses.map((status) => [status, 0])) as Record<ItemStatus, number>;
const unfinished: readonly ItemStatus[] = ['waiting', 'pending', 'processing'];
/** The last priority of jobs. */
const lastPriority = 1_000;
/** Texts of several batches take turns: they run in the order of their positions. */
const toJob = ({ id, position }: Pick<Item, 'id' | 'position'>) => ({
  args: { item: id },
  key: String(id),
  priority: Math.min(lastPriority, position),
  whenWaiting: 'replace' as const,
});
/** Rows per INSERT; SQLite allows about 32,000 values. */
const perInsert = 200;

export function createBatchStore(host: Host): BatchStore {
  const { database, clock, jobs } = host;
  const { knex } = database;
  const batches = () => knex(contentTableNames.batches);
  const items = () => knex(contentTableNames.items);
  const mine = (userId: number | null) => batches().where(userId === null ? {} : { user_id: userId });
  const stamp = () => ({ updated_at: clock.now() });
  /** Changes items, and adds or cancels their jobs. Returns their number. */
  const changeItems = (
    chosen: () => Knex.QueryBuilder,
    changes: Partial<Pick<Item, 'status' | 'attempts'>>,
  ): Promise<number> =>
    database.transaction(async () => {
      const rows = (await chosen()
        .update({ message: '', ...changes, ...stamp() })
        .returning(['id', 'position'])) as Pick<Item, 'id' | 'position'>[];
      if (changes.status === 'pending') await jobs.addMany(writeTextJob, rows.map(toJob));
      else await jobs.cancel({ name: writeTextJob, keys: rows.map(({ id }) => String(id)) });
      return rows.length;
    });

  return {
    createBatch: ({ label, userId, settings, inputs }) =>
      database.transaction(async () => {
        const now = clock.now();
        const row = { label: shortTopic(label).slice(0, 200), userId, status: 'draft', settings } as const;
        const [added] = (await batches()
          .insert(batchRows.toRow({ ...row, createdAt: now, updatedAt: now }))
          .returning('*')) as [object];
        const batch = batchRows.fromRow(added);
        await addInputs(host, batch, inputs);
        return batch;
      }),
    batch: (id) => batchRows.first(batches().where({ id })),
    batches: ({ userId, limit, offset }) =>
      batchRows.all(mine(userId).orderBy('id', 'desc').limit(limit).offset(offset)),
    countBatches: async (userId) =>
      Number(((await mine(userId).count('* as count')) as { readonly count: number | string }[])[0]?.count ?? 0),
    changeBatch: (id, { settings, inputs }) =>
      database.transaction(async () => {
        const [row] = (await batches()
          .where({ id, status: 'draft' })
          .update({ settings: JSON.stringify(settings), ...stamp() })
          .returning('*')) as object[];
        if (row === undefined || inputs === undefined) return;
        await items().where({ batch_id: id }).delete();
        await addInputs(host, batchRows.fromRow(row), inputs);
      }),
    startBatch: (id) =>
      database.transaction(async () => {
        const changed = await batches()
          .where({ id, status: 'draft' })
          .update({ status: 'started', ...stamp() });
        if (changed === 0) return false;
        await changeItems(() => items().where({ batch_id: id, status: 'waiting' }), { status: 'pending' });
        return true;
      }),
    deleteBatch: (id) =>
      database.transaction(async () => {
        await changeItems(() => items().where({ batch_id: id }).whereIn('status', unfinished), { status: 'cancelled' });
        await items().where({ batch_id: id }).delete();
        await batches().where({ id }).delete();
      }),
    totals: (batchIds) => readTotals(database, batchIds),
    items: async (batchId, { limit, offset }) =>
      ((await items().where({ batch_id: batchId }).orderBy('position').limit(limit).offset(offset)) as object[]).map(
        toItem,
      ),
    async allInputs(batchId) {
      const rows = (await items().where({ batch_id: batchId }).orderBy('position').select('input')) as {
        readonly input: string;
      }[];
      return rows.map(({ input }) => storedJson(input) as ContentInput);
    },
    cancel: (batchId) =>
      changeItems(() => items().where({ batch_id: batchId }).whereIn('status', unfinished), {
        ...{ status: 'cancelled', message: 'Cancelled.' },
      }),
    retry: (batchId, id) =>
      changeItems(
        () =>
          items()
            .where({ batch_id: batchId, ...(id !== undefined && { id }) })
            .whereIn('status', ['failed', 'cancelled']),
        { status: 'pending', attempts: 0 },
      ),
  };
}

async function addInputs(
  { database: { knex }, clock }: Host,
  batch: Pick<Batch, 'id' | 'userId'>,
  inputs: readonly ContentInput[],
): Promise<void> {
  const now = clock.now();
  const rows = inputs.map((input, position) => ({
    uuid: randomUUID(),
    batch_id: batch.id,
    user_id: batch.userId,
    position,
    topic: shortTopic(input.topic || input.source_url),
    input: JSON.stringify(input),
    status: 'waiting',
    draft: JSON.stringify(emptyDraft),
    message: '',
    created_at: now,
    updated_at: now,
  }));
  for (let at = 0; at < rows.length; at += perInsert)
    await knex(contentTableNames.items).insert(rows.slice(at, at + perInsert));
}

async function readTotals(
  { knex }: HostApi['database'],
  batchIds: readonly number[],
): Promise<ReadonlyMap<number, BatchTotals>> {
  const rows =
    batchIds.length === 0
      ? []
      : ((await knex(contentTableNames.items)
          .whereIn('batch_id', [...batchIds])
          .groupBy('batch_id', 'status')
          .select('batch_id', 'status')
          .count('* as count')
          .sum({ cost: 'cost', unpriced: 'unpriced', tokens: 'tokens' })) as (Record<
          'count' | 'cost' | 'unpriced' | 'tokens',
          number | string
        > & { readonly batch_id: number; readonly status: ItemStatus })[]);
  const totals = new Map<number, BatchTotals>(
    batchIds.map((id) => [id, { counts: zero, total: 0, cost: 0, unpriced: 0, tokens: 0 }]),
  );
  for (const row of rows) {
    const { counts, total, cost, unpriced, tokens } = totals.get(row.batch_id) as BatchTotals;
    totals.set(row.batch_id, {
      counts: { ...counts, [row.status]: Number(row.count) },
      total: total + Number(row.count),
      cost: cost + Number(row.cost),
      unpriced: unpriced + Number(row.unpriced),
      tokens: tokens + Number(row.tokens),
    });
  }
  return totals;
}
