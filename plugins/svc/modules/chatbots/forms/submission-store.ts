import { createRowMapper, type DatabaseApi, type Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import type { CheckedForm } from './form.ts';
import type { NewSubmission, Submission, SubmissionFilter, SubmissionStore } from './submission.ts';
import { longestEmail, submissionsTable } from './submission-tables.ts';
import { createReadStates, type ReadState } from '../../../kit/submissions/read-states.ts';
import { columnsOf, countRows, readInBatches, searchIn } from '../../../kit/table-reads.ts';

interface Columns extends Omit<Submission, 'id' | keyof CheckedForm> {
  readonly uuid: string;
  readonly answers: CheckedForm;
}

const { fromRow } = createRowMapper<Columns>({ json: ['answers'], others: ['id', 'email', 'found_by'] });

const batchSize = 500;
/** Per statement; SQLite allows 32,766 values. */
const maxIds = 1000;

export function createSubmissionStore({
  host,
}: {
  readonly host: { readonly database: Pick<DatabaseApi, 'knex'> };
}): SubmissionStore {
  const table = (): Knex.QueryBuilder => host.database.knex(submissionsTable);

  return {
    ...createReadStates({ table, filtered, owner: 'bot_id' }),
    async add(submission, transaction) {
      const insert = table().insert(toRow(submission)).onConflict('uuid').ignore().returning('id');
      const rows = (await (transaction ? insert.transacting(transaction) : insert)) as unknown[];
      return rows.length > 0;
    },
    async find(id) {
      const row = (await table().where({ uuid: id }).first()) as object | undefined;
      return row ? toSubmission(row) : null;
    },
    async list(filter, { limit, offset }) {
      const rows = (await filtered(table(), filter).orderBy('id', 'desc').limit(limit).offset(offset)) as object[];
      return rows.map(toSubmission);
    },
    count: (filter) => countRows(filtered(table(), filter)),
    async *all(filter) {
      for await (const row of readInBatches(() => filtered(table(), filter), batchSize)) yield toSubmission(row);
    },
    async listByPerson(person) {
      const rows = (await table().where(columnsOf(person)).orderBy('id')) as object[];
      return rows.map(toSubmission);
    },
    async listByConversations(conversations) {
      const found: Submission[] = [];
      for (let start = 0; start < conversations.length; start += maxIds) {
        const rows = (await table()
          .whereIn('conversation', conversations.slice(start, start + maxIds))
          .orderBy('id')) as object[];
        found.push(...rows.map(toSubmission));
      }
      return found;
    },
    async deleteByPerson(person) {
      return table().where(columnsOf(person)).delete();
    },
    async deleteByConversations(conversations) {
      let deleted = 0;
      for (let start = 0; start < conversations.length; start += maxIds)
        deleted += await table()
          .whereIn('conversation', conversations.slice(start, start + maxIds))
          .delete();
      return deleted;
    },
  };
}

function filtered<Query extends Knex.QueryBuilder>(
  query: Query,
  { botId, formId, readState, search }: SubmissionFilter,
): Query {
  if (botId !== undefined) void query.where('bot_id', botId);
  if (formId !== undefined) void query.where('form_id', formId);
  if (readState !== undefined) void query.where('read_state', readState);
  searchIn(query, 'found_by', search);
  return query;
}

/** For rows that lack them, such as imported ones: one of them must not break a page. */
const noAnswers: CheckedForm = { inputs: {}, display_values: {}, labels: {}, summary: '' };

function toRow(submission: NewSubmission): Record<string, unknown> {
  const { inputs, display_values, labels, summary } = submission;
  const email = typeof inputs['email'] === 'string' ? foldText(inputs['email']) : '';
  return {
    uuid: submission.id,
    bot_id: submission.botId,
    form_id: submission.formId,
    form_name: submission.formName,
    conversation: submission.conversation,
    user_id: submission.userId,
    session_id: submission.sessionId,
    // Longer texts are no addresses, for example those of a hidden field that a link fills.
    email: email !== '' && email.length <= longestEmail ? email : null,
    page_url: submission.pageUrl,
    created_at: submission.createdAt,
    read_state: 'new' satisfies ReadState,
    answers: JSON.stringify({ inputs, display_values, labels, summary } satisfies CheckedForm),
    found_by: foldText(Object.values(display_values).join('\n')),
  };
}

function toSubmission(row: object): Submission {
  const { answers, uuid: id, ...submission } = fromRow(row);
  return { ...submission, ...noAnswers, ...answers, id };
}
