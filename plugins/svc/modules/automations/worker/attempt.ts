import type { HostApi, DatabaseApi } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { EventData } from '../../../kit/define-event.ts';
import { fillDefaults } from '../tasks/settings-schema.ts';
import type { itemCompletedEvent } from '../item-completed.event.ts';
import type { Claims, Outcome } from '../queue/claims.ts';
import { usageReference, type ClaimedItem } from '../queue/item.ts';
import type { Task } from '../tasks/task.ts';
import { retryWhileUnavailable } from '../../../kit/retry-while-unavailable.ts';
import { cleanMessage } from '../../../kit/clean-message.ts';

/** An error, with the retry decision of the queue. */
interface Failure {
  /** A sentence for people. */
  readonly message: string;
  readonly retryable: boolean;
  /** The upstream's `Retry-After` in milliseconds; null if there is none. */
  readonly wait: number | null;
}

const networkCodes =
  /^(E(CONN(RESET|REFUSED|ABORTED)|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|AI_AGAIN)|ENOTFOUND|UND_ERR_\w+|outbound_(dns|connect|tls|timeout|unreadable))$/;
/** Maximum for an upstream's `Retry-After`, in milliseconds. */
const longestWait = 24 * 3_600_000;

/** Decides for all task types whether to retry: 429, 5xx, network errors and an unavailable database are retryable. */
export function toFailure(error: unknown, database: Pick<DatabaseApi, 'isUnavailable'>): Failure {
  const { code, status, headers, message } = (typeof error === 'object' && error !== null ? error : {}) as Partial<
    Record<'code' | 'status' | 'headers' | 'message', unknown>
  >;
  const isRest = typeof code === 'string' && typeof status === 'number' && status >= 400 && status < 600;
  const retryable = isRest ? status === 429 || status >= 500 : isNetworkError(error) || database.isUnavailable(error);
  return {
    message: cleanMessage(typeof message === 'string' && message !== '' ? message : String(error), {}),
    retryable,
    wait: isRest ? retryAfter(headers) : null,
  };
}

function isNetworkError(error: unknown): boolean {
  const { code, cause } = (typeof error === 'object' && error !== null ? error : {}) as {
    readonly code?: unknown;
    readonly cause?: unknown;
  };
  return (
    (typeof code === 'string' && networkCodes.test(code)) ||
    (cause !== undefined && cause !== error && isNetworkError(cause))
  );
}

function retryAfter(headers: unknown): number | null {
  const value =
    typeof headers === 'object' && headers !== null
      ? Object.entries(headers).find(([name]) => name.toLowerCase() === 'retry-after')?.[1]
      : undefined;
  const seconds = Number(value);
  return value === undefined || !Number.isFinite(seconds) || seconds < 0 ? null : Math.min(longestWait, seconds * 1000);
}

export interface AttemptParts {
  readonly host: Pick<HostApi, 'database' | 'hooks' | 'clock' | 'log' | 'content'>;
  readonly claims: Claims;
  /** 0 up to 1. */
  readonly random: () => number;
  /** Stores the usage recorded so far. Called before an item finishes, so that its cost survives a crash right after. */
  readonly flushUsage: () => Promise<void>;
}

export interface Job {
  readonly item: ClaimedItem;
  readonly task: Task;
  readonly type: AutomationTaskType;
  readonly signal: AbortSignal;
}

/** Why an attempt was aborted: shutdown, or a lost lease. */
export type AbortReason = 'stop' | 'lost';

/** Seconds before the second, third, ... attempt. */
const defaultDelays: readonly number[] = [5, 30, 120, 600];
/** Milliseconds between two tries to store an outcome while the database is unavailable. */
const writeRetryDelay = 500;

/** Runs one attempt at one item and stores its outcome. Never rejects. */
export function createAttempt(parts: AttemptParts): (job: Job) => Promise<void> {
  const { host, claims } = parts;
  /** Until the database is back or the lease is lost: the result is paid for. The write is idempotent. */
  const store = ({ signal }: Job, write: () => Promise<void>): Promise<void> =>
    retryWhileUnavailable({ host, interval: writeRetryDelay, isOver: () => signal.aborted, signal }, write);

  return async (job) => {
    const { item, task } = job;
    try {
      if (item.tries > task.attempts) {
        // Every allowed attempt ended with its process or its lease.
        const begun = { ...item, attempts: item.attempts - 1 };
        await completeFailed(
          parts,
          { ...job, item: begun },
          {
            state: 'failed',
            message: `The process ended ${times(item.tries - 1)} before the item was finished.`,
            postId: null,
            ai: null,
          },
        );
        return;
      }
      const result = await run(job).finally(parts.flushUsage);
      await store(job, () => complete(parts, job, result));
    } catch (error) {
      await failed(parts, job, error);
    }
  };

  async function failed(given: AttemptParts, job: Job, error: unknown): Promise<void> {
    try {
      if (job.signal.aborted) {
        if (job.signal.reason === 'stop') await claims.release(job.item);
        return;
      }
      await store(job, () => fail(given, job, toFailure(error, host.database)));
    } catch (thrown) {
      // The lease expires, and the item is claimed again.
      host.log.error('Failed to store the result of an automation item', {
        event: 'automation_result_lost',
        item: job.item.id,
        error: thrown,
      });
    }
  }
}

async function run({ item, task, type, signal }: Job): Promise<AutomationResult> {
  const input: AutomationItem = {
    key: `${usageReference(item)}`,
    id: item.id,
    target: item.target,
    input: item.input,
    settings: fillDefaults(type.settings, task.settings) as AutomationItem['settings'],
    task: { id: task.id, name: task.name, type: task.type, authorId: task.author_id },
    attempt: item.attempts,
    origin: { module: 'automations', route: null, botId: null, reference: usageReference(item) },
    signal,
  };
  const result: unknown = await type.run(input);
  if (typeof result !== 'object' || result === null) throw new Error(`${type.label} returned no result.`);
  const { message, ai, commit } = result as Partial<AutomationResult>;
  return {
    message: typeof message === 'string' ? message : '',
    ...(ai && { ai: { provider: String(ai.provider), model: String(ai.model) } }),
    ...(typeof commit === 'function' && { commit }),
  };
}

/** Completes the item, runs the type's `commit` and emits the event in one transaction. */
async function complete(
  { host, claims }: AttemptParts,
  { item, task }: Job,
  { message, ai, commit }: AutomationResult,
): Promise<void> {
  const outcome: Outcome = { state: 'completed', message, postId: null, ai: ai ?? null };
  const done = await host.database.transaction(async (transaction) => {
    if (!(await claims.complete(item, outcome))) return null;
    const stored = (await commit?.(transaction)) ?? {};
    const postId = stored.postId ?? null;
    // The attempt's own change of its source post must not queue the post again.
    const seenModified =
      item.sourcePostId === null ? undefined : (await host.content.posts.get(item.sourcePostId))?.modified;
    const result = { ...outcome, message: stored.message ?? message, postId };
    await claims.amend(item, {
      message: result.message,
      postId,
      ...(postId !== null && postId === item.sourcePostId && seenModified !== undefined && { seenModified }),
    });
    await emitItemCompleted(host, { item, task, outcome: result });
    return result;
  });
  if (done !== null) await notifyItemFinished(host, { item, task, outcome: done });
}

async function fail(parts: AttemptParts, job: Job, { message, retryable, wait }: Failure): Promise<void> {
  const { item, task } = job;
  if (!retryable || item.tries >= task.attempts) {
    await completeFailed(parts, job, {
      state: 'failed',
      message: message === '' ? 'The item failed without a message.' : message,
      postId: null,
      ai: null,
    });
    return;
  }
  const delays = await readRetryDelays(parts.host, task);
  const delay = 1000 * (delays[Math.min(item.tries, delays.length) - 1] ?? 0);
  await parts.claims.postpone(
    item,
    Math.round(Math.max(wait ?? 0, delay * (0.5 + parts.random() / 2))),
    `Attempt ${String(item.tries)} of ${String(task.attempts)} failed: ${message}`,
  );
}

async function readRetryDelays({ hooks, log }: Pick<HostApi, 'hooks' | 'log'>, task: Task): Promise<readonly number[]> {
  try {
    const delays = await hooks.applyFiltersAsync('svc_automation_retry_delays', defaultDelays, task);
    if (Array.isArray(delays) && delays.every((delay) => Number.isFinite(delay) && delay >= 0)) return delays;
  } catch (error) {
    log.error('The filter svc_automation_retry_delays failed; using the default delays', {
      event: 'automation_retry_delays_failed',
      error,
    });
  }
  return defaultDelays;
}

/** Stores a final failure. */
async function completeFailed({ host, claims }: AttemptParts, { item, task }: Job, outcome: Outcome): Promise<void> {
  const isMine = await host.database.transaction(async () => {
    if (!(await claims.complete(item, outcome))) return false;
    await emitItemCompleted(host, { item, task, outcome });
    return true;
  });
  if (isMine) await notifyItemFinished(host, { item, task, outcome });
}

interface Ended {
  readonly item: ClaimedItem;
  readonly task: Task;
  readonly outcome: Outcome;
}

/** Stored in the running transaction and delivered after it: a slow endpoint delays nothing here. */
async function emitItemCompleted(
  { hooks }: Pick<HostApi, 'hooks'>,
  { item, task, outcome: { state, message, postId, ai } }: Ended,
): Promise<void> {
  const data = {
    task: { id: task.id, name: task.name, type: task.type },
    queue_item: { id: item.id, target_identifier: item.target, status: state, attempts: item.attempts },
    result: { message, ...(postId !== null && { generated_post_id: postId }) },
    ...(ai !== null && { ai }),
  } satisfies EventData<typeof itemCompletedEvent>;
  await hooks.doActionAsync('svc_event_emit', 'task.item_completed', data, { origin: 'queue_processor' });
}

async function notifyItemFinished(
  { hooks, clock }: Pick<HostApi, 'hooks' | 'clock'>,
  { item, task, outcome }: Ended,
): Promise<void> {
  if (hooks.hasAction('svc_automation_item_finished') === false) return;
  const { token, tries, sourcePostId, ...publicItem } = item;
  void [token, tries, sourcePostId];
  await hooks.doActionAsync(
    'svc_automation_item_finished',
    { ...publicItem, ...outcome, wait: null, finishedAt: clock.now() },
    task,
  );
}

function times(count: number): string {
  return count === 1 ? 'once' : `${String(count)} times`;
}
