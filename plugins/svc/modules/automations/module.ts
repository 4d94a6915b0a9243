import { loadedCommands, loadedPage, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { AutomationPorts, Automations } from './automations.ts';
import { itemSlug, taskEditSlug, taskSlug, tasksSlug } from './pages/task-slugs.ts';
import { registerAutomations, type AutomationParts } from './register.ts';
import { automationJobsMigration, automationsMigration, runHook, taskTables } from './tables.ts';

/** Largest CSV file of an upload, in bytes. */
const uploadLimit = 2_000_000;
const assets = { style: 'automations.css', script: 'automations.js' } as const;

/** Automations: tasks that collect items from a source, and a queue that works on them. */
export const automationsModule = defineModule<AutomationPorts, AutomationParts>({
  create: loadParts(async () => (await import('./automations.ts')).createAutomations),
  pages: [
    loadedPage<Automations>({
      slug: tasksSlug,
      title: 'Automations',
      menu: 'Automations',
      group: 'build',
      icon: 'play',
      position: 15,
      ...assets,
      body: async () => (await import('./pages/tasks.page.ts')).tasksPage,
    }),
    loadedPage<Automations>({
      slug: taskEditSlug,
      title: 'Edit task',
      parent: tasksSlug,
      uploadLimit,
      ...assets,
      body: async () => (await import('./pages/task-edit.page.ts')).taskEditPage,
    }),
    loadedPage<Automations>({
      slug: taskSlug,
      title: 'Task',
      parent: tasksSlug,
      ...assets,
      body: async () => (await import('./pages/task.page.ts')).taskPage,
    }),
    loadedPage<Automations>({
      slug: itemSlug,
      title: 'Item',
      parent: tasksSlug,
      ...assets,
      body: async () => (await import('./pages/item.page.ts')).itemPage,
    }),
  ],
  commands: [loadedCommands(async () => (await import('./commands/task-commands.ts')).taskCommands)],
  migrations: [automationsMigration, automationJobsMigration],
  tables: Object.values(taskTables),
  jobs: [runHook],
  register: registerAutomations,
});
