import { writeCsv, type CsvColumns } from '../../../kit/csv.ts';
import type { Submission } from './submission.ts';

const columns: CsvColumns<Submission> = [
  ['id', ({ id }) => id],
  ['time', ({ createdAt }) => new Date(createdAt).toISOString()],
  ['bot_id', ({ botId }) => botId],
  ['form_id', ({ formId }) => formId],
  ['form', ({ formName }) => formName],
  ['conversation', ({ conversation }) => conversation],
  ['user_id', ({ userId }) => (userId === 0 ? '' : userId)],
  ['page_url', ({ pageUrl }) => pageUrl],
  ['email', ({ display_values: values }) => values['email'] ?? ''],
  ['first_name', ({ display_values: values }) => values['first_name'] ?? ''],
  ['last_name', ({ display_values: values }) => values['last_name'] ?? ''],
  ['phone', ({ display_values: values }) => values['phone'] ?? ''],
  ['company', ({ display_values: values }) => values['company'] ?? ''],
  ['summary', ({ summary }) => summary],
  ['read_state', ({ readState }) => readState],
];

/** Submissions as CSV. Forms differ, so only common fields have columns; the summary contains all fields. */
export function submissionsCsv(submissions: AsyncIterable<Submission>): AsyncGenerator<string> {
  return writeCsv(columns, submissions);
}

/** A submission with the members of the event (contract 6.5). */
export function submissionRecord(submission: Submission): Record<string, unknown> {
  const { id, botId, formId, formName, conversation, userId, pageUrl, createdAt, readState } = submission;
  const { inputs, display_values, labels, summary } = submission;
  return {
    id,
    read_state: readState,
    created_at: new Date(createdAt).toISOString(),
    bot: { id: botId },
    form: { id: formId, name: formName },
    conversation: { id: conversation },
    actor: userId === 0 ? { type: 'guest' } : { type: 'user', user_id: userId },
    inputs,
    display_values,
    labels,
    summary,
    page: { url: pageUrl },
  };
}
