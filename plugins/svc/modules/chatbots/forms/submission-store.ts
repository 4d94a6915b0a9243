import { createRowMapper, type DatabaseApi, type Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import type { CheckedForm } from './form.ts';
import type { Submission, SubmissionFilter, SubmissionStore, Submitter } from './submission.ts';
import { longestEmail, submissionsTable } from './submission-tables.ts';

interface Row {
  readonly id: number;
}

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

  async function pageBefore(filter: SubmissionFilter, before: number | null): Promise<Row[]> {
    const query = filtered(table(), filter).orderBy('id', 'desc').limit(batchSize);
    return (await (before === null ? query : query.where('id', '<', before))) as Row[];
  }

  return {
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
    async count(filter) {
      const [row] = (await filtered(table(), filter).count({ total: '*' })) as { total?: number | string }[];
      return Number(row?.total ?? 0);
    },
    async *all(filter) {
      let rows = await pageBefore(filter, null);
      while (rows.length > 0) {
        yield* rows.map(toSubmission);
        rows = rows.length < batchSize ? [] : await pageBefore(filter, rows.at(-1)?.id ?? null);
      }
    },
    async delete(id) {
      return (await table().where({ uuid: id }).delete()) > 0;
    },
    async listByPerson(person) {
      const rows = (await table().where(submittedBy(person)).orderBy('id')) as object[];
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
      return table().where(submittedBy(person)).delete();
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

function filtered<Query extends Knex.QueryBuilder>(query: Query, { botId, formId, search }: SubmissionFilter): Query {
  if (botId !== undefined) void query.where('bot_id', botId);
  if (formId !== undefined) void query.where('form_id', formId);
  const part = foldText(search ?? '').trim();
  if (part !== '') void query.whereRaw("found_by like ? escape '!'", [`%${part.replace(/[!%_]/g, '!$&')}%`]);
  return query;
}

function submittedBy(person: Submitter): Record<string, string | number> {
  if ('userId' in person) return { user_id: person.userId };
  return 'sessionId' in person ? { session_id: person.sessionId } : { email: foldText(person.email).trim() };
}

function toRow(submission: Submission): Record<string, unknown> {
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
    answers: JSON.stringify({ inputs, display_values, labels, summary } satisfies CheckedForm),
    found_by: foldText(Object.values(display_values).join('\n')),
  };
}

function toSubmission(row: object): Submission {
  const { answers, uuid: id, ...submission } = fromRow(row);
  return { ...submission, ...answers, id };
}
