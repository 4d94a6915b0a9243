import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { taskPages } from './pages/task-page-list.ts';
import { fallbackHook, registerAutomations } from './register.ts';
import { automationsMigration, runHook, taskTables } from './tables.ts';

/** Automations: tasks that collect items from a source, and a queue that works on them. */
export const automationsModule = defineModule<ServiceContext>({
  id: 'automations',
  title: 'Automations',
  pages: taskPages,
  commands: [lazyCommands(async () => (await import('./commands/task-commands.ts')).taskCommands)],
  migrations: [automationsMigration],
  register: registerAutomations,
});

/** Removed when the plugin is uninstalled. */
export const automationTables: readonly string[] = Object.values(taskTables);

/** Cron jobs, for uninstalling. */
export const automationJobs: readonly string[] = [fallbackHook, runHook];
