import {
  errorText,
  formatCount,
  formatNumber,
  localDay,
  outboundReason,
  restError,
  startOfDay,
  type HostApi,
} from '#plugin-api';
import { cleanMessage } from '../../../kit/clean-message.ts';
import type { Candidate } from '../sources/read-source.ts';
import { queuedVersion, type FeedVersion } from '../sources/feed-version.ts';
import { readSource } from '../sources/read-source.ts';
import { unknownTask } from '../tasks/task-store.ts';
import type { Task, TaskStore } from '../tasks/task.ts';
import { enqueue, findNewEntries } from './enqueue.ts';
import { createRunStore } from './run-store.ts';
import type { Run, Runs } from './run-store.ts';

export interface RunParts {
  readonly host: Pick<
    HostApi,
    'database' | 'clock' | 'hooks' | 'http' | 'content' | 'documents' | 'site' | 'log' | 'jobs' | 'options'
  >;
  readonly tasks: Pick<TaskStore, 'get'>;
}

/** Entries checked and queued in one statement. */
const batchSize = 100;

/** Turns the entries of a source that the task has not queued yet into items. */
export function createRuns({ host, tasks }: RunParts): Runs {
  const store = createRunStore(host);

  async function collect(task: Task, runId: number): Promise<Pick<Run, 'found' | 'added' | 'message'>> {
    const progress = { found: 0, added: 0, dayIsFull: false, isUnchanged: false, emptyFeed: '' };
    const feed = queuedVersion(host, task);
    let version: FeedVersion = {};
    let left = 0;
    const timezone = await host.site.timezone();
    const dayBegan = startOfDay(localDay(host.clock.now(), timezone), timezone);
    const isFull = (): boolean => progress.dayIsFull || (task.limits.run > 0 && progress.added >= task.limits.run);
    const queueNew = async (entries: readonly Candidate[]): Promise<void> => {
      const fresh = await findNewEntries(host.database.knex, task, entries);
      const offered =
        fresh.length === 0 ? fresh : await host.hooks.applyFiltersAsync('svc_automation_entries', fresh, task);
      const room = task.limits.run === 0 ? offered.length : task.limits.run - progress.added;
      const outcome = await enqueue(host, { task, runId, candidates: offered.slice(0, room), dayBegan });
      progress.added += outcome.added;
      progress.dayIsFull = outcome.dayIsFull;
      left += fresh.length - outcome.added;
    };
    let entries: Candidate[] = [];
    for await (const entry of readSource(task.source, {
      ...{ host, known: await feed.read() },
      onVersion: (read) => void (version = read),
      onUnchanged: () => void (progress.isUnchanged = true),
      onEmpty: (title) => void (progress.emptyFeed = title),
    })) {
      progress.found += 1;
      if (entries.push(entry) < batchSize) continue;
      await queueNew(entries);
      entries = [];
      if (isFull()) break;
    }
    if (entries.length > 0) await queueNew(entries);
    if (left === 0 && !isFull()) await feed.write(version);
    return {
      found: progress.found,
      added: progress.added,
      message: describeRun(task, { ...progress, isFull: isFull() }),
    };
  }

  return {
    list: store.list,
    last: store.last,
    async run(taskId, begunBy) {
      const task = await tasks.get(taskId);
      if (task === null) throw unknownTask(taskId);
      if (task.status === 'paused')
        throw restError(409, 'rest_svc_task_paused', `${task.name} is paused. Resume it first.`);
      const { id } = await store.begin(taskId, begunBy);
      try {
        return await store.end(id, { state: 'done', ...(await collect(task, id)) });
      } catch (error) {
        host.log.warn('Failed to read the source of an automation', {
          event: 'automation_source_failed',
          task: taskId,
          error,
        });
        return store.end(id, {
          state: 'failed',
          found: 0,
          added: 0,
          message: cleanMessage(outboundReason(error) ?? errorText(error), {}),
        });
      }
    },
  };
}

interface Progress {
  readonly found: number;
  readonly added: number;
  readonly dayIsFull: boolean;
  readonly isFull: boolean;
  readonly isUnchanged: boolean;
  /** The title of a feed without entries. */
  readonly emptyFeed: string;
}

function describeRun({ limits }: Task, { found, added, dayIsFull, isFull, isUnchanged, emptyFeed }: Progress): string {
  if (dayIsFull)
    return `${count(added)} queued. The daily limit of ${formatNumber(limits.day)} is reached. Runs on later days queue the rest.`;
  if (isFull)
    return `${count(added)} queued. The limit of ${formatNumber(limits.run)} per run is reached. The next run queues the rest.`;
  if (emptyFeed !== '') return `The feed "${cleanMessage(emptyFeed, {})}" has no entries.`;
  if (found === 0 && !isUnchanged) return 'The source is empty.';
  return added === 0 ? 'The source has no new entries.' : `${count(added)} queued.`;
}

function count(items: number): string {
  return formatCount(items, 'new item');
}
