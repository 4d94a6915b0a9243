import { loadedCommands, loadedPages, loadParts, type Loaded } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { AutomationPorts, Automations } from './automations.ts';
import { itemSlug, taskEditSlug, taskSlug, tasksSlug } from './pages/task-slugs.ts';
import { automationJobsMigration, automationsMigration, runHook, taskTables, itemJob } from './tables.ts';
import { formatCount } from '#plugin-api';
import { automationSettings } from './settings.ts';

/** Largest CSV file of an upload, in bytes. */
const uploadLimit = 2_000_000;
const script = 'automations.js';

/** Automations: tasks that collect items from a source, and a queue that works on them. */
export const automationsModule = defineModule<AutomationPorts, AutomationParts>({
  create: loadParts(async () => (await import('./automations.ts')).createAutomations),
  pages: loadedPages<Automations>({
    slug: tasksSlug,
    title: 'Automations',
    group: 'build',
    icon: 'play',
    position: 15,
    style: 'automations.css',
    script,
    body: () => import('./pages/tasks.page.ts'),
    subpages: [
      {
        slug: taskEditSlug,
        title: 'Edit automation',
        uploadLimit,
        script,
        body: () => import('./pages/task-edit.page.ts'),
      },
      { slug: taskSlug, title: 'Automation', script, body: () => import('./pages/task.page.ts') },
      { slug: itemSlug, title: 'Item', script, body: () => import('./pages/item.page.ts') },
    ],
  }),
  commands: [loadedCommands(async () => (await import('./commands/task-commands.ts')).taskCommands)],
  migrations: [automationsMigration, automationJobsMigration],
  tables: Object.values(taskTables),
  jobs: [runHook],
  register: registerAutomations,
});

type AutomationParts = Loaded<AutomationPorts, Automations>;

/** Registers the background work. Its code is loaded with the first task. */
function registerAutomations(parts: AutomationParts): void {
  const { host, load } = parts;
  const { hooks, cron, jobs, log, database } = host;
  const settings = automationSettings(host.options);
  const work = async () => (await load()).work;

  jobs.define<{ task: number; item: number }>({
    name: itemJob,
    label: 'Process an item of an automation',
    concurrency: async () => (await settings.read()).concurrency,
    attempts: async ({ task }) => (await load()).work.attempts(task),
    backoff: async ({ task }) => (await load()).work.delays(task),
    timeout: 3_600,
    run: async (args, job) => (await work()).run(args, job),
    postponed: async (args, job) => (await work()).postponed(args, job),
    failed: async (args, job) => (await work()).failed(args, job),
  });

  /** Items may wait for a task type that this plugin or node adds. */
  const requeue = async (): Promise<void> => {
    try {
      if ((await database.knex(taskTables.tasks).first('id')) !== undefined) await (await load()).items.requeue();
    } catch (error) {
      log.error('Failed to queue the items of automations', { event: 'automation_requeue_failed', error });
    }
  };
  /** Earlier versions ran expressions in UTC; another node may have changed the time zone. */
  const reschedule = async (): Promise<void> => {
    try {
      if ((await database.knex(taskTables.tasks).first('id')) !== undefined) await (await load()).tasks.reschedule();
    } catch (error) {
      log.error('Failed to schedule automations', { event: 'automation_schedule_failed', error });
    }
  };
  const begin = async (): Promise<void> => {
    // Earlier versions polled.
    await cron.unschedule('svc_automations_fallback');
    await Promise.all([requeue(), reschedule()]);
  };
  for (const changed of ['add', 'update', 'delete']) hooks.addAction(`${changed}_option_timezone_string`, reschedule);
  hooks.addAction(runHook, async (id: number) => {
    const { runs, tasks } = await load();
    // Paused or deleted since it was scheduled.
    if ((await tasks.get(id))?.status === 'active') await runs.run(id, 'schedule');
  });
  hooks.addFilter('cron_event_labels', (labels) => ({
    ...labels,
    [runHook]: { label: 'Run an automation', help: 'The argument is the ID of the automation.' },
  }));
  hooks.addAction('wp_abilities_api_init', async () =>
    (await import('./automation-abilities.ts')).registerAutomationAbilities(parts),
  );
  hooks.addFilter('admin_alerts', async (alerts, user) => {
    if (!user.can('manage_options') || (await database.knex(taskTables.tasks).first('id')) === undefined) return alerts;
    const { items, tasks } = await load();
    const [counts, known] = await Promise.all([items.allCounts(), tasks.list()]);
    const failures = known.flatMap(({ id, name }) => {
      const failed = counts.get(id)?.failed ?? 0;
      const text = `${formatCount(failed, 'item')} of the automation "${name}" failed.`;
      const href = `${taskSlug}?id=${String(id)}&state=failed`;
      return failed === 0 ? [] : [{ kind: 'error' as const, text, href, label: 'Review' }];
    });
    return [...alerts, ...failures];
  });
  hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await database
      .knex(taskTables.tasks)
      .where({ author_id: id })
      .update({ author_id: heir ?? 0 });
  });
  hooks.addAction('activated_plugin', requeue);
  hooks.addAction('host_started', begin);
  // The plugin was activated on a running host.
  if (hooks.didAction('host_started') > 0) void begin();
}
