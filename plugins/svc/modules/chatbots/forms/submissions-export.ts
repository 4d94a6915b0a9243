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
];

/** Submissions as CSV. Forms differ, so only common fields have columns; the summary contains all fields. */
export function submissionsCsv(submissions: AsyncIterable<Submission>): AsyncGenerator<string> {
  return writeCsv(columns, submissions);
}

/** One JSON object per line, with the members of the event (contract 6.5). */
export async function* submissionsJsonl(submissions: AsyncIterable<Submission>): AsyncGenerator<string> {
  for await (const {
    id,
    botId,
    formId,
    formName,
    conversation,
    userId,
    pageUrl,
    createdAt,
    ...answers
  } of submissions) {
    yield `${JSON.stringify({
      id,
      created_at: new Date(createdAt).toISOString(),
      bot: { id: botId },
      form: { id: formId, name: formName },
      conversation: { id: conversation },
      actor: userId === 0 ? { type: 'guest' } : { type: 'user', user_id: userId },
      inputs: answers.inputs,
      display_values: answers.display_values,
      labels: answers.labels,
      summary: answers.summary,
      page: { url: pageUrl },
    })}\n`;
  }
}
