import type { HostApi } from '#plugin-api';
import type { Cost } from '../../kit/format-cost.ts';
import type { UsagePort, UsageRow } from '../../ports.ts';
import { usageReference, type Item } from './queue/item.ts';
import { taskTables } from './tables.ts';

/** The usage module's table of calls; its README documents the columns. */
const usageTable = 'svc_usage';

export type ItemCall = Pick<
  UsageRow,
  | 'id'
  | 'time'
  | 'kind'
  | 'provider'
  | 'model'
  | 'input_tokens'
  | 'output_tokens'
  | 'images'
  | 'cost'
  | 'duration'
  | 'outcome'
>;

export interface Costs {
  /** Costs by item id, without items that made no calls. */
  ofItems(items: readonly Pick<Item, 'id' | 'taskId'>[]): Promise<ReadonlyMap<number, Cost>>;
  ofTask(taskId: number): Promise<Cost>;
  /** All calls of an item, oldest first. */
  calls(item: Pick<Item, 'id' | 'taskId'>): Promise<ItemCall[]>;
}

interface SumRow {
  readonly reference: string;
  readonly cost: number | string | null;
  readonly calls: number | string;
  readonly unpriced: number | string;
}

const sums = 'sum(u.cost) as cost, count(*) as calls, sum(case when u.cost is null then 1 else 0 end) as unpriced';

export function createCosts({
  host: { database },
  ledger,
}: {
  readonly host: Pick<HostApi, 'database'>;
  readonly ledger: Pick<UsagePort['ledger'], 'flush'>;
}): Costs {
  const { knex } = database;
  return {
    async ofItems(items) {
      if (items.length === 0) return new Map();
      await ledger.flush();
      const ids = new Map(items.map((item) => [usageReference(item), item.id]));
      const rows = (await knex({ u: usageTable })
        .whereIn('u.reference', [...ids.keys()])
        .groupBy('u.reference')
        .select('u.reference', knex.raw(sums))) as SumRow[];
      return new Map(rows.map((row) => [ids.get(row.reference) ?? 0, toCost(row)]));
    },
    async ofTask(taskId) {
      await ledger.flush();
      const [row] = (await knex({ i: taskTables.items })
        .join({ u: usageTable }, 'u.reference', knex.raw("'automation:' || i.task_id || ':' || i.id"))
        .where('i.task_id', taskId)
        .select(knex.raw(sums))) as SumRow[];
      return row === undefined ? { cost: 0, calls: 0, unpriced: 0 } : toCost(row);
    },
    async calls(item) {
      await ledger.flush();
      return (await knex(usageTable)
        .where({ reference: usageReference(item) })
        .orderBy('time')
        .orderBy('id')
        .select(
          'id',
          'time',
          'kind',
          'provider',
          'model',
          'input_tokens',
          'output_tokens',
          'images',
          'cost',
          'duration',
          'outcome',
        )) as ItemCall[];
    },
  };
}

function toCost({ cost, calls, unpriced }: SumRow): Cost {
  return { cost: Number(cost ?? 0), calls: Number(calls), unpriced: Number(unpriced ?? 0) };
}
