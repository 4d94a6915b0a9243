import type { HostApi, Knex } from '#plugin-api';
import { indexJob, tables } from '../tables.ts';
import type { NewSource, Source, SourceCounts, SourceState, SourceStore } from './source.ts';
import { all, currentRow, filtered, first, sourceRows, toSource, toSourceRow } from './source-rows.ts';
import { countRows } from '../../../kit/table-reads.ts';

interface ContentRow {
  readonly source_id: number;
  readonly body: string;
  readonly file_name: string;
  readonly file: Uint8Array | null;
}

const maxLengths = { title: 500, fileName: 300 } as const;

/** See SourceStore. */
export function createSourceStore({
  database,
  clock,
  jobs,
}: Pick<HostApi, 'database' | 'clock' | 'jobs'>): SourceStore {
  const { knex } = database;
  const rows = () => sourceRows(database);
  const contents = () => knex<ContentRow>(tables.contents);
  /** Requeues a source. The job that works on it cannot complete it, and runs again. */
  const requeued = {
    state: 'pending' as SourceState,
    version: knex.raw('?? + 1', ['version']) as unknown as number,
    message: '',
  };
  const addJobs = (ids: readonly number[]): Promise<number> =>
    jobs.addMany(
      indexJob,
      ids.map((source) => ({ args: { source }, key: String(source), whenWaiting: 'replace' })),
    );

  async function put(source: NewSource): Promise<Source> {
    const columns = sourceColumns(source, clock.now());
    const fresh = {
      ...initialColumns,
      ...columns,
      base_id: source.baseId,
      identity: source.identity,
      kind: source.kind,
      created_at: clock.now(),
    };
    return database.transaction(async () => {
      const [added] = (await rows()
        .insert(fresh)
        .onConflict(['base_id', 'identity'])
        .ignore()
        .returning('*')) as object[];
      const [row] =
        added === undefined
          ? ((await rows()
              .where({ base_id: source.baseId, identity: source.identity })
              .update({ ...columns, ...requeued })
              .returning('*')) as object[])
          : [added];
      if (row === undefined) throw new Error('The source was not stored.');
      const stored = toSource(row);
      if (stored.kind === 'post' && stored.postId !== null)
        await knex(tables.posts)
          .insert({ base_id: stored.baseId, post_id: stored.postId })
          .onConflict(['base_id', 'post_id'])
          .ignore();
      if (source.content !== undefined) {
        const { body = '', fileName = '', file = null } = source.content;
        const content = {
          source_id: stored.id,
          body,
          file_name: fileName.slice(0, maxLengths.fileName),
          file: file === null ? null : Buffer.from(file),
        };
        await contents().insert(content).onConflict('source_id').merge();
      }
      if (source.isHeld !== true) await addJobs([stored.id]);
      return stored;
    });
  }

  return {
    put,
    get: (id) => first(rows().where({ id })),
    list: (filter, { limit, offset }) =>
      all(filtered(rows(), filter).orderBy('id', 'desc').limit(limit).offset(offset)),
    count: (filter) => countRows(filtered(rows(), filter)),
    counts: () => countSources(rows()),
    listByPost: (postId) => all(rows().where({ post_id: postId })),
    async requeue(filter, { force = false, origin = 'admin_knowledge_base' } = {}) {
      const again = { ...requeued, origin, updated_at: clock.now(), ...(force && { content_hash: '' }) };
      return database.transaction(async () => {
        const ids = await idsOf(filtered(rows(), filter).whereNot({ state: 'deleting' }).update(again));
        if (force)
          for (let at = 0; at < ids.length; at += 500)
            await knex(tables.chunks)
              .whereIn('source_id', ids.slice(at, at + 500))
              .update({ is_written: 0 });
        await addJobs(ids);
        return ids.length;
      });
    },
    listFollowers: async (postId) => (await knex(tables.posts).where({ post_id: postId }).pluck('base_id')) as number[],
    async forgetPost(postId) {
      await knex(tables.posts).where({ post_id: postId }).delete();
    },
    async markDeleting(filter, { keepsFollowing = false } = {}) {
      const { baseId, ...rest } = filter;
      // A base that is deleted also forgets posts that have no source now, because they are not published.
      if (baseId !== undefined && Object.keys(rest).length === 0)
        await knex(tables.posts).where({ base_id: baseId }).delete();
      else if (!keepsFollowing)
        await knex(tables.posts)
          .whereExists(
            filtered(rows(), filter)
              .whereRaw('?? = ??', [`${tables.sources}.base_id`, `${tables.posts}.base_id`])
              .whereRaw('?? = ??', [`${tables.sources}.post_id`, `${tables.posts}.post_id`]),
          )
          .delete();
      const deleting = { state: 'deleting', content_hash: '', message: 'Deleting its passages.' } as const;
      return database.transaction(async () => {
        const ids = await idsOf(filtered(rows(), filter).update({ ...requeued, ...deleting, updated_at: clock.now() }));
        await addJobs(ids);
        return ids.length;
      });
    },
    async content(id) {
      const row = (await contents().where({ source_id: id }).first()) as ContentRow | undefined;
      return row === undefined ? null : { body: row.body, fileName: row.file_name, file: row.file };
    },
    async saveText(source, { title, text }) {
      await database.transaction(async () => {
        // In one transaction, so that a file replaced in the meantime is not overwritten.
        const [held] = (await currentRow(database, source)
          .update({ title: title.slice(0, maxLengths.title), updated_at: clock.now() })
          .returning('id')) as unknown[];
        if (held !== undefined) await contents().where({ source_id: source.id }).update({ body: text, file: null });
      });
    },
  };
}

const initialColumns = {
  url: '',
  post_id: null,
  parent_id: null,
  state: 'pending',
  message: '',
  version: 1,
  content_hash: '',
  chunks_total: 0,
  chunks_done: 0,
  indexed_at: null,
} as const;

async function idsOf(update: Knex.QueryBuilder): Promise<readonly number[]> {
  return ((await update.returning('id')) as unknown as { readonly id: number }[]).map(({ id }) => id);
}

/** The columns that each `put` sets. */
function sourceColumns({ title, url, postId, parentId, origin = 'admin_knowledge_base' }: NewSource, now: number) {
  return toSourceRow({ title: title.slice(0, maxLengths.title), url, postId, parentId, origin, updatedAt: now });
}

async function countSources(rows: Knex.QueryBuilder): Promise<Map<number, SourceCounts>> {
  const found = (await rows
    .select('base_id', 'state')
    .count({ total: '*' })
    .sum({ chunks: 'chunks_done' })
    .groupBy('base_id', 'state')) as unknown as {
    readonly base_id: number;
    readonly state: SourceState;
    readonly total: number | string;
    readonly chunks: number | string | null;
  }[];
  const counts = new Map<number, SourceCounts>();
  for (const { base_id: id, state, total, chunks } of found) {
    const before = counts.get(id) ?? { pending: 0, indexing: 0, indexed: 0, failed: 0, deleting: 0, chunks: 0 };
    counts.set(id, { ...before, [state]: Number(total), chunks: before.chunks + Number(chunks ?? 0) });
  }
  return counts;
}
