import type { AdminPageBody } from '#plugin-api';

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

/** The overview of the tools, which the parent menu entry opens. */
export function createToolsPage({ hasBackups }: { readonly hasBackups: boolean }): AdminPageBody {
  return {
    render: () =>
      Promise.resolve({
        template: 'admin/pages/tools',
        data: { tools: hasBackups ? [...tools, backupTool] : tools },
      }),
  };
}
