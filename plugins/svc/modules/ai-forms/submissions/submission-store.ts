import type { HostApi, Knex } from '#plugin-api';
import { formTables } from '../forms/form-tables.ts';
import { createAttempts } from './attempts.ts';
import { filtered, submissionOf } from './submission-rows.ts';
import type { SubmissionStore } from './submission.ts';
import { createReadStates } from '../../../kit/submissions/read-states.ts';
import { columnsOf, countRows, readInBatches } from '../../../kit/table-reads.ts';

const batchSize = 200;

/** Submissions in the database. Any node may accept one, and every call joins a running transaction. */
export function createSubmissionStore({
  host,
}: {
  readonly host: Pick<HostApi, 'database' | 'clock'>;
}): SubmissionStore {
  const { database } = host;
  const table = (): Knex.QueryBuilder => database.knex(formTables.submissions);

  return {
    ...createAttempts({ host }),
    ...createReadStates({ table, filtered, owner: 'form_id' }),
    async find(id) {
      const row = (await table().where({ uuid: id }).first()) as object | undefined;
      return row ? submissionOf(row) : null;
    },
    async list(filter, { limit, offset }) {
      return ((await filtered(table(), filter).orderBy('id', 'desc').limit(limit).offset(offset)) as object[]).map(
        submissionOf,
      );
    },
    count: (filter) => countRows(filtered(table(), filter)),
    async latest() {
      const rows = (await table().groupBy('form_id').select('form_id').max({ at: 'created_at' })) as {
        form_id: number;
        at: number;
      }[];
      return new Map(rows.map(({ form_id, at }) => [form_id, at]));
    },
    async *all(filter) {
      for await (const row of readInBatches(() => filtered(table(), filter), batchSize)) yield submissionOf(row);
    },
    of: async (person) => ((await table().where(columnsOf(person)).orderBy('id')) as object[]).map(submissionOf),
    eraseOf: (person) => table().where(columnsOf(person)).delete(),
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
