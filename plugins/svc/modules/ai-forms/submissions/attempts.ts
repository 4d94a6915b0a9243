import type { HostApi, Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import { formTables } from '../forms/form-tables.ts';
import { rowOf } from './submission-rows.ts';
import type { SubmissionStore } from './submission.ts';

/** Characters of a response that searches cover. */
const maxSearched = 20_000;

type Attempts = Pick<SubmissionStore, 'claim' | 'complete' | 'fail'>;

/** The states of submissions. The job of the attempt makes sure that one process at a time changes them. */
export function createAttempts({ host }: { readonly host: Pick<HostApi, 'database' | 'clock'> }): Attempts {
  const { database, clock } = host;
  const table = (): Knex.QueryBuilder => database.knex(formTables.submissions);

  return {
    async claim(submission) {
      const row = rowOf(submission);
      const inserted = (await table()
        .insert({ ...row, status: 'running', attempt: 1 })
        .onConflict('uuid')
        .ignore()
        .returning('id')) as unknown[];
      if (inserted.length > 0) return true;
      const { created_at: _createdAt, ...changes } = row;
      const changed = await table()
        .where({ uuid: submission.id, form_id: submission.formId, status: 'failed' })
        .update({ ...changes, status: 'running', attempt: database.knex.raw('attempt + 1') });
      return changed > 0;
    },
    async complete(id, { response, generation, number, keep }) {
      const searchText = keep
        ? database.knex.raw('search_text || ?', [`\n${foldText(response.slice(0, maxSearched))}`])
        : '';
      const changed = await table()
        .where({ uuid: id, status: 'running' })
        .update({
          status: 'completed',
          number,
          response: keep ? response : '',
          generation: JSON.stringify(keep ? generation : { ...generation, sources: [], data: undefined }),
          search_text: searchText,
          error: '',
          error_code: '',
          finished_at: clock.now(),
        });
      return changed > 0;
    },
    async fail(id, { error, code }) {
      const failed = {
        status: 'failed' as const,
        error: error.slice(0, 2_000),
        error_code: code,
        finished_at: clock.now(),
      };
      await table().where({ uuid: id, status: 'running' }).update(failed);
    },
  };
}
