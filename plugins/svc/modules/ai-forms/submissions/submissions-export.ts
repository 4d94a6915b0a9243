import { writeCsv, type CsvColumns } from '../../../kit/csv.ts';
import { plainDollars, toDollars } from '../../../kit/dollars.ts';
import type { Submission } from './submission.ts';

const columns: CsvColumns<Submission> = [
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
  ['provider', ({ generation }) => generation?.provider ?? ''],
  ['model', ({ generation }) => generation?.model ?? ''],
  ['input_tokens', ({ generation }) => generation?.usage.input_tokens ?? ''],
  ['output_tokens', ({ generation }) => generation?.usage.output_tokens ?? ''],
  ['cost_usd', ({ generation }) => (generation?.cost == null ? '' : plainDollars(generation.cost))],
  ['error', ({ error }) => error],
  ['data', ({ generation }) => (generation?.data === undefined ? '' : JSON.stringify(generation.data))],
  ['read_state', ({ readState }) => readState],
];

/** CSV with all fields in one column, because forms differ: one `Label: value` per line. */
export function submissionsCsv(submissions: AsyncIterable<Submission>): AsyncGenerator<string> {
  return writeCsv(columns, submissions);
}

export function submissionRecord(submission: Submission): Record<string, unknown> {
  const {
    id,
    number,
    status,
    readState,
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
    generation,
    error,
    errorCode,
  } = submission;
  return {
    id,
    number,
    status,
    read_state: readState,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    form: { id: formId, name: formName },
    actor: userId === 0 ? { type: 'guest' } : { type: 'user', user_id: userId },
    inputs,
    display_values,
    labels,
    response: { text: response, ...(generation?.data && { data: generation.data }) },
    ai:
      generation === null
        ? null
        : {
            provider: generation.provider,
            model: generation.model,
            usage: generation.usage,
            cost_usd: toDollars(generation.cost),
            sources: generation.sources,
          },
    page: { url: pageUrl },
    ...(error !== '' && { error: { code: errorCode, message: error } }),
  };
}

/** One `Label: value` per line. */
export function summaryOf({ labels, display_values: values }: Submission): string {
  return Object.entries(labels)
    .map(([id, label]) => `${label}: ${values[id] || '-'}`)
    .join('\n');
}
