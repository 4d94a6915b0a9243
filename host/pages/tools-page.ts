import { formatCount, type AdminPageBody } from '#plugin-api';

interface ToolItem {
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly icon: string;
  /** The label of its link. */
  readonly action: string;
}

const tools: readonly ToolItem[] = [
  {
    slug: 'tools/site-health',
    title: 'Site Health',
    text: 'Checks of the site and of its plugins, and facts for a report.',
    icon: 'shield',
    action: 'Run the checks',
  },
  {
    slug: 'tools/cron',
    title: 'Cron',
    text: 'Scheduled jobs, past runs and their results.',
    icon: 'clock',
    action: 'Show events',
  },
  {
    slug: 'tools/jobs',
    title: 'Jobs',
    text: 'Background jobs: waiting, running, failed.',
    icon: 'list',
    action: 'Show jobs',
  },
  {
    slug: 'tools/hooks',
    title: 'Hooks',
    text: 'All filters and actions with their callbacks and owners.',
    icon: 'puzzle',
    action: 'Search hooks',
  },
  {
    slug: 'tools/traces',
    title: 'Traces',
    text: 'Where the time of a request goes: hooks, queries, outbound requests, templates.',
    icon: 'gauge',
    action: 'Trace requests',
  },
  {
    slug: 'tools/security-log',
    title: 'Security log',
    text: 'Sign-ins, users, roles, keys, plugins and exports.',
    icon: 'shield',
    action: 'Show entries',
  },
];
const backupTool: ToolItem = {
  slug: 'tools/backup',
  title: 'Backup',
  text: 'Database backups, created while the site runs.',
  icon: 'database',
  action: 'Create a backup',
};

export interface ToolsPageDependencies {
  readonly cron: {
    list(): Promise<readonly unknown[]>;
    history(query: { readonly limit: number }): Promise<readonly { readonly outcome: string }[]>;
  };
  readonly jobs: { counts(): Promise<readonly { readonly state: string; readonly count: number }[]> };
  readonly hooks: { describe(): readonly unknown[] };
  readonly tracer: { list(): readonly unknown[] };
  readonly securityLog: { list(query: { readonly limit: number }): Promise<readonly { readonly at: number }[]> };
  /** Null for a site that has no folder for them. */
  readonly backups: (() => Promise<readonly { readonly createdAt: number }[]>) | null;
}

interface Badge {
  readonly text: string;
  readonly kind?: 'error' | 'warning';
}

/** What a tool has to show, and where its link leads if not to its page. */
interface ToolState {
  readonly badges?: readonly Badge[];
  /** Milliseconds since the epoch. */
  readonly newest?: number | undefined;
  readonly action?: string;
  readonly target?: string;
}

/** Recent runs of cron that are looked at. */
const latestRuns = 50;

/** The tools with their state: what waits, what failed, what was recorded, and when the site was last backed up. */
export function createToolsPage(given: ToolsPageDependencies): AdminPageBody {
  return {
    render: async () => {
      const states = await readStates(given);
      return {
        template: 'admin/pages/tools',
        data: {
          tools: (given.backups === null ? tools : [...tools, backupTool]).map((tool) => ({
            ...tool,
            target: tool.slug,
            ...states[tool.slug],
          })),
        },
      };
    },
  };
}

/** By slug. */
async function readStates({
  cron,
  jobs,
  hooks,
  tracer,
  securityLog,
  backups,
}: ToolsPageDependencies): Promise<Readonly<Record<string, ToolState>>> {
  const [events, runs, counts, [entry], files] = await Promise.all([
    cron.list(),
    cron.history({ limit: latestRuns }),
    jobs.counts(),
    securityLog.list({ limit: 1 }),
    backups?.(),
  ]);
  const failedRuns = runs.filter(({ outcome }) => outcome === 'failed').length;
  const sum = (state: string): number =>
    counts.filter((each) => each.state === state).reduce((total, { count }) => total + count, 0);
  return {
    'tools/cron': {
      badges: [{ text: formatCount(events.length, 'event') }, ...failures(failedRuns)],
      ...(failedRuns > 0 && { action: 'Show the history', target: 'tools/cron#history' }),
    },
    'tools/jobs': {
      badges: [{ text: formatCount(sum('waiting'), 'waiting job') }, ...failures(sum('failed'))],
      ...(sum('failed') > 0 && { action: 'Show failed jobs', target: 'tools/jobs?state=failed' }),
    },
    'tools/hooks': { badges: [{ text: formatCount(hooks.describe().length, 'hook') }] },
    'tools/traces': { badges: [{ text: formatCount(tracer.list().length, 'trace') }] },
    'tools/security-log': entry === undefined ? {} : { newest: entry.at },
    'tools/backup': files?.[0] ? { newest: files[0].createdAt } : { badges: [noBackups] },
  };
}

const noBackups: Badge = { text: 'No backups yet', kind: 'warning' };

function failures(count: number): Badge[] {
  return count === 0 ? [] : [{ text: formatCount(count, 'failure'), kind: 'error' }];
}
