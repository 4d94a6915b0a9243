import { RestError, type HostApi } from '#plugin-api';
import type { EventData } from '../../../kit/define-event.ts';
import { errors } from '../../../kit/errors.ts';
import type { formSubmittedEvent } from '../form-submitted.event.ts';
import type { AiForm, FormStore } from '../forms/form.ts';
import '../hooks.ts';
import type { FormTurn } from '../hooks.ts';
import type { Attempt, Source, Submission, SubmissionStore } from '../submissions/submission.ts';
import { leaseTime } from '../submissions/attempts.ts';
import type { FormLimiter, LimitInForce } from './form-limits.ts';
import type { MadeAnswer, MakeAnswer } from './make-answer.ts';
import type { CheckedValues } from './read-values.ts';

export interface SubmitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks' | 'log'>;
  readonly forms: Pick<FormStore, 'countSubmission'>;
  readonly submissions: SubmissionStore;
  readonly limits: FormLimiter;
  readonly makeAnswer: MakeAnswer;
}

export interface SubmitInput {
  readonly form: AiForm;
  readonly user: FormTurn['user'];
  readonly session: string;
  /** Null: none holds, for administrators at the command line. */
  readonly limit: LimitInForce | null;
  /** UUID: the same again is the same submission. */
  readonly id: string;
  readonly values: CheckedValues;
  readonly pageUrl: string;
  /** The visitor goes away: nothing more is made, and the submission counts as failed. */
  readonly signal: AbortSignal;
  readonly onText?: ((piece: string) => void) | undefined;
  readonly onSources?: ((sources: readonly Source[]) => void) | undefined;
}

/** A submission that was taken: it counts against the limit, and is being answered. */
export interface Accepted {
  /** Fails with the errors of D5. */
  readonly answer: Promise<Submission>;
}

/**
 * Takes a submission and answers it, once: what was answered already is given again, what failed is tried anew. The answer,
 * its number and its event are one transaction. A try whose node dies is over after a minute; then another may begin.
 *
 * @throws RestError 409 `rest_svc_submission_running`, 429 `rest_svc_form_limit_reached`.
 */
export type Submit = (input: SubmitInput) => Promise<Accepted>;

export function createSubmit(parts: SubmitParts): Submit {
  const { host, submissions, makeAnswer } = parts;
  const { hooks, log } = host;

  async function answer(input: SubmitInput, attempt: Attempt): Promise<Submission> {
    const turn = turnOf(input);
    const lease = new AbortController();
    const undo = beat(parts, attempt, lease);
    try {
      const answered = await makeAnswer({
        turn,
        promptValues: input.values.promptValues,
        signal: AbortSignal.any([input.signal, lease.signal]),
        onText: input.onText,
        onSources: input.onSources,
      });
      const number = await store(parts, { input, attempt, answered });
      if (number === null) throw errors.submission_running();
      await hooks.doActionAsync('svc_form_answered', answered.response, answered.made, turn);
      return storedOf(input, answered, number);
    } catch (error) {
      await giveUp(parts, attempt, error);
      await hooks.doActionAsync('svc_form_failed', error, turn);
      throw error;
    } finally {
      undo();
    }
  }

  return async (input) => {
    const attempt = await take(parts, input);
    if (attempt !== null) {
      const answering = answer(input, attempt);
      // Whoever does not wait for it does not hear of its failure either.
      answering.catch(() => undefined);
      return { answer: answering };
    }
    const found = await submissions.find(input.id);
    if (found?.formId !== input.form.id || found.status !== 'completed') throw errors.submission_running();
    if (found.response === '') throw errors.submission_not_kept();
    log.debug('a submission was sent again', { submission: input.id });
    return { answer: Promise.resolve(found) };
  };
}

/** In one transaction: the submission and what it takes of the visitor's limit. Null: it is there already. */
function take(
  { host, submissions, limits }: SubmitParts,
  { form, user, session, limit, id, values, pageUrl }: SubmitInput,
): Promise<Attempt | null> {
  return host.database.transaction(async () => {
    const { inputs, display_values, labels } = values;
    const taken = await submissions.take({
      id,
      formId: form.id,
      formName: form.name,
      userId: user.id,
      sessionId: session,
      pageUrl,
      createdAt: host.clock.now(),
      keep: form.privacy.keep,
      inputs,
      display_values,
      labels,
    });
    if (taken === null) return null;
    if (taken.abandoned !== null) await limits.giveBack(taken.abandoned);
    if (limit === null) return taken.attempt;
    const reserved = await limits.take(limit);
    if (reserved === null) {
      const seconds = Math.max(1, Math.ceil((limit.endsAt - host.clock.now()) / 1000));
      throw errors.form_limit_reached({
        values: { reason: form.limits.message },
        data: { limit: limits.shown(form, limit) },
        headers: { 'Retry-After': String(seconds) },
      });
    }
    await submissions.reserve(taken.attempt, reserved);
    return taken.attempt;
  });
}

interface Storing {
  readonly input: SubmitInput;
  readonly attempt: Attempt;
  readonly answered: MadeAnswer;
}

/** In one transaction: the answer, its number, and the event. Null: the lease was lost, and another try counts. */
function store(
  { host, forms, submissions }: SubmitParts,
  { input, attempt, answered }: Storing,
): Promise<number | null> {
  const { form, user, values } = input;
  const { response, made } = answered;
  return host.database
    .transaction(async () => {
      const number = await forms.countSubmission(form.id);
      // Deleted meanwhile: there is nothing to be stored, and nobody to be told.
      if (number === 0) throw errors.ai_form_not_found({ values: { id: form.id } });
      if (!(await submissions.complete(attempt, { response, made, number, keep: form.privacy.keep })))
        throw new LeaseLost();
      const data: EventData<typeof formSubmittedEvent> = {
        form: { id: form.id, name: form.name },
        submission: { id: attempt.id, count: number },
        inputs: values.inputs,
        response: { text: response },
        ai: { provider: made.provider, model: made.model },
        actor: user.id > 0 ? { type: 'user', user_id: user.id } : { type: 'guest' },
      };
      await host.hooks.doActionAsync('svc_event_emit', 'form.submitted', data, {
        meta: { form_id: form.id, provider: made.provider, model: made.model },
      });
      return number;
    })
    .catch((error: unknown) => {
      if (error instanceof LeaseLost) return null;
      throw error;
    });
}

class LeaseLost extends Error {}

/** Stores the reason, and gives back what was taken: failures cost nothing. */
async function giveUp({ host, submissions, limits }: SubmitParts, attempt: Attempt, error: unknown): Promise<void> {
  const known = error instanceof RestError ? error : null;
  try {
    await host.database.transaction(async () => {
      const failed = await submissions.fail(attempt, {
        error: known?.message ?? 'Something went wrong; the log says what.',
        code: known?.code ?? 'rest_internal_error',
      });
      if (failed?.taken) await limits.giveBack(failed.taken);
    });
    if (known === null) host.log.error('A form could not be answered', { submission: attempt.id, error });
  } catch (failure) {
    host.log.error('A failed submission of a form could not be stored; it is given up after a minute.', {
      submission: attempt.id,
      error: failure,
    });
  }
}

/** Tells the other nodes that this one is alive. */
function beat({ host, submissions }: SubmitParts, attempt: Attempt, lease: AbortController): () => void {
  return host.clock.every(leaseTime / 3, () => {
    submissions.renew(attempt).then(
      (held) => {
        if (!held) lease.abort();
      },
      (error: unknown) => {
        host.log.warn('The lease of a submission could not be renewed', { submission: attempt.id, error });
      },
    );
  });
}

function turnOf({ form, id, user, values, pageUrl }: SubmitInput): FormTurn {
  const { inputs, display_values, labels } = values;
  return { form, submission: id, user, pageUrl, inputs, display_values, labels };
}

/** As it is shown at once, also where nothing of it is kept. */
function storedOf(
  { form, id, user, session, values, pageUrl }: SubmitInput,
  { response, made }: MadeAnswer,
  number: number,
): Submission {
  const { inputs, display_values, labels } = values;
  return {
    id,
    formId: form.id,
    formName: form.name,
    status: 'completed',
    attempt: 1,
    number,
    userId: user.id,
    sessionId: session,
    pageUrl,
    response,
    made,
    error: '',
    errorCode: '',
    createdAt: 0,
    finishedAt: 0,
    inputs,
    display_values,
    labels,
  };
}
