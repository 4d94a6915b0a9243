import { formatCount, type AdminPageBody } from '#plugin-api';

interface ToolItem {
  readonly slug: string;
  readonly title: string;
  readonly text: string;
  readonly icon: string;
}

const tools: readonly ToolItem[] = [
  {
    slug: 'tools/site-health',
    title: 'Site Health',
    text: 'Checks of the site and of its plugins, and facts for a report.',
    icon: 'shield',
  },
  { slug: 'tools/cron', title: 'Cron', text: 'Scheduled jobs, past runs and their results.', icon: 'clock' },
  {
    slug: 'tools/jobs',
    title: 'Jobs',
    text: 'Background jobs: waiting, running, failed.',
    icon: 'list',
  },
  {
    slug: 'tools/hooks',
    title: 'Hooks',
    text: 'All filters and actions with their callbacks and owners.',
    icon: 'puzzle',
  },
  {
    slug: 'tools/traces',
    title: 'Traces',
    text: 'Where the time of a request goes: hooks, queries, outbound requests, templates.',
    icon: 'gauge',
  },
  {
    slug: 'tools/security-log',
    title: 'Security log',
    text: 'Sign-ins, users, roles, keys, plugins and exports.',
    icon: 'shield',
  },
];
const backupTool: ToolItem = {
  slug: 'tools/backup',
  title: 'Backup',
  text: 'Database backups, created while the site runs.',
  icon: 'database',
};

export interface ToolsPageDependencies {
  readonly cron: {
    list(): Promise<readonly unknown[]>;
    history(query: { readonly limit: number }): Promise<readonly { readonly outcome: string }[]>;
  };
  readonly jobs: { counts(): Promise<readonly { readonly state: string; readonly count: number }[]> };
  /** Null for a site that has no folder for them. */
  readonly backups: (() => Promise<readonly { readonly createdAt: number }[]>) | null;
}

interface Badge {
  readonly text: string;
  readonly kind?: 'error';
}

/** Recent runs of cron that are looked at. */
const latestRuns = 50;

/** The tools with their state: what waits, what failed, and when the site was last backed up. */
export function createToolsPage({ cron, jobs, backups }: ToolsPageDependencies): AdminPageBody {
  const cronBadges = async (): Promise<Badge[]> => {
    const [events, runs] = await Promise.all([cron.list(), cron.history({ limit: latestRuns })]);
    const failed = runs.filter(({ outcome }) => outcome === 'failed').length;
    return [{ text: formatCount(events.length, 'event') }, ...failures(failed)];
  };
  const jobBadges = async (): Promise<Badge[]> => {
    const counts = await jobs.counts();
    const sum = (state: string): number =>
      counts.filter((each) => each.state === state).reduce((total, { count }) => total + count, 0);
    return [{ text: formatCount(sum('waiting'), 'waiting job') }, ...failures(sum('failed'))];
  };
  return {
    render: async () => {
      const [cronState, jobState, files] = await Promise.all([cronBadges(), jobBadges(), backups?.()]);
      const badges: Readonly<Record<string, readonly Badge[]>> = { 'tools/cron': cronState, 'tools/jobs': jobState };
      return {
        template: 'admin/pages/tools',
        data: {
          tools: (backups === null ? tools : [...tools, backupTool]).map((tool) => ({
            ...tool,
            badges: badges[tool.slug] ?? [],
            ...(tool === backupTool && { isBackup: true, newest: files?.[0]?.createdAt }),
          })),
        },
      };
    },
  };
}

function failures(count: number): Badge[] {
  return count === 0 ? [] : [{ text: formatCount(count, 'failure'), kind: 'error' }];
}
