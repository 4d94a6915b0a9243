import type { HostApi } from '#plugin-api';
import { destinationOf, makeDestination, planAttempt, type AttemptPlan } from './attempt-plan.ts';
import { recordOf } from './attempt-record.ts';
import type { AttemptOutcome, Deliver } from './delivery/deliver.contract.ts';
import type { WebhookTarget } from './endpoint.ts';
import { retryDelays } from './retry-delays.ts';
import type { SettingsStore, Snapshot, StoredEndpoint } from './settings-store.ts';
import type { Finish, Job, Store, StoredEvent } from './store/store-contract.ts';

/** Until a job is looked at again that could not be prepared because the database is out of reach, in milliseconds. */
const postponement = 1_000;

export interface AttemptParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'log' | 'plugin' | 'database'>;
  readonly settings: SettingsStore;
  readonly store: Pick<Store, 'keepBody' | 'contextOf'>;
  readonly deliver: Deliver;
}

export interface Attempted {
  readonly finish: Finish;
  /** null: nothing was sent. */
  readonly outcome: AttemptOutcome | null;
}

interface AttemptInit {
  readonly probe: boolean;
  readonly signal?: AbortSignal;
}

/** Makes one attempt of a job: filters, headers, signature, sending, and what follows from the outcome. Never rejects. */
export type MakeAttempt = (job: Job, init: AttemptInit) => Promise<Attempted>;

export function createAttempt(parts: AttemptParts): MakeAttempt {
  const { host, settings, deliver } = parts;

  /** One function and one wait for what nothing is special about: thousands go through here a second. */
  async function attempt(job: Job, { probe, signal }: AttemptInit): Promise<Attempted> {
    const { event } = job;
    if (event === null)
      return {
        finish: ended(job, 'aborted', 'It could not be sent: its event is not stored any more.'),
        outcome: null,
      };
    const snapshot = settings.known() ?? (await settings.current());
    const endpoint = snapshot.byId.get(job.endpointId);
    const changed =
      job.target === null ? null : (JSON.parse(job.target) as WebhookTarget & { readonly added?: boolean });
    const stopped = stopReason(snapshot, endpoint, { job, event, isAdded: changed?.added === true });
    const destination =
      changed !== null ? makeDestination(snapshot, endpoint, changed) : endpoint && destinationOf(snapshot, endpoint);
    if (stopped !== null || destination === undefined)
      return { finish: ended(job, 'stopped', stopped ?? 'The endpoint was removed.'), outcome: null };
    let plan: AttemptPlan;
    try {
      const planned = planAttempt(parts, { job, event, destination });
      plan = planned instanceof Promise ? await planned : planned;
    } catch (error) {
      if (host.database.isUnavailable(error)) return { finish: postponed(job), outcome: null };
      return { finish: ended(job, 'filter', `A filter of requests failed: ${sentenceOf(error)}`), outcome: null };
    }
    // What the first attempt sends is what all of them send (D20). Somebody else's job by now is somebody else's to send.
    if (plan.isNew && !(await parts.store.keepBody(job, plan.body))) return { finish: postponed(job), outcome: null };
    const startedAt = host.clock.now();
    const {
      target: { url, internal },
      body,
      headers,
      timeout,
      redirects,
    } = plan;
    const outcome = await deliver({
      url,
      headers,
      body,
      timeout,
      redirects,
      allowInternal: internal,
      ...(signal && { signal }),
    });
    return {
      finish: outcome.ok
        ? delivered({ job, plan, outcome, startedAt, probe })
        : await failed(host, { job, plan, outcome, startedAt, probe }),
      outcome,
    };
  }

  return (job, init) =>
    attempt(job, init).catch((error: unknown) => {
      if (host.database.isUnavailable(error)) return { finish: postponed(job), outcome: null };
      host.log.error('An attempt of a webhook delivery failed before it was sent.', { delivery: job.uuid, error });
      return { finish: ended(job, 'aborted', `It could not be sent: ${sentenceOf(error)}`), outcome: null };
    });
}

/** Which of the conditions of contract 6.1 does not hold any more. */
function stopReason(
  snapshot: Snapshot,
  endpoint: StoredEndpoint | undefined,
  { job, event, isAdded }: { readonly job: Job; readonly event: StoredEvent; readonly isAdded: boolean },
): string | null {
  if (!snapshot.stored.enabled) return 'Event webhooks were switched off.';
  if (isAdded) return null;
  if (endpoint === undefined) return 'The endpoint was removed.';
  if (!endpoint.enabled) return 'The endpoint was switched off.';
  if (endpoint.url === '') return 'The endpoint has no URL.';
  // A target that a filter chose need not be subscribed.
  return job.target !== null || endpoint.events.includes(event.name)
    ? null
    : `The endpoint is not subscribed to ${event.name} any more.`;
}

interface SettleInit {
  readonly job: Job;
  readonly plan: AttemptPlan;
  readonly outcome: AttemptOutcome;
  readonly startedAt: number;
  readonly probe: boolean;
}

function delivered({ job, plan, outcome, startedAt }: SettleInit): Finish {
  return {
    job,
    state: 'delivered',
    delay: 0,
    made: 1,
    free: false,
    status: outcome.status,
    failure: null,
    error: null,
    duration: Math.round(outcome.duration),
    log: recordOf(plan, outcome, { startedAt, delay: null }),
  };
}

/** Whether and when it is tried again. A filter that throws ends it. */
async function failed(
  host: AttemptParts['host'],
  { job, plan, outcome, startedAt, probe }: SettleInit,
): Promise<Finish> {
  const { status, failure, error } = outcome;
  const common = { job, made: 1, free: probe, status, failure, error, duration: Math.round(outcome.duration) } as const;
  try {
    const delays = await retryDelays(host, plan.target);
    const number = job.attempts - job.runStart + 1;
    const retryable = await host.hooks.applyFiltersAsync(
      'svc_event_webhooks_should_retry',
      outcome.retryable,
      { status, error },
      number,
      delays.length,
    );
    const wait = delays[number];
    // A probe that fails leaves the job where it was; an attempt broken off by the end of the process is made again.
    const isAgain = probe || failure === 'aborted' || (retryable === true && wait !== undefined);
    const seconds = Math.max(wait ?? 0, Math.min(60, outcome.retryAfter ?? 0));
    // The long waits are jittered, so that what failed together does not come back together.
    const delay = isAgain ? Math.round(seconds * 1000 * (number > 3 ? 1 + Math.random() * 0.2 : 1)) : null;
    return {
      ...common,
      state: isAgain ? 'pending' : 'failed',
      delay: delay ?? 0,
      log: recordOf(plan, outcome, { startedAt, delay }),
    };
  } catch (thrown) {
    return {
      ...common,
      state: 'failed',
      delay: 0,
      free: false,
      failure: 'filter',
      error: `A filter of retries failed: ${sentenceOf(thrown)}`,
      log: recordOf(plan, outcome, { startedAt, delay: null }),
    };
  }
}

function ended(job: Job, failure: 'stopped' | 'filter' | 'aborted', error: string): Finish {
  return {
    job,
    state: 'failed',
    delay: 0,
    made: 0,
    free: false,
    status: null,
    failure,
    error,
    duration: null,
    log: null,
  };
}

/** Given back as it was: nothing was tried. */
function postponed(job: Job): Finish {
  return {
    job,
    state: 'pending',
    delay: postponement,
    made: 0,
    free: false,
    status: null,
    failure: null,
    error: null,
    duration: null,
    log: null,
  };
}

const sentenceOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\0', '');
