import { createRowMapper, type Knex } from '#plugin-api';
import { foldText } from '../../../kit/fold-text.ts';
import type { Answers, Inputs, Generation, NewSubmission, Submission, SubmissionFilter } from './submission.ts';
import type { ReadState } from '../../../kit/submissions/read-states.ts';
import { searchIn } from '../../../kit/table-reads.ts';

interface Columns extends Omit<Submission, 'id' | 'generation' | keyof Answers> {
  readonly uuid: string;
  readonly answers: Answers;
  /** JSON; '' without one. */
  readonly generation: string;
}

const { fromRow } = createRowMapper<Columns>({ json: ['answers'], others: ['id', 'email', 'search_text'] });

const nothing: Answers = { inputs: {}, display_values: {}, labels: {} };

export function rowOf({
  id,
  formId,
  formName,
  userId,
  sessionId,
  pageUrl,
  createdAt,
  keep,
  inputs,
  display_values,
  labels,
}: NewSubmission): Record<string, unknown> {
  const answers: Answers = keep ? { inputs, display_values, labels } : nothing;
  return {
    uuid: id,
    form_id: formId,
    form_name: formName,
    user_id: userId,
    session_id: sessionId,
    email: keep ? emailIn(inputs) : null,
    page_url: keep ? pageUrl : '',
    answers: JSON.stringify(answers),
    search_text: foldText(Object.values(answers.display_values).join('\n')),
    // A repeated attempt has a new result.
    read_state: 'new' satisfies ReadState,
    response: '',
    generation: '',
    error: '',
    error_code: '',
    created_at: createdAt,
    finished_at: null,
  };
}

export function submissionOf(row: object): Submission {
  const { answers, generation, uuid: id, ...submission } = fromRow(row);
  return {
    ...submission,
    ...nothing,
    ...answers,
    id,
    generation: generation === '' ? null : (JSON.parse(generation) as Generation),
  };
}

export function filtered<Query extends Knex.QueryBuilder>(
  query: Query,
  { formId, status, readState, search }: SubmissionFilter,
): Query {
  if (formId !== undefined) void query.where('form_id', formId);
  if (status !== undefined) void query.where('status', status);
  if (readState !== undefined) void query.where('read_state', readState);
  searchIn(query, 'search_text', search);
  return query;
}

/** The email address for personal data requests: the first one, preferably of a field named like "email". */
function emailIn(inputs: Inputs): string | null {
  const texts = Object.entries(inputs).flatMap(([id, value]) =>
    typeof value === 'string' && value.length <= 254 && /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(value.trim())
      ? [[id, value.trim()] as const]
      : [],
  );
  const found = texts.find(([id]) => /mail/i.test(id)) ?? texts[0];
  return found === undefined ? null : foldText(found[1]);
}
