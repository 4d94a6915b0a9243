import { errorText, type HostApi } from '#plugin-api';
import { destinationFor, createDestination, planAttempt, type AttemptPlan } from './attempt-plan.ts';
import { formatRecord } from './attempt-record.ts';
import type { AttemptOutcome, Deliver } from './delivery/deliver.contract.ts';
import type { WebhookTarget } from './endpoint.ts';
import { retryDelays } from './retry-delays.ts';
import { bodyStates } from './migrations.ts';
import type { SettingsStore, Snapshot, StoredEndpoint } from './settings-store.ts';
import type { JobResult, Job, Store, StoredEvent } from './store/store-contract.ts';

export const bodyDeletedReason = 'Not sent: the body of the event was deleted for privacy.';

/** Milliseconds until a job is tried again that could not be prepared because the database is unavailable. */
const postponeDelay = 1_000;
/** Milliseconds until a job is tried again that cannot be signed. The queue of its endpoint claims nothing meanwhile. */
const heldDelay = 2_500;

/** Most seconds that `Retry-After` may delay an attempt (D45). */
const longestWait = { usual: 3_600, longTail: 86_400 } as const;

export interface AttemptParts {
  readonly host: Pick<HostApi, 'hooks' | 'clock' | 'log' | 'plugin' | 'database'>;
  readonly settings: SettingsStore;
  readonly store: Pick<Store, 'saveBodyOverride' | 'readContext'>;
  readonly deliver: Deliver;
}

export interface CompletedAttempt {
  readonly result: JobResult;
  /** null: nothing was sent. */
  readonly outcome: AttemptOutcome | null;
}

interface AttemptInit {
  readonly probe: boolean;
  readonly signal?: AbortSignal;
}

/** Makes one attempt: filters, headers, signature, request, and the result that follows from the outcome. Never rejects. */
export type MakeAttempt = (job: Job, init: AttemptInit) => Promise<CompletedAttempt>;

export function createAttempt(parts: AttemptParts): MakeAttempt {
  const { host, settings, deliver } = parts;

  /** One function and one await for the common case: it runs thousands of times a second. */
  async function attempt(job: Job, { probe, signal }: AttemptInit): Promise<CompletedAttempt> {
    const { event } = job;
    if (event === null)
      return {
        result: ended(job, 'aborted', 'Not sent: the event is no longer stored.'),
        outcome: null,
      };
    if (event.bodyState === bodyStates.notKept || event.bodyState === bodyStates.erased)
      return { result: ended(job, 'body_deleted', bodyDeletedReason), outcome: null };
    const snapshot = settings.cached() ?? (await settings.current());
    const endpoint = snapshot.byId.get(job.endpointId);
    const changed =
      job.target === null ? null : (JSON.parse(job.target) as WebhookTarget & { readonly added?: boolean });
    const stopped = stopReason(snapshot, endpoint, { job, event, isAdded: changed?.added === true });
    const destination =
      changed !== null
        ? createDestination(snapshot, endpoint, changed)
        : endpoint && destinationFor(snapshot, endpoint);
    if (stopped !== null || destination === undefined)
      return { result: ended(job, 'stopped', stopped ?? 'The endpoint was removed.'), outcome: null };
    if (destination.held !== null) return { result: postponed(job, heldDelay), outcome: null };
    let plan: AttemptPlan;
    try {
      const planned = planAttempt(parts, { job, event, destination });
      plan = planned instanceof Promise ? await planned : planned;
    } catch (error) {
      if (host.database.isUnavailable(error)) return { result: postponed(job), outcome: null };
      return { result: ended(job, 'filter', `A request filter failed: ${errorMessage(error)}`), outcome: null };
    }
    // All attempts send the body of the first one (D20). A job that another process holds is not sent here.
    if (plan.isNew && !(await parts.store.saveBodyOverride(job, plan.body)))
      return { result: postponed(job), outcome: null };
    const startedAt = host.clock.now();
    const {
      target: { url, internal },
      body,
      headers,
      timeout,
      redirects,
    } = plan;
    const received = await deliver({
      url,
      headers,
      body,
      timeout,
      redirects,
      allowInternal: internal,
      ...(signal && { signal }),
    });
    // A response can repeat the texts of the body.
    const outcome =
      event.bodyState === bodyStates.temporary ? { ...received, responseHeaders: {}, responseBody: '' } : received;
    return {
      result: outcome.ok
        ? delivered({ job, plan, outcome, startedAt, probe })
        : await failed(host, { job, plan, outcome, startedAt, probe }),
      outcome,
    };
  }

  return (job, init) =>
    attempt(job, init).catch((error: unknown) => {
      if (host.database.isUnavailable(error)) return { result: postponed(job), outcome: null };
      host.log.error('Failed to prepare a webhook delivery', {
        event: 'webhook_attempt_failed',
        delivery: job.uuid,
        error,
      });
      return { result: ended(job, 'aborted', `Not sent: ${errorMessage(error)}`), outcome: null };
    });
}

/** Returns which condition of contract 6.1 no longer holds, or null. */
function stopReason(
  snapshot: Snapshot,
  endpoint: StoredEndpoint | undefined,
  { job, event, isAdded }: { readonly job: Job; readonly event: StoredEvent; readonly isAdded: boolean },
): string | null {
  if (!snapshot.stored.enabled) return 'Event webhooks were turned off.';
  if (isAdded) return null;
  if (endpoint === undefined) return 'The endpoint was removed.';
  if (!endpoint.enabled) return 'The endpoint was turned off.';
  if (endpoint.url === '') return 'The endpoint has no URL.';
  // A target that a filter chose does not have to be subscribed.
  return job.target !== null || endpoint.events.includes(event.name)
    ? null
    : `The endpoint is no longer subscribed to ${event.name}.`;
}

interface SettleInit {
  readonly job: Job;
  readonly plan: AttemptPlan;
  readonly outcome: AttemptOutcome;
  readonly startedAt: number;
  readonly probe: boolean;
}

function delivered({ job, plan, outcome, startedAt }: SettleInit): JobResult {
  return {
    job,
    state: 'delivered',
    delay: 0,
    attempted: true,
    exempt: false,
    status: outcome.status,
    failure: null,
    error: null,
    duration: Math.round(outcome.duration),
    log: formatRecord(plan, outcome, { startedAt, delay: null }),
  };
}

/** Decides whether and when to retry. A filter that throws fails the delivery. */
async function failed(
  host: AttemptParts['host'],
  { job, plan, outcome, startedAt, probe }: SettleInit,
): Promise<JobResult> {
  const { status, failure, error } = outcome;
  const common = {
    job,
    attempted: true,
    exempt: probe,
    status,
    failure,
    error,
    duration: Math.round(outcome.duration),
  } as const;
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
    // A failed probe does not end the job, and an attempt aborted by a shutdown is repeated.
    const isRetried = probe || failure === 'aborted' || (retryable === true && wait !== undefined);
    const longest = plan.target.longTail ? longestWait.longTail : longestWait.usual;
    const seconds = Math.max(wait ?? 0, Math.min(longest, outcome.retryAfter ?? 0));
    // Jitter on the long waits, so that deliveries that failed together are not retried together.
    const delay = isRetried ? Math.round(seconds * 1000 * (number > 3 ? 1 + Math.random() * 0.2 : 1)) : null;
    return {
      ...common,
      state: isRetried ? 'pending' : 'failed',
      delay: delay ?? 0,
      log: formatRecord(plan, outcome, { startedAt, delay }),
    };
  } catch (thrown) {
    return {
      ...common,
      state: 'failed',
      delay: 0,
      exempt: false,
      failure: 'filter',
      error: `A retry filter failed: ${errorMessage(thrown)}`,
      log: formatRecord(plan, outcome, { startedAt, delay: null }),
    };
  }
}

function ended(job: Job, failure: 'stopped' | 'filter' | 'aborted' | 'body_deleted', error: string): JobResult {
  return {
    job,
    state: 'failed',
    delay: 0,
    attempted: false,
    exempt: false,
    status: null,
    failure,
    error,
    duration: null,
    log: null,
  };
}

/** Returned to the queue without an attempt. @param delay milliseconds until it is due */
export function postponed(job: Job, delay = postponeDelay): JobResult {
  return {
    job,
    state: 'pending',
    delay,
    attempted: false,
    exempt: false,
    status: null,
    failure: null,
    error: null,
    duration: null,
    log: null,
  };
}

const errorMessage = (error: unknown): string => errorText(error).replaceAll('\0', '');
