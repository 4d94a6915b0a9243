import { RestError, type HostApi } from '#plugin-api';
import type { EventData } from '../../../kit/define-event.ts';
import { errors } from '../../../kit/errors.ts';
import type { formSubmittedEvent } from '../form-submitted.event.ts';
import type { AiForm, FormStore } from '../forms/form.ts';
import '../hooks.ts';
import type { SubmissionContext } from '../hooks.ts';
import type { Attempt, Source, Submission, SubmissionStore } from '../submissions/submission.ts';
import { leaseTime } from '../submissions/attempts.ts';
import type { FormLimiter, ActiveLimit } from './form-limits.ts';
import type { GeneratedResponse, GenerateResponse } from './generate-response.ts';
import type { CheckedValues } from './read-values.ts';

export interface SubmitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks' | 'log'>;
  readonly forms: Pick<FormStore, 'countSubmission'>;
  readonly submissions: SubmissionStore;
  readonly limits: FormLimiter;
  readonly generateResponse: GenerateResponse;
}

export interface SubmitInput {
  readonly form: AiForm;
  readonly user: SubmissionContext['user'];
  readonly session: string;
  /** Null: no limit, as for the command line. */
  readonly limit: ActiveLimit | null;
  /** UUID, the idempotency key. */
  readonly id: string;
  readonly values: CheckedValues;
  readonly pageUrl: string;
  /** Aborted when the visitor disconnects. The submission fails. */
  readonly signal: AbortSignal;
  readonly onText?: ((piece: string) => void) | undefined;
  readonly onSources?: ((sources: readonly Source[]) => void) | undefined;
}

/** A submission that counts against the limit. */
export interface Accepted {
  /** @throws RestError of D5. */
  readonly completed: Promise<Submission>;
}

/**
 * Processes a submission once: a completed one is returned again, a failed one is retried. Response, number and event are
 * stored in one transaction. An attempt whose node dies expires after a minute; then another may start.
 *
 * @throws RestError 409 `rest_svc_submission_running`, 429 `rest_svc_form_limit_reached`.
 */
export type Submit = (input: SubmitInput) => Promise<Accepted>;

export function createSubmit(parts: SubmitParts): Submit {
  const { host, submissions, generateResponse } = parts;
  const { hooks, log } = host;

  async function complete(input: SubmitInput, attempt: Attempt): Promise<Submission> {
    const context = contextOf(input);
    const lease = new AbortController();
    const stopHeartbeat = startHeartbeat(parts, attempt, lease);
    try {
      const generated = await generateResponse({
        context,
        promptValues: input.values.promptValues,
        signal: AbortSignal.any([input.signal, lease.signal]),
        onText: input.onText,
        onSources: input.onSources,
      });
      const number = await store(parts, { input, attempt, generated });
      if (number === null) throw errors.submission_running();
      await hooks.doActionAsync('svc_form_answered', generated.response, generated.generation, context);
      return completedSubmission(input, generated, number);
    } catch (error) {
      await storeFailure(parts, attempt, error);
      await hooks.doActionAsync('svc_form_failed', error, context);
      throw error;
    } finally {
      stopHeartbeat();
    }
  }

  return async (input) => {
    const attempt = await accept(parts, input);
    if (attempt !== null) {
      const completed = complete(input, attempt);
      // The caller may not wait for it.
      completed.catch(() => undefined);
      return { completed };
    }
    const found = await submissions.find(input.id);
    if (found?.formId !== input.form.id || found.status !== 'completed') throw errors.submission_running();
    if (found.response === '') throw errors.submission_not_kept();
    log.debug('Duplicate submission received', { event: 'form_submission_repeated', submission: input.id });
    return { completed: Promise.resolve(found) };
  };
}

/** Claims the submission and reserves the limit in one transaction. Null: it is completed or running. */
function accept(
  { host, submissions, limits }: SubmitParts,
  { form, user, session, limit, id, values, pageUrl }: SubmitInput,
): Promise<Attempt | null> {
  return host.database.transaction(async () => {
    const { inputs, display_values, labels } = values;
    const claimed = await submissions.claim({
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
    if (claimed === null) return null;
    if (claimed.abandoned !== null) await limits.release(claimed.abandoned);
    if (limit === null) return claimed.attempt;
    await submissions.reserve(claimed.attempt, await limits.reserve(form, limit));
    return claimed.attempt;
  });
}

interface Storing {
  readonly input: SubmitInput;
  readonly attempt: Attempt;
  readonly generated: GeneratedResponse;
}

/** Stores the response, its number and the event in one transaction. Null: the lease was lost. */
function store(
  { host, forms, submissions }: SubmitParts,
  { input, attempt, generated }: Storing,
): Promise<number | null> {
  const { form, user, values } = input;
  const { response, generation } = generated;
  return host.database
    .transaction(async () => {
      const number = await forms.countSubmission(form.id);
      // The form was deleted meanwhile.
      if (number === 0) throw errors.ai_form_not_found({ values: { id: form.id } });
      if (!(await submissions.complete(attempt, { response, generation, number, keep: form.privacy.keep })))
        throw new LeaseLost();
      const data: EventData<typeof formSubmittedEvent> = {
        form: { id: form.id, name: form.name },
        submission: { id: attempt.id, count: number },
        inputs: values.inputs,
        response: { text: response },
        ai: { provider: generation.provider, model: generation.model },
        actor: user.id > 0 ? { type: 'user', user_id: user.id } : { type: 'guest' },
      };
      await host.hooks.doActionAsync('svc_event_emit', 'form.submitted', data, {
        meta: { form_id: form.id, provider: generation.provider, model: generation.model },
        keep: form.privacy.keep,
        person: { userId: user.id, sessionId: input.session },
      });
      return number;
    })
    .catch((error: unknown) => {
      if (error instanceof LeaseLost) return null;
      throw error;
    });
}

class LeaseLost extends Error {}

/** Stores the reason and releases the reservation: failures do not count against the limit. */
async function storeFailure(
  { host, submissions, limits }: SubmitParts,
  attempt: Attempt,
  error: unknown,
): Promise<void> {
  const known = error instanceof RestError ? error : null;
  try {
    await host.database.transaction(async () => {
      const failed = await submissions.fail(attempt, {
        error: known?.message ?? 'Unexpected error. The log has the cause.',
        code: known?.code ?? 'rest_internal_error',
      });
      if (failed?.reserved) await limits.release(failed.reserved);
    });
    if (known === null)
      host.log.error('Form submission failed', { event: 'form_submission_failed', submission: attempt.id, error });
  } catch (failure) {
    host.log.error('Failed to store a failed form submission; its lease expires within a minute', {
      event: 'form_failure_not_stored',
      submission: attempt.id,
      error: failure,
    });
  }
}

/** Renews the lease, and aborts the attempt when the lease is lost. */
function startHeartbeat({ host, submissions }: SubmitParts, attempt: Attempt, lease: AbortController): () => void {
  return host.clock.every(leaseTime / 3, () => {
    submissions.renew(attempt).then(
      (held) => {
        if (!held) lease.abort();
      },
      (error: unknown) => {
        host.log.warn('Failed to renew the lease of a form submission', {
          event: 'form_lease_not_renewed',
          submission: attempt.id,
          error,
        });
      },
    );
  });
}

function contextOf({ form, id, user, values, pageUrl }: SubmitInput): SubmissionContext {
  const { inputs, display_values, labels } = values;
  return { form, submission: id, user, pageUrl, inputs, display_values, labels };
}

/** The submission for the visitor, even if the form stores none. */
function completedSubmission(
  { form, id, user, session, values, pageUrl }: SubmitInput,
  { response, generation }: GeneratedResponse,
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
    generation,
    error: '',
    errorCode: '',
    createdAt: 0,
    finishedAt: 0,
    inputs,
    display_values,
    labels,
  };
}
