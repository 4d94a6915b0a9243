import type { HostApi, Knex } from '#plugin-api';
import { tables } from '../tables.ts';
import type { SourceQueue } from './source.ts';
import { leased, toSource, sourceRows, type SourceRow } from './source-rows.ts';

/** Milliseconds without a renewal after which another node may claim a source. */
export const leaseTime = 60_000;

const maxMessageLength = 1_000;

/** See SourceQueue. Leases use the database's clock. Each claim gets a new fencing token, which every later write checks. */
export function createSourceQueue({ database, clock }: Pick<HostApi, 'database' | 'clock'>): SourceQueue {
  const { knex } = database;
  const after = (milliseconds: number) => knex.raw('? + ?', [database.now(), milliseconds]) as unknown as number;
  const rows = () => sourceRows(database);

  /** Unfinished sources without a valid lease. */
  const workable = () =>
    rows()
      .where('leased_until', '<', database.now() as unknown as number)
      .whereIn('state', ['pending', 'indexing', 'deleting']);
  const due = () => workable().where('due_at', '<=', database.now() as unknown as number);
  const changed = async (query: Knex.QueryBuilder<SourceRow, number>): Promise<boolean> =>
    ((await query.returning('id')) as unknown[]).length > 0;

  return {
    async claim(id) {
      return database.transaction(async () => {
        const query =
          id === undefined ? due().orderBy('due_at').orderBy('id').first() : workable().where({ id }).first();
        const found = (await (database.dialect === 'postgresql' ? query.forUpdate().skipLocked() : query)) as
          SourceRow | undefined;
        if (found === undefined) return null;
        const state = found.state === 'deleting' ? 'deleting' : 'indexing';
        const [row] = (await rows()
          .where({ id: found.id, fencing_token: found.fencing_token })
          .update({
            state,
            fencing_token: found.fencing_token + 1,
            leased_until: after(leaseTime),
            attempts: found.attempts + 1,
            updated_at: clock.now(),
          })
          .returning('*')) as SourceRow[];
        return row === undefined
          ? null
          : {
              source: toSource(row),
              lease: { sourceId: row.id, fencingToken: row.fencing_token, version: row.version },
            };
      });
    },
    isDue: async () => (await due().select('id').first()) !== undefined,
    renew: (lease) => changed(leased(database, lease).update({ leased_until: after(leaseTime) })),
    progress: (lease, { message, total, done }) =>
      changed(
        leased(database, lease).update({
          leased_until: after(leaseTime),
          updated_at: clock.now(),
          ...(message !== undefined && { message: message.slice(0, maxMessageLength) }),
          ...(total !== undefined && { chunks_total: total }),
          ...(done !== undefined && { chunks_done: done }),
        }),
      ),
    async finish({ source, lease }, { title, url, contentHash, message, chunks }, transaction) {
      const update = leased(database, lease)
        .where({ state: 'indexing' })
        .update({
          state: 'indexed',
          title: title.slice(0, 500),
          url,
          content_hash: contentHash,
          message: message.slice(0, maxMessageLength),
          chunks_total: chunks,
          chunks_done: chunks,
          indexed_version: source.version,
          attempts: 0,
          leased_until: 0,
          indexed_at: clock.now(),
          updated_at: clock.now(),
        });
      return changed(transaction === undefined ? update : update.transacting(transaction));
    },
    fail: ({ source, lease }, { message, retryAfter }) =>
      changed(
        leased(database, lease).update({
          state: source.state === 'deleting' ? 'deleting' : retryAfter === null ? 'failed' : 'pending',
          message: message.slice(0, maxMessageLength),
          leased_until: 0,
          due_at: retryAfter === null ? 0 : after(retryAfter),
          updated_at: clock.now(),
        }),
      ),
    async release(lease) {
      const { sourceId: id, fencingToken } = lease;
      await rows()
        .where({ id, fencing_token: fencingToken })
        .where('leased_until', '>', 0)
        .update({
          leased_until: 0,
          attempts: knex.raw('case when ?? > 0 then ?? - 1 else 0 end', ['attempts', 'attempts']) as unknown as number,
        });
    },
    remove: (lease) =>
      database.transaction(async () => {
        if ((await leased(database, lease).where({ state: 'deleting' }).delete()) === 0) return false;
        await knex(tables.chunks).where({ source_id: lease.sourceId }).delete();
        await knex(tables.contents).where({ source_id: lease.sourceId }).delete();
        return true;
      }),
  };
}
