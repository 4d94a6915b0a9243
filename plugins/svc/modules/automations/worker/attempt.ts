import { fillDefaults, asRecord, isRecord, JobLostError, readRetryAfter, retryWhileUnavailable } from '#plugin-api';
import type { DatabaseApi, FailedJob, HostApi, PostponedJob, RunningJob } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { EventData } from '../../../kit/define-event.ts';
import type { itemCompletedEvent } from '../item-completed.event.ts';
import { createItemWrites, type Outcome } from '../queue/item-writes.ts';
import { usageReference, type QueuedItem } from '../queue/item.ts';
import type { TaskTypes } from '../tasks/task-types.ts';
import type { Task, TaskStore } from '../tasks/task.ts';
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
  const { code, status, message } = asRecord(error);
  const isRest = typeof code === 'string' && typeof status === 'number' && status >= 400 && status < 600;
  const retryable = isRest ? status === 429 || status >= 500 : isNetworkError(error) || database.isUnavailable(error);
  const seconds = isRest ? readRetryAfter(error) : null;
  return {
    message: cleanMessage(typeof message === 'string' && message !== '' ? message : String(error), {}),
    retryable,
    wait: seconds === null ? null : Math.min(longestWait, seconds * 1000),
  };
}

function isNetworkError(error: unknown): boolean {
  const { code, cause } = asRecord(error);
  return (
    (typeof code === 'string' && networkCodes.test(code)) ||
    (cause !== undefined && cause !== error && isNetworkError(cause))
  );
}

export interface ItemWorkParts {
  readonly host: Pick<HostApi, 'database' | 'hooks' | 'clock' | 'log' | 'content'>;
  readonly types: TaskTypes;
  readonly tasks: Pick<TaskStore, 'get'>;
  /** Stores the usage recorded so far. Called before an item finishes, so that its cost survives a crash right after. */
  readonly flushUsage: () => Promise<void>;
}

interface ItemArgs {
  readonly task: number;
  readonly item: number;
}

/** The job of an item. See `JobDefinition`. */
export interface ItemWork {
  attempts(task: number): Promise<number>;
  delays(task: number): Promise<readonly number[]>;
  run(args: ItemArgs, job: RunningJob): Promise<void>;
  postponed(args: ItemArgs, job: PostponedJob): Promise<void>;
  failed(args: ItemArgs, job: FailedJob): Promise<void>;
}

/** Seconds before the second, third, ... attempt. */
const defaultDelays: readonly number[] = [5, 30, 120, 600];
/** Milliseconds between two tries to store an outcome while the database is unavailable. */
const writeRetryDelay = 500;

export function createItemWork(parts: ItemWorkParts): ItemWork {
  const { host, tasks, types } = parts;
  const writes = createItemWrites(host);
  const attempts = async (id: number): Promise<number> => (await tasks.get(id))?.attempts ?? 1;

  return {
    attempts,
    delays: async (id) => readRetryDelays(host, await tasks.get(id)),
    async run({ task: taskId, item: id }, job) {
      const task = await tasks.get(taskId);
      const type = task?.status === 'active' ? await types.get(task.type) : undefined;
      if (task === null || type === undefined) return writes.park(id);
      const item = await writes.begin(id, job.attempt);
      if (item === null) return;
      try {
        const result = await run({ item, task, type, signal: job.signal }).finally(parts.flushUsage);
        const { signal } = job;
        // The result is paid for.
        const waiting = { host, interval: writeRetryDelay, isOver: () => signal.aborted, signal };
        await retryWhileUnavailable(waiting, () => complete(parts, job, { item, task, result }));
      } catch (error) {
        throw job.signal.aborted || error instanceof JobLostError ? error : toJobError(toFailure(error, host.database));
      }
    },
    async postponed({ task, item }, { attempts: count, message, wait }) {
      const text =
        message === null ? '' : `Attempt ${String(count)} of ${String(await attempts(task))} failed: ${message}`;
      await writes.postpone(item, count, { message: text, wait });
    },
    async failed({ task: taskId, item: id }, { attempts: count, message, isCancelled }) {
      const state = isCancelled ? 'cancelled' : 'failed';
      const outcome: Outcome = { state, message: isCancelled ? 'Cancelled.' : message, postId: null, ai: null };
      const item = await writes.finish(id, count, outcome);
      const task = item === null ? null : await tasks.get(taskId);
      if (item === null || task === null || isCancelled) return;
      await emitItemCompleted(host, { item, task, outcome });
      host.database.afterCommit(() => void notifyItemFinished(host, { item, task }));
    },
  };
}

function toJobError({ message, retryable, wait }: Failure): Error {
  return Object.assign(new Error(message), {
    retryable,
    ...(wait !== null && { headers: { 'retry-after': String(wait / 1000) } }),
  });
}

interface Attempt {
  readonly item: QueuedItem;
  readonly task: Task;
  readonly type: AutomationTaskType;
  readonly signal: AbortSignal;
}

async function run({ item, task, type, signal }: Attempt): Promise<AutomationResult> {
  const input: AutomationItem = {
    key: `${usageReference(item)}`,
    id: item.id,
    target: item.target,
    input: item.input,
    settings: fillDefaults(type.settings, task.settings) as AutomationItem['settings'],
    task: { id: task.id, name: task.name, type: task.type, authorId: task.author_id },
    attempt: item.attempts,
    origin: {
      module: 'automations',
      route: null,
      botId: null,
      reference: usageReference(item),
      userId: task.author_id,
    },
    signal,
  };
  const result: unknown = await type.run(input);
  if (typeof result !== 'object' || result === null) throw new Error(`${type.label} returned no result.`);
  const { message, ai, data, commit } = result as Partial<AutomationResult>;
  return {
    message: typeof message === 'string' ? message : '',
    ...(ai && { ai: { provider: String(ai.provider), model: String(ai.model) } }),
    ...(isRecord(data) && { data }),
    ...(typeof commit === 'function' && { commit }),
  };
}

/** Completes the job and the item, runs the type's `commit` and emits the event in one transaction. */
async function complete(
  { host }: ItemWorkParts,
  job: RunningJob,
  { item, task, result }: Pick<Attempt, 'item' | 'task'> & { readonly result: AutomationResult },
): Promise<void> {
  let finished = item;
  await job.commit(async (transaction) => {
    const stored = (await result.commit?.(transaction)) ?? {};
    const postId = stored.postId ?? null;
    // The attempt's own change of its source post must not queue the post again.
    const isOwn = postId !== null && postId === item.sourcePostId;
    const seenModified = isOwn ? (await host.content.posts.get(postId))?.modified : undefined;
    const message = stored.message ?? result.message;
    const outcome: Outcome = { state: 'completed', message, postId, ai: result.ai ?? null };
    const row = await createItemWrites(host).finish(item.id, job.attempt, { ...outcome, seenModified });
    if (row === null) throw new JobLostError();
    await emitItemCompleted(host, { item: row, task, outcome, data: result.data });
    finished = row;
  });
  await notifyItemFinished(host, { item: finished, task });
}

async function readRetryDelays(
  { hooks, log }: Pick<HostApi, 'hooks' | 'log'>,
  task: Task | null,
): Promise<readonly number[]> {
  if (task === null) return defaultDelays;
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

interface Ended {
  readonly item: QueuedItem;
  readonly task: Task;
  readonly outcome: Outcome;
  readonly data?: AutomationResult['data'];
}

/** Stored in the running transaction and delivered after it: a slow endpoint delays nothing here. */
async function emitItemCompleted(
  { hooks }: Pick<HostApi, 'hooks'>,
  { item, task, outcome: { state, message, postId, ai }, data: values }: Ended,
): Promise<void> {
  const data = {
    task: { id: task.id, name: task.name, type: task.type },
    queue_item: { id: item.id, target_identifier: item.target, status: state, attempts: item.attempts },
    result: { message, ...(postId !== null && { generated_post_id: postId }), ...(values && { data: values }) },
    ...(ai !== null && { ai }),
  } satisfies EventData<typeof itemCompletedEvent>;
  await hooks.doActionAsync('svc_event_emit', 'task.item_completed', data, { origin: 'queue_processor' });
}

async function notifyItemFinished(
  { hooks }: Pick<HostApi, 'hooks'>,
  { item, task }: Pick<Ended, 'item' | 'task'>,
): Promise<void> {
  if (hooks.hasAction('svc_automation_item_finished') === false) return;
  const { sourcePostId, ...publicItem } = item;
  void sourcePostId;
  await hooks.doActionAsync('svc_automation_item_finished', publicItem, task);
}
