import { storedJson } from '#plugin-api';
import type { Database } from '../../database/database-contract.ts';

interface MetaRow {
  readonly id: number;
  readonly post_id: number;
  readonly key: string;
  readonly value: string;
}

/** The SQL of meta. */
export function createMetaStore({ knex }: Pick<Database, 'knex'>) {
  return {
    async rows(postId: number, key: string): Promise<{ readonly id: number; readonly value: unknown }[]> {
      const rows = await knex<MetaRow>('post_meta').where({ post_id: postId, key }).orderBy('id').select('id', 'value');
      return rows.map(({ id, value }) => ({ id: Number(id), value: storedJson(value) }));
    },
    async load(
      postIds: readonly number[],
      keys?: readonly string[],
    ): Promise<ReadonlyMap<number, ReadonlyMap<string, unknown[]>>> {
      const found = new Map<number, Map<string, unknown[]>>();
      if (postIds.length === 0 || keys?.length === 0) return found;
      const select = knex<MetaRow>('post_meta')
        .whereIn('post_id', postIds)
        .orderBy('id')
        .select('post_id', 'key', 'value');
      if (keys) void select.whereIn('key', keys);
      for (const { post_id, key, value } of await select) {
        const values = found.get(Number(post_id)) ?? new Map<string, unknown[]>();
        values.set(key, [...(values.get(key) ?? []), storedJson(value)]);
        found.set(Number(post_id), values);
      }
      return found;
    },
    async add(postId: number, key: string, value: unknown): Promise<number> {
      const [row] = (await knex('post_meta')
        .insert({ post_id: postId, key, value: JSON.stringify(value) })
        .returning('id')) as { id: number }[];
      return Number(row?.id);
    },
    async update(id: number, value: unknown): Promise<void> {
      await knex('post_meta')
        .where({ id })
        .update({ value: JSON.stringify(value) });
    },
    async remove(ids: readonly number[]): Promise<void> {
      await knex('post_meta').whereIn('id', ids).delete();
    },
  };
}

export type MetaStore = ReturnType<typeof createMetaStore>;
