import { RestError } from '#plugin-api';
import type { AdminActionResult, AdminPageBody, AdminRequest, Clock, CronApi, CronEvent } from '#plugin-api';
import { queryOf, success, textOf } from './forms.ts';

/** A run that is over. Times in milliseconds since the epoch. */
export interface CronRunLine {
  readonly hook: string;
  readonly args: readonly unknown[];
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly outcome: 'done' | 'failed' | 'unheard';
  readonly error: string | null;
}

export interface CronPageDependencies {
  readonly cron: Pick<CronApi, 'list' | 'unschedule'> & {
    run(hook: string): Promise<readonly CronRunLine[]>;
    history(query: { readonly hook?: string; readonly limit?: number }): Promise<readonly CronRunLine[]>;
    schedules(): Readonly<Record<string, { readonly label: string }>>;
  };
  readonly clock: Pick<Clock, 'now'>;
}

const shownRuns = 50;
const outcomes = {
  done: { text: 'Done', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  unheard: { text: 'Nothing listens', kind: 'warning' },
} as const;

/** What runs when, what ran, and what came of it. */
export function createCronPage({ cron, clock }: CronPageDependencies): AdminPageBody {
  const find = async (request: AdminRequest): Promise<CronEvent> => {
    const [hook, args] = [textOf(request, 'hook'), textOf(request, 'args')];
    const event = (await cron.list()).find((each) => each.hook === hook && JSON.stringify(each.args) === args);
    if (event === undefined)
      throw new RestError({
        code: 'rest_cron_event_not_found',
        message: 'That event is gone: it ran, or somebody removed it.',
        status: 404,
      });
    return event;
  };
  return {
    render: async (request) => {
      const hook = queryOf(request, 'hook');
      const [events, runs] = await Promise.all([
        cron.list(),
        cron.history({ limit: shownRuns, ...(hook !== '' && { hook }) }),
      ]);
      const schedules = cron.schedules();
      return {
        template: 'admin/pages/cron',
        data: {
          hook,
          events: events.map((event) => ({
            ...event,
            argsText: JSON.stringify(event.args),
            hasArgs: event.args.length > 0,
            fields: { hook: event.hook, args: JSON.stringify(event.args) },
            ...whenOf(event, clock.now()),
            scheduleText: scheduleText(event, schedules),
          })),
          runs: runs.map((run) => ({
            ...run,
            argsText: run.args.length > 0 ? JSON.stringify(run.args) : '',
            took: run.finishedAt - run.startedAt,
            badge: outcomes[run.outcome],
            historyHref: `?hook=${encodeURIComponent(run.hook)}`,
          })),
        },
      };
    },
    actions: {
      run: async (request) => {
        const { hook } = await find(request);
        try {
          return resultOf(hook, await cron.run(hook));
        } catch (error) {
          throw new RestError({
            code: 'rest_cron_run_failed',
            message: error instanceof Error ? error.message : String(error),
            status: 400,
            cause: error,
          });
        }
      },
      delete: async (request) => {
        const { hook, args } = await find(request);
        await cron.unschedule(hook, args);
        return success(`The event ${hook} is removed. The plugin it belongs to may add it again when it starts.`);
      },
    },
  };
}

function resultOf(hook: string, runs: readonly CronRunLine[]): AdminActionResult {
  const failed = runs.find(({ outcome }) => outcome === 'failed');
  if (failed) return { notice: { kind: 'error', text: `${hook} failed. ${failed.error ?? ''}`.trim() } };
  return success(`${hook} ran.`);
}

function whenOf({ nextRun }: CronEvent, now: number): Record<string, unknown> {
  return nextRun <= now ? { isDue: true } : { isDue: false, wait: nextRun - now };
}

function scheduleText(
  { schedule }: CronEvent,
  schedules: Readonly<Record<string, { readonly label: string }>>,
): string {
  if (schedule === null) return 'Once';
  return schedules[schedule]?.label ?? schedule;
}
