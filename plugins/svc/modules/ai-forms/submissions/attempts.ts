import type { HostApi, Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import type { Reserved } from '../../../kit/visitors/limit-counters.ts';
import { formTables } from '../forms/form-tables.ts';
import { rowOf, type Row } from './submission-rows.ts';
import type { Attempt, SubmissionStore } from './submission.ts';

/** In milliseconds. */
export const leaseTime = 60_000;
const batchSize = 200;
/** Characters of a response that searches cover. */
const maxSearched = 20_000;

const isMine = ({ id, attempt }: Attempt) => ({ uuid: id, attempt, status: 'running' });
const parseReserved = (reserved: string): Reserved | null =>
  reserved === '' ? null : (JSON.parse(reserved) as Reserved);

type Attempts = Pick<SubmissionStore, 'claim' | 'reserve' | 'renew' | 'complete' | 'fail' | 'recover'>;
type AttemptsHost = Pick<HostApi, 'database' | 'clock'>;

/** Attempts at submissions: leases on the database clock, with the attempt number as fencing token. */
export function createAttempts({ host }: { readonly host: AttemptsHost }): Attempts {
  const { database, clock } = host;
  const table = (): Knex.QueryBuilder<Row, Row[]> =>
    database.knex<Row>(formTables.submissions) as Knex.QueryBuilder<Row, Row[]>;
  const leaseEnd = (): Knex.Raw => database.knex.raw('? + ?', [database.now(), leaseTime]);

  return {
    async claim(submission) {
      const row = rowOf(submission);
      const inserted = (await table()
        .insert({ ...row, status: 'running', attempt: 1, lease_until: leaseEnd(), reserved: '' })
        .onConflict('uuid')
        .ignore()
        .returning('id')) as unknown[];
      if (inserted.length > 0) return { attempt: { id: submission.id, attempt: 1 }, abandoned: null };
      const query = table().where({ uuid: submission.id, form_id: submission.formId }).first();
      const found = (await (database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
      if (found === undefined || found.status === 'completed') return null;
      const attempt = Number(found.attempt) + 1;
      const { created_at: _createdAt, ...changes } = row;
      const changed = await table()
        .where({ uuid: submission.id, attempt: found.attempt })
        .where((open) => void open.where('status', 'failed').orWhere((running) => void whereExpired(running, host)))
        .update({ ...changes, status: 'running', attempt, lease_until: leaseEnd(), reserved: '' });
      return changed === 0
        ? null
        : {
            attempt: { id: submission.id, attempt },
            abandoned: found.status === 'running' ? parseReserved(found.reserved) : null,
          };
    },
    async reserve(attempt, reserved) {
      await table()
        .where(isMine(attempt))
        .update({ reserved: reserved === null ? '' : JSON.stringify(reserved) });
    },
    renew: async (attempt) => (await table().where(isMine(attempt)).update({ lease_until: leaseEnd() })) > 0,
    async complete(attempt, { response, generation, number, keep }) {
      const searchText = keep
        ? database.knex.raw('search_text || ?', [`\n${foldText(response.slice(0, maxSearched))}`])
        : '';
      const changed = await table()
        .where(isMine(attempt))
        .update({
          status: 'completed',
          number,
          response: keep ? response : '',
          generation: JSON.stringify(keep ? generation : { ...generation, sources: [] }),
          search_text: searchText,
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
        return changed === 0 ? null : { reserved: parseReserved(found.reserved) };
      }),
    recover: () => recover(host),
  };
}

function whereExpired(query: Knex.QueryBuilder, { database }: AttemptsHost): Knex.QueryBuilder {
  return query.where('status', 'running').where('lease_until', '<', database.now());
}

function recover(host: AttemptsHost): Promise<Reserved[]> {
  const { database, clock } = host;
  const table = (): Knex.QueryBuilder<Row, Row[]> =>
    database.knex<Row>(formTables.submissions) as Knex.QueryBuilder<Row, Row[]>;
  return database.transaction(async () => {
    const rows = (await whereExpired(table(), host).limit(batchSize).select('uuid', 'attempt', 'reserved')) as Pick<
      Row,
      'uuid' | 'attempt' | 'reserved'
    >[];
    const released: Reserved[] = [];
    for (const { uuid, attempt, reserved } of rows) {
      const changed = await table()
        .where(isMine({ id: uuid, attempt }))
        .where('lease_until', '<', database.now())
        .update({
          status: 'failed',
          error: 'The node stopped before the submission was completed.',
          error_code: 'rest_svc_form_abandoned',
          reserved: '',
          finished_at: clock.now(),
        });
      const back = changed > 0 ? parseReserved(reserved) : null;
      if (back !== null) released.push(back);
    }
    return released;
  });
}
