import type { HostApi } from '#plugin-api';
import type { AutomationItem, AutomationResult, AutomationTaskType } from '../../../kit/automation-task.ts';
import type { EventData } from '../../../kit/define-event.ts';
import { fillDefaults } from '../tasks/settings-schema.ts';
import type { itemCompletedEvent } from '../item-completed.event.ts';
import type { Claims, Outcome } from '../queue/claims.ts';
import { referenceOf, type ClaimedItem } from '../queue/item.ts';
import type { Task } from '../tasks/task.ts';
import { failureOf, type Failure } from './failure.ts';

export interface AttemptParts {
  readonly host: Pick<HostApi, 'database' | 'hooks' | 'clock' | 'log' | 'content'>;
  readonly claims: Claims;
  /** 0 up to 1. */
  readonly random: () => number;
  /** Stores what the ledger noted until now: the cost of an item is there before the item is finished, also when the process dies right after. */
  readonly stored: () => Promise<void>;
}

export interface Job {
  readonly item: ClaimedItem;
  readonly task: Task;
  readonly type: AutomationTaskType;
  readonly signal: AbortSignal;
}

/** Why a signal was aborted. */
export type AbortReason = 'stop' | 'lost';

/** Seconds before the second, third, ... attempt. */
const defaultDelays: readonly number[] = [5, 30, 120, 600];
/** While the database is away an outcome is kept and written again and again, as long as the lease may last, in milliseconds. */
const writeAgainAfter = 500;

/** One attempt at one item: its work, and what is stored of it. Never rejects. */
export function createAttempt(parts: AttemptParts): (job: Job) => Promise<void> {
  const { host, claims } = parts;

  return async (job) => {
    const { item, task } = job;
    try {
      if (item.tries > task.attempts) {
        // Begun as often as it may, and each time the process that worked on it ended or fell silent.
        const begun = { ...item, attempts: item.attempts - 1 };
        await completeFinally(
          parts,
          { ...job, item: begun },
          {
            state: 'failed',
            message: `The process that worked on it ended ${times(item.tries - 1)} before it was done.`,
            postId: null,
            ai: null,
          },
        );
        return;
      }
      const result = await run(job).finally(parts.stored);
      await retryWhileUnavailable(parts, job, () => complete(parts, job, result));
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
      await retryWhileUnavailable(given, job, () => fail(given, job, failureOf(error, host.database)));
    } catch (thrown) {
      // Its lease runs out, and it is begun again.
      host.log.error('What became of an item of an automation could not be stored.', {
        item: job.item.id,
        error: thrown,
      });
    }
  }
}

async function run({ item, task, type, signal }: Job): Promise<AutomationResult> {
  const handed: AutomationItem = {
    key: `${referenceOf(item)}`,
    id: item.id,
    target: item.target,
    input: item.input,
    settings: fillDefaults(type.settings, task.settings) as AutomationItem['settings'],
    task: { id: task.id, name: task.name, type: task.type, authorId: task.author_id },
    attempt: item.attempts,
    origin: { module: 'automations', route: null, botId: null, reference: referenceOf(item) },
    signal,
  };
  const result: unknown = await type.run(handed);
  if (typeof result !== 'object' || result === null) throw new Error(`${type.label} answered nothing.`);
  const { message, ai, commit } = result as Partial<AutomationResult>;
  return {
    message: typeof message === 'string' ? message : '',
    ...(ai && { ai: { provider: String(ai.provider), model: String(ai.model) } }),
    ...(typeof commit === 'function' && { commit }),
  };
}

/** All in one transaction: the item is completed, the work's own outcome is stored, the event goes out; or nothing of it. */
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
    // What the work itself did to the post it began with is no change to be worked on again.
    const seenModified =
      item.sourcePostId === null ? undefined : (await host.content.posts.get(item.sourcePostId))?.modified;
    const told = { ...outcome, message: stored.message ?? message, postId };
    await claims.amend(item, {
      message: told.message,
      postId,
      ...(postId !== null && postId === item.sourcePostId && seenModified !== undefined && { seenModified }),
    });
    await emitItemCompleted(host, { item, task, outcome: told });
    return told;
  });
  if (done !== null) await notifyItemFinished(host, { item, task, outcome: done });
}

async function fail(parts: AttemptParts, job: Job, { message, retryable, wait }: Failure): Promise<void> {
  const { item, task } = job;
  if (!retryable || item.tries >= task.attempts) {
    await completeFinally(parts, job, {
      state: 'failed',
      message: message === '' ? 'It failed without a reason.' : message,
      postId: null,
      ai: null,
    });
    return;
  }
  const delays = await delaysOf(parts.host, task);
  const delay = 1000 * (delays[Math.min(item.tries, delays.length) - 1] ?? 0);
  await parts.claims.postpone(
    item,
    Math.round(Math.max(wait ?? 0, delay * (0.5 + parts.random() / 2))),
    `Attempt ${String(item.tries)} of ${String(task.attempts)} failed: ${message}`,
  );
}

async function delaysOf({ hooks, log }: Pick<HostApi, 'hooks' | 'log'>, task: Task): Promise<readonly number[]> {
  try {
    const delays = await hooks.applyFiltersAsync('svc_automation_retry_delays', defaultDelays, task);
    if (Array.isArray(delays) && delays.every((delay) => Number.isFinite(delay) && delay >= 0)) return delays;
  } catch (error) {
    log.error('The filter svc_automation_retry_delays failed; the usual delays are taken.', { error });
  }
  return defaultDelays;
}

/** Finally failed. */
async function completeFinally({ host, claims }: AttemptParts, { item, task }: Job, outcome: Outcome): Promise<void> {
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

/** Stored with the transaction it runs in, and sent after it: a slow receiver holds up nobody. */
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
  const { token, tries, sourcePostId, ...told } = item;
  void [token, tries, sourcePostId];
  await hooks.doActionAsync(
    'svc_automation_item_finished',
    { ...told, ...outcome, wait: null, finishedAt: clock.now() },
    task,
  );
}

/** What was paid for is not thrown away because the database is away for a moment. A write that went through after all finds the item finished. */
async function retryWhileUnavailable(
  { host }: AttemptParts,
  { signal }: Job,
  write: () => Promise<void>,
): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!host.database.isUnavailable(error) || signal.aborted) throw error;
      await host.clock.sleep(writeAgainAfter, signal);
    }
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${String(count)} times`;
}
