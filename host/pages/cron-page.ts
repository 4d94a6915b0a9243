import { errorText, RestError, withNotice, restError } from '#plugin-api';
import type {
  AdminActionResult,
  AdminPageBody,
  AdminRequest,
  Clock,
  CronApi,
  CronEvent,
  CronEventLabel,
  HooksApi,
} from '#plugin-api';
import { readQuery, readText } from './forms.ts';
import { scheduleText } from './schedule-text.ts';

/** A finished run. Times are milliseconds since the epoch. */
export interface CronRunRow {
  readonly hook: string;
  readonly args: readonly unknown[];
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly outcome: 'done' | 'failed' | 'no_callback';
  readonly error: string | null;
}

export interface CronPageDependencies {
  readonly cron: Pick<CronApi, 'list' | 'unschedule'> & {
    run(hook: string): Promise<readonly CronRunRow[]>;
    history(query: { readonly hook?: string; readonly limit?: number }): Promise<readonly CronRunRow[]>;
    schedules(): Readonly<Record<string, { readonly label: string }>>;
  };
  readonly clock: Pick<Clock, 'now'>;
  /** The jobs of active plugins: events of their names are scheduled again at each start. */
  readonly jobs: { kinds(): readonly { readonly name: string; readonly label: string }[] };
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync'>;
}

const shownRuns = 50;
const outcomeBadges = {
  done: { text: 'Done', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  no_callback: { text: 'No callback', kind: 'warning' },
} as const;

/** The events of the host that are no jobs. */
const ownLabels: Readonly<Record<string, CronEventLabel>> = {
  publish_future_post: { label: 'Publish a scheduled post', help: 'The argument is the ID of the post.' },
  wp_scheduled_delete: { label: 'Empty the trash', help: 'Deletes posts that were in the trash for 30 days.' },
};

/** Scheduled events and past runs with their results. */
export function createCronPage({ cron, clock, jobs, hooks }: CronPageDependencies): AdminPageBody {
  const find = async (request: AdminRequest): Promise<CronEvent> => {
    const [hook, args] = [readText(request, 'hook'), readText(request, 'args')];
    const event = (await cron.list()).find((each) => each.hook === hook && JSON.stringify(each.args) === args);
    if (event === undefined)
      throw restError(404, 'rest_cron_event_not_found', 'This event no longer exists. It has run or was removed.');
    return event;
  };
  const findLabels = async (): Promise<Readonly<Record<string, CronEventLabel>>> =>
    hooks.applyFiltersAsync('cron_event_labels', {
      ...ownLabels,
      ...Object.fromEntries(jobs.kinds().map(({ name, label }) => [name, { label }])),
    });
  return {
    render: async (request) => {
      const hook = readQuery(request, 'hook');
      const [events, runs, labels] = await Promise.all([
        cron.list(),
        cron.history({ limit: shownRuns, ...(hook !== '' && { hook }) }),
        findLabels(),
      ]);
      const schedules = cron.schedules();
      return {
        template: 'admin/pages/cron',
        data: {
          hook,
          eventName: labels[hook]?.label ?? hook,
          events: events.map((event, index) => ({
            ...event,
            ...labels[event.hook],
            menu: `event-${String(index)}`,
            historyHref: historyHref(event),
            argsText: JSON.stringify(event.args),
            hasArgs: event.args.length > 0,
            fields: { hook: event.hook, args: JSON.stringify(event.args) },
            ...dueTime(event, clock.now()),
            scheduleText:
              event.schedule === null ? 'Once' : (schedules[event.schedule]?.label ?? scheduleText(event.schedule)),
          })),
          runs: runs.map((run) => ({
            ...run,
            label: labels[run.hook]?.label,
            argsText: run.args.length > 0 ? JSON.stringify(run.args) : '',
            took: run.finishedAt - run.startedAt,
            badge: outcomeBadges[run.outcome],
            historyHref: historyHref(run),
          })),
        },
      };
    },
    actions: {
      run: async (request) => {
        const { hook } = await find(request);
        try {
          return runNotice(hook, await cron.run(hook));
        } catch (error) {
          throw new RestError({
            code: 'rest_cron_run_failed',
            message: errorText(error),
            status: 400,
            cause: error,
          });
        }
      },
      delete: async (request) => {
        const { hook, args } = await find(request);
        await cron.unschedule(hook, args);
        return withNotice('success', `Event ${hook} deleted. Its plugin may schedule it again on the next start.`);
      },
    },
  };
}

function runNotice(hook: string, runs: readonly CronRunRow[]): AdminActionResult {
  const failed = runs.find(({ outcome }) => outcome === 'failed');
  if (failed) return withNotice('error', `${hook} failed. ${failed.error ?? ''}`.trim());
  return withNotice('success', `${hook} ran.`);
}

function dueTime({ nextRun }: CronEvent, now: number): Record<string, unknown> {
  return nextRun <= now ? { isDue: true } : { isDue: false, wait: nextRun - now };
}

function historyHref({ hook }: { readonly hook: string }): string {
  return `?hook=${encodeURIComponent(hook)}#history`;
}
