import {
  parseId,
  drawCharts,
  formatCount,
  formatDate,
  formatNumber,
  formatShortNumber,
  restError,
  translateText,
  type RestError,
  withNotice,
  type AdminPageBody,
  type AdminRequest,
  type ChartDay,
  type Clock,
  type JobState,
  type JobStatus,
  type SiteApi,
  withoutUndefined,
} from '#plugin-api';
import { readQuery, readText } from './forms.ts';

interface JobCount extends Pick<JobStatus, 'owner' | 'name' | 'state'> {
  readonly count: number;
}

export interface JobsPageDependencies {
  readonly jobs: {
    list(choice: Choice, limit: number): Promise<readonly JobStatus[]>;
    counts(): Promise<readonly JobCount[]>;
    finishedByHour(since: number, choice: Choice): Promise<readonly FinishedJobs[]>;
    /** Those of active plugins. */
    kinds(): readonly { readonly owner: string; readonly name: string; readonly label: string }[];
    retry(which: { readonly id: number }): Promise<boolean>;
    cancel(which: { readonly id: number }): Promise<number>;
  };
  readonly site: Pick<SiteApi, 'timezone'>;
  readonly clock: Pick<Clock, 'now'>;
}

interface FinishedJobs extends Pick<JobStatus, 'state'> {
  /** Milliseconds since the epoch. */
  readonly hour: number;
  readonly count: number;
}

const shownJobs = 100;
const hour = 3_600_000;
/** Completed jobs are kept for a day. */
const chartHours = 24;
const stateBadges = {
  waiting: { text: 'Waiting', kind: 'info' },
  running: { text: 'Running', kind: 'info' },
  completed: { text: 'Completed', kind: 'success' },
  failed: { text: 'Failed', kind: 'error' },
  cancelled: { text: 'Cancelled', kind: 'warning' },
} as const satisfies Record<JobState, { readonly text: string; readonly kind: string }>;
const states = Object.keys(stateBadges) as readonly JobState[];

/** Background jobs by plugin, name and state; failed ones can run again. */
export function createJobsPage({ jobs, site, clock }: JobsPageDependencies): AdminPageBody {
  return {
    render: async (request) => {
      const chosen = readChoice(request);
      const since = (Math.floor(clock.now() / hour) - chartHours + 1) * hour;
      const { state: _all, ...kind } = chosen;
      const [counts, listed, finished, timezone] = await Promise.all([
        jobs.counts(),
        jobs.list(chosen, shownJobs),
        jobs.finishedByHour(since, kind),
        site.timezone(),
      ]);
      const labels = new Map(jobs.kinds().map(({ owner, name, label }) => [`${owner} ${name}`, label]));
      const labelOf = ({ owner, name }: Pick<JobStatus, 'owner' | 'name'>): string =>
        labels.get(`${owner} ${name}`) ?? name;
      return {
        template: 'admin/pages/jobs',
        data: {
          states: stateTabs(counts, chosen),
          kinds: kindRows(counts).map((row) => ({
            ...row,
            label: labelOf(row),
            isDefined: labels.has(`${row.owner} ${row.name}`),
            href: linkTo({ owner: row.owner, name: row.name }),
          })),
          chosenKind: chosen.name === undefined ? null : labelOf({ owner: chosen.owner ?? '', name: chosen.name }),
          chart: chartOf(finished, since, timezone),
          isCut: listed.length === shownJobs,
          shown: shownJobs,
          jobs: listed.map((job) => ({ ...job, label: labelOf(job), ...toView(job, clock.now()) })),
        },
      };
    },
    actions: {
      retry: async (request) => {
        const id = parseId(readText(request, 'id'), Number.MAX_SAFE_INTEGER);
        if (!(await jobs.retry({ id })))
          throw refusal(`Job ${String(id)} is neither failed nor cancelled, or another job has taken its place.`);
        return withNotice('success', `Job ${String(id)} runs again.`);
      },
      cancel: async (request) => {
        const id = parseId(readText(request, 'id'), Number.MAX_SAFE_INTEGER);
        if ((await jobs.cancel({ id })) === 0) throw refusal(`Job ${String(id)} neither waits nor runs any more.`);
        return withNotice('success', `Job ${String(id)} cancelled.`);
      },
    },
  };
}

interface Choice {
  readonly owner?: string;
  readonly name?: string;
  readonly state?: JobState;
}

function readChoice(request: AdminRequest): Choice {
  const [owner, name, state] = [readQuery(request, 'plugin'), readQuery(request, 'name'), readQuery(request, 'state')];
  const known = states.find((each) => each === state);
  return { ...(owner !== '' && { owner }), ...(name !== '' && { name }), ...(known !== undefined && { state: known }) };
}

function linkTo({ owner, name, state }: Choice): string {
  return `?${new URLSearchParams(withoutUndefined({ plugin: owner, name, state })).toString()}`;
}

/** Completed and failed jobs of each hour, with a table of the same figures. */
function chartOf(finished: readonly FinishedJobs[], since: number, timezone: string): Record<string, unknown> {
  const count = (time: number, state: JobState): number =>
    finished.find((each) => each.hour === time && each.state === state)?.count ?? 0;
  const days = Array.from({ length: chartHours }, (_, index): ChartDay => {
    const time = since + index * hour;
    const failed = count(time, 'failed');
    return { day: formatDate(time, 'dateTime', timezone).slice(-5), value: count(time, 'completed') + failed, failed };
  });
  const title = ({ day, value, failed }: ChartDay): string =>
    `${day}: ${formatCount(value - failed, 'completed job')}${failed > 0 ? `, ${formatCount(failed, 'failed job')}` : ''}`;
  return {
    isEmpty: days.every(({ value }) => value === 0),
    title: 'Jobs that ended, per hour',
    description: 'One bar for each of the last 24 hours. The table below shows the same figures.',
    good: 'Completed',
    hasFailed: days.some(({ failed }) => failed > 0),
    pictures: drawCharts({ days, whole: true, format: formatShortNumber, title, label: (day) => day }),
    rows: days
      .filter(({ value }) => value > 0)
      .map(({ day, value, failed }) => ({ day, failed, completed: value - failed }))
      .reverse(),
  };
}

/** The filter by state, with the number of jobs in each. */
function stateTabs(counts: readonly JobCount[], { owner, name, state }: Choice): Record<string, unknown>[] {
  const kind = withoutUndefined({ owner, name });
  const mine = counts.filter((row) => (owner ?? row.owner) === row.owner && (name ?? row.name) === row.name);
  const sum = (rows: readonly JobCount[]): string => formatNumber(rows.reduce((total, { count }) => total + count, 0));
  return [
    { label: `${translateText('All')} ${sum(mine)}`, href: linkTo(kind), current: state === undefined },
    ...states.map((each) => ({
      label: `${translateText(stateBadges[each].text)} ${sum(mine.filter((row) => row.state === each))}`,
      href: linkTo({ ...kind, state: each }),
      current: state === each,
    })),
  ];
}

type KindRow = Readonly<Record<JobState, number>> & { readonly owner: string; readonly name: string };

function kindRows(counts: readonly JobCount[]): KindRow[] {
  const none = Object.fromEntries(states.map((state) => [state, 0])) as Record<JobState, number>;
  const rows = new Map<string, Record<JobState, number> & { owner: string; name: string }>();
  for (const { owner, name, state, count } of counts) {
    const id = `${owner} ${name}`;
    const row = rows.get(id) ?? { ...none, owner, name };
    rows.set(id, row);
    row[state] = count;
  }
  return [...rows.values()];
}

function toView(job: JobStatus, now: number): Record<string, unknown> {
  const { state, args, progress, dueAt, startedAt, finishedAt } = job;
  const argsText = JSON.stringify(args);
  return {
    badge: stateBadges[state],
    progress: state === 'completed' ? null : progress,
    argsText: args === null ? '' : argsText.length > 120 ? `${argsText.slice(0, 120)}…` : argsText,
    isDue: dueAt !== null && dueAt <= now,
    wait: dueAt === null ? null : Math.max(0, dueAt - now),
    took: startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt),
    hasTotal: progress !== null && progress.total > 0,
    progressText: progress === null ? '' : progressText(progress),
    canRetry: state === 'failed' || state === 'cancelled',
    canCancel: state === 'waiting' || state === 'running',
    fields: { id: job.id },
  };
}

function progressText({ done, total }: { readonly done: number; readonly total: number }): string {
  return total > 0 ? `${formatNumber(done)} of ${formatNumber(total)}` : formatNumber(done);
}

function refusal(message: string): RestError {
  return restError(409, 'rest_job_invalid', message);
}
