import type { HostApi, Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import type { Reserved } from '../../../kit/visitors/limit-counters.ts';
import { formTables } from '../forms/form-tables.ts';
import { rowOf, type Row } from './submission-rows.ts';
import type { Attempt, SubmissionStore } from './submission.ts';

/** Milliseconds a try has without a sign of life. */
export const leaseTime = 60_000;
const pieceSize = 200;
/** Of an answer, what a search looks through. */
const mostSearched = 20_000;

const isMine = ({ id, attempt }: Attempt) => ({ uuid: id, attempt, status: 'running' });
const takenIn = (reserved: string): Reserved | null => (reserved === '' ? null : (JSON.parse(reserved) as Reserved));

type Attempts = Pick<SubmissionStore, 'take' | 'reserve' | 'renew' | 'complete' | 'fail' | 'recover'>;
type AttemptsHost = Pick<HostApi, 'database' | 'clock'>;

/** Tries to answer submissions: leases on the database's clock, and numbers of tries that fence off those that lost theirs. */
export function createAttempts({ host }: { readonly host: AttemptsHost }): Attempts {
  const { database, clock } = host;
  const table = (): Knex.QueryBuilder<Row, Row[]> =>
    database.knex<Row>(formTables.submissions) as Knex.QueryBuilder<Row, Row[]>;
  const leaseEnd = (): Knex.Raw => database.knex.raw('? + ?', [database.now(), leaseTime]);

  return {
    async take(submission) {
      const row = rowOf(submission);
      const made = (await table()
        .insert({ ...row, status: 'running', attempt: 1, lease_until: leaseEnd(), reserved: '' })
        .onConflict('uuid')
        .ignore()
        .returning('id')) as unknown[];
      if (made.length > 0) return { attempt: { id: submission.id, attempt: 1 }, abandoned: null };
      const query = table().where({ uuid: submission.id, form_id: submission.formId }).first();
      const found = (await (database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
      if (found === undefined || found.status === 'completed') return null;
      const attempt = Number(found.attempt) + 1;
      const { created_at: _kept, ...changes } = row;
      const changed = await table()
        .where({ uuid: submission.id, attempt: found.attempt })
        .where((open) => void open.where('status', 'failed').orWhere((running) => void over(running, host)))
        .update({ ...changes, status: 'running', attempt, lease_until: leaseEnd(), reserved: '' });
      return changed === 0
        ? null
        : {
            attempt: { id: submission.id, attempt },
            abandoned: found.status === 'running' ? takenIn(found.reserved) : null,
          };
    },
    async reserve(attempt, taken) {
      await table()
        .where(isMine(attempt))
        .update({ reserved: taken === null ? '' : JSON.stringify(taken) });
    },
    renew: async (attempt) => (await table().where(isMine(attempt)).update({ lease_until: leaseEnd() })) > 0,
    async complete(attempt, { response, made, number, keep }) {
      const words = keep ? database.knex.raw('found_by || ?', [`\n${foldText(response.slice(0, mostSearched))}`]) : '';
      const changed = await table()
        .where(isMine(attempt))
        .update({
          status: 'completed',
          number,
          response: keep ? response : '',
          made: JSON.stringify(keep ? made : { ...made, sources: [] }),
          found_by: words,
          reserved: '',
          error: '',
          error_code: '',
          finished_at: clock.now(),
        });
      return changed > 0;
    },
    fail: (attempt, { error, code }) =>
      database.transaction(async () => {
        const found = (await table().where(isMine(attempt)).first('reserved')) as Pick<Row, 'reserved'> | undefined;
        if (found === undefined) return null;
        const changed = await table()
          .where(isMine(attempt))
          .update({
            status: 'failed',
            error: error.slice(0, 2_000),
            error_code: code,
            reserved: '',
            finished_at: clock.now(),
          });
        return changed === 0 ? null : { taken: takenIn(found.reserved) };
      }),
    recover: () => recover(host),
  };
}

function over(query: Knex.QueryBuilder, { database }: AttemptsHost): Knex.QueryBuilder {
  return query.where('status', 'running').where('lease_until', '<', database.now());
}

function recover(host: AttemptsHost): Promise<Reserved[]> {
  const { database, clock } = host;
  const table = (): Knex.QueryBuilder<Row, Row[]> =>
    database.knex<Row>(formTables.submissions) as Knex.QueryBuilder<Row, Row[]>;
  return database.transaction(async () => {
    const rows = (await over(table(), host).limit(pieceSize).select('uuid', 'attempt', 'reserved')) as Pick<
      Row,
      'uuid' | 'attempt' | 'reserved'
    >[];
    const taken: Reserved[] = [];
    for (const { uuid, attempt, reserved } of rows) {
      const changed = await table()
        .where(isMine({ id: uuid, attempt }))
        .where('lease_until', '<', database.now())
        .update({
          status: 'failed',
          error: 'The node that answered it stopped before it was done.',
          error_code: 'rest_svc_form_abandoned',
          reserved: '',
          finished_at: clock.now(),
        });
      const back = changed > 0 ? takenIn(reserved) : null;
      if (back !== null) taken.push(back);
    }
    return taken;
  });
}
