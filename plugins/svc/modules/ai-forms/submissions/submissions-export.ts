import { csvLine, byteOrderMark } from '../../../kit/csv.ts';
import type { Submission } from './submission.ts';

const columns: readonly (readonly [string, (submission: Submission) => string | number])[] = [
  ['id', ({ id }) => id],
  ['number', ({ number }) => number ?? ''],
  ['time', ({ createdAt }) => new Date(createdAt).toISOString()],
  ['status', ({ status }) => status],
  ['form_id', ({ formId }) => formId],
  ['form', ({ formName }) => formName],
  ['user_id', ({ userId }) => (userId === 0 ? '' : userId)],
  ['page_url', ({ pageUrl }) => pageUrl],
  ['inputs', (submission) => summaryOf(submission)],
  ['response', ({ response }) => response],
  ['provider', ({ made }) => made?.provider ?? ''],
  ['model', ({ made }) => made?.model ?? ''],
  ['input_tokens', ({ made }) => made?.usage.input_tokens ?? ''],
  ['output_tokens', ({ made }) => made?.usage.output_tokens ?? ''],
  ['cost_usd', ({ made }) => (made?.cost == null ? '' : made.cost / 1_000_000)],
  ['error', ({ error }) => error],
];

/** Submissions as CSV: forms differ in their fields, so one column holds them all, `Label: value` a line. */
export async function* submissionsCsv(submissions: AsyncIterable<Submission>): AsyncGenerator<string> {
  yield byteOrderMark + csvLine(columns.map(([name]) => name));
  for await (const submission of submissions) yield csvLine(columns.map(([, read]) => read(submission)));
}

/** One JSON object a line, in the words of the event (contract 6.5). */
export async function* submissionsJsonl(submissions: AsyncIterable<Submission>): AsyncGenerator<string> {
  for await (const submission of submissions) yield `${JSON.stringify(submissionRecord(submission))}\n`;
}

/** A submission as exports and commands show it. */
export function submissionRecord(submission: Submission): Record<string, unknown> {
  const {
    id,
    number,
    status,
    formId,
    formName,
    userId,
    pageUrl,
    createdAt,
    finishedAt,
    inputs,
    display_values,
    labels,
    response,
    made,
    error,
    errorCode,
  } = submission;
  return {
    id,
    number,
    status,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    form: { id: formId, name: formName },
    actor: userId === 0 ? { type: 'guest' } : { type: 'user', user_id: userId },
    inputs,
    display_values,
    labels,
    response: { text: response },
    ai:
      made === null
        ? null
        : {
            provider: made.provider,
            model: made.model,
            usage: made.usage,
            cost_usd: made.cost === null ? null : made.cost / 1_000_000,
            sources: made.sources,
          },
    page: { url: pageUrl },
    ...(error !== '' && { error: { code: errorCode, message: error } }),
  };
}

/** `Label: value`, one a line. */
export function summaryOf({ labels, display_values: values }: Submission): string {
  return Object.entries(labels)
    .map(([id, label]) => `${label}: ${values[id] || '-'}`)
    .join('\n');
}
