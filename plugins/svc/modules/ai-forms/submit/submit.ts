import { JobLostError, RestError, type FailedJob, type HostApi, type RunningJob, type StartedJob } from '#plugin-api';
import type { EventData } from '../../../kit/define-event.ts';
import { errors } from '../../../kit/errors.ts';
import type { formSubmittedEvent } from '../form-submitted.event.ts';
import type { AiForm, FormStore } from '../forms/form.ts';
import '../hooks.ts';
import type { SubmissionContext } from '../hooks.ts';
import type { Source, Submission, SubmissionStore } from '../submissions/submission.ts';
import { submissionJob, type SubmissionJobArgs } from '../submissions/submission.ts';
import type { CountedLimit } from '../../../kit/visitors/limit-counters.ts';
import { reserveResponse, type FormLimits } from './form-limits.ts';
import type { GeneratedResponse, GenerateResponse } from './generate-response.ts';
import type { CheckedValues } from './read-values.ts';

export interface SubmitParts {
  readonly host: Pick<HostApi, 'database' | 'clock' | 'hooks' | 'jobs' | 'log'>;
  readonly forms: Pick<FormStore, 'countSubmission'>;
  readonly submissions: SubmissionStore;
  readonly limits: FormLimits;
  readonly generateResponse: GenerateResponse;
}

export interface SubmitInput {
  readonly form: AiForm;
  readonly user: SubmissionContext['user'];
  readonly session: string;
  /** Null: no limit, as for the command line. */
  readonly limit: CountedLimit | null;
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
 * stored in one transaction. A submission whose process ends fails within a minute; then it can be sent again.
 *
 * @throws RestError 409 `rest_svc_submission_running`, 429 `rest_svc_form_limit_reached`.
 */
export type Submit = (input: SubmitInput) => Promise<Accepted>;

export function createSubmit(parts: SubmitParts): Submit {
  const { host, submissions, generateResponse } = parts;
  const { hooks, log } = host;

  async function complete(input: SubmitInput, job: StartedJob): Promise<Submission> {
    const context = contextOf(input);
    try {
      return await job.run(async (running) => {
        const generated = await generateResponse({
          context,
          promptValues: input.values.promptValues,
          images: input.values.images,
          signal: AbortSignal.any([input.signal, running.signal]),
          onText: input.onText,
          onSources: input.onSources,
        });
        const number = await store(parts, { input, running, generated });
        await hooks.doActionAsync('svc_form_answered', generated.response, generated.generation, context);
        return completedSubmission(input, generated, number);
      });
    } catch (error) {
      if (!(error instanceof RestError) && !(error instanceof JobLostError))
        log.error('Form submission failed', { event: 'form_submission_failed', submission: input.id, error });
      await hooks.doActionAsync('svc_form_failed', error, context);
      throw error instanceof JobLostError ? errors.submission_running() : error;
    }
  }

  return async (input) => {
    const job = await accept(parts, input);
    if (job !== null) {
      const completed = complete(input, job);
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

/** Begins the submission, reserves the limit and starts the job in one transaction. Null: it is completed or running. */
function accept(
  { host, submissions, limits }: SubmitParts,
  { form, user, session, limit, id, values, pageUrl }: SubmitInput,
): Promise<StartedJob | null> {
  return host.database.transaction(async () => {
    const { inputs, display_values, labels } = values;
    const isClaimed = await submissions.claim({
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
    if (!isClaimed) return null;
    const args: SubmissionJobArgs = {
      id,
      reserved: limit === null ? null : await reserveResponse(limits, limit, form),
    };
    const started = await host.jobs.start(submissionJob, args, { key: id });
    if (!started.isStarted) throw errors.submission_running();
    return started;
  });
}

interface Storing {
  readonly input: SubmitInput;
  readonly running: RunningJob;
  readonly generated: GeneratedResponse;
}

/** Stores the response, its number and the event in one transaction. Returns the number. */
async function store(
  { host, forms, submissions }: SubmitParts,
  { input, running, generated }: Storing,
): Promise<number> {
  const { id, form, user, values } = input;
  const { response, generation } = generated;
  let number = 0;
  await running.commit(async () => {
    number = await forms.countSubmission(form.id);
    // The form was deleted meanwhile.
    if (number === 0) throw errors.ai_form_not_found({ values: { id: form.id } });
    // The submission was deleted meanwhile.
    if (!(await submissions.complete(id, { response, generation, number, keep: form.privacy.keep })))
      throw new JobLostError();
    const data: EventData<typeof formSubmittedEvent> = {
      form: { id: form.id, name: form.name },
      submission: { id, count: number },
      inputs: values.inputs,
      response: { text: response, ...(generation.data && { data: generation.data }) },
      ai: { provider: generation.provider, model: generation.model },
      actor: user.id > 0 ? { type: 'user', user_id: user.id } : { type: 'guest' },
    };
    await host.hooks.doActionAsync('svc_event_emit', 'form.submitted', data, {
      meta: { form_id: form.id, provider: generation.provider, model: generation.model },
      keep: form.privacy.keep,
      person: { userId: user.id, sessionId: input.session },
    });
  });
  return number;
}

/** Stores why a submission failed and releases the reservation: failures do not count against the limit. */
export async function failSubmission(
  { submissions, limits }: Pick<SubmitParts, 'submissions' | 'limits'>,
  { id, reserved }: SubmissionJobArgs,
  { error }: Pick<FailedJob, 'error'>,
): Promise<void> {
  const unknown =
    error === undefined
      ? { message: 'The node stopped before the submission was completed.', code: 'rest_svc_form_abandoned' }
      : { message: 'Unexpected error. The log has the cause.', code: 'rest_internal_error' };
  const { message, code } = error instanceof RestError ? error : unknown;
  await submissions.fail(id, { error: message, code });
  if (reserved !== null) await limits.settle(reserved, 0);
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
    readState: 'new',
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
