import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';

export const failoverModule = defineModule<ServiceContext>({
  id: 'failover',
  title: 'Failover',
});

/** Removed when the plugin is uninstalled. */
export const failoverTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const failoverJobs: readonly string[] = [];
