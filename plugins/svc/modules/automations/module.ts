import { loadedCommands, loadedPages, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { AutomationPorts, Automations } from './automations.ts';
import { itemSlug, taskEditSlug, taskSlug, tasksSlug } from './pages/task-slugs.ts';
import { registerAutomations, type AutomationParts } from './register.ts';
import { automationJobsMigration, automationsMigration, runHook, taskTables } from './tables.ts';

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
