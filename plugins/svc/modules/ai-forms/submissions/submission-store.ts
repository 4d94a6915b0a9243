import type { HostApi, Knex } from '#plugin-api';
import { formTables } from '../forms/form-tables.ts';
import { createAttempts } from './attempts.ts';
import { filtered, submissionOf, whose, type Row } from './submission-rows.ts';
import type { SubmissionFilter, SubmissionStore } from './submission.ts';

const batchSize = 200;

/** Submissions in the database. Any node may accept one, and every call joins a running transaction. */
export function createSubmissionStore({
  host,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
}): SubmissionStore {
  const { database } = host;
  const table = (): Knex.QueryBuilder => database.knex(formTables.submissions);

  async function pageBefore(filter: SubmissionFilter, before: Row['id'] | null): Promise<Row[]> {
    const query = filtered(table(), filter).orderBy('id', 'desc').limit(batchSize);
    return (await (before === null ? query : query.where('id', '<', before))) as Row[];
  }

  return {
    ...createAttempts({ host }),
    async find(id) {
      const row = (await table().where({ uuid: id }).first()) as Row | undefined;
      return row ? submissionOf(row) : null;
    },
    async list(filter, { limit, offset }) {
      return ((await filtered(table(), filter).orderBy('id', 'desc').limit(limit).offset(offset)) as Row[]).map(
        submissionOf,
      );
    },
    async count(filter) {
      const [row] = (await filtered(table(), filter).count({ total: '*' })) as { total?: number | string }[];
      return Number(row?.total ?? 0);
    },
    async latest() {
      const rows = (await table().groupBy('form_id').select('form_id').max({ at: 'created_at' })) as {
        form_id: number;
        at: number;
      }[];
      return new Map(rows.map(({ form_id, at }) => [form_id, at]));
    },
    async *all(filter) {
      let rows = await pageBefore(filter, null);
      while (rows.length > 0) {
        yield* rows.map(submissionOf);
        rows = rows.length < batchSize ? [] : await pageBefore(filter, rows.at(-1)?.id ?? null);
      }
    },
    delete: async (id) => (await table().where({ uuid: id }).delete()) > 0,
    of: async (person) => ((await table().where(whose(person)).orderBy('id')) as Row[]).map(submissionOf),
    eraseOf: (person) => table().where(whose(person)).delete(),
    async sweep(formId, before) {
      let swept = 0;
      for (;;) {
        const ids = (await table()
          .where({ form_id: formId })
          .where('created_at', '<', before)
          .limit(batchSize)
          .pluck('id')) as number[];
        if (ids.length > 0) swept += await table().whereIn('id', ids).delete();
        if (ids.length < batchSize) return swept;
      }
    },
  };
}
