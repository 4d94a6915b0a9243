import type { HostApi, Knex } from '#plugin-api';
import { formTables } from '../forms/form-tables.ts';
import { createAttempts } from './attempts.ts';
import { filtered, submissionOf } from './submission-rows.ts';
import type { ReadState, SubmissionStore } from './submission.ts';
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
    async countByReadState({ readState: _all, ...filter }) {
      const rows = (await filtered(table(), filter)
        .groupBy('read_state')
        .select('read_state')
        .count({ total: '*' })) as readonly { read_state: ReadState; total: number | string }[];
      return new Map(rows.map(({ read_state, total }) => [read_state, Number(total)]));
    },
    async countNew() {
      const rows = (await table()
        .where({ read_state: 'new' satisfies ReadState })
        .groupBy('form_id')
        .select('form_id')
        .count({ total: '*' })) as readonly { form_id: number; total: number | string }[];
      return new Map(rows.map(({ form_id, total }) => [form_id, Number(total)]));
    },
    mark: (ids, readState) => table().whereIn('uuid', ids).update({ read_state: readState }),
    delete: (ids) => table().whereIn('uuid', ids).delete(),
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
