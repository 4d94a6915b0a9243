import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';

export const automationsModule = defineModule<ServiceContext>({
  id: 'automations',
  title: 'Automations',
});

/** Removed when the plugin is uninstalled. */
export const automationTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const automationJobs: readonly string[] = [];
