import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';

export const contentWriterModule = defineModule<ServiceContext>({
  id: 'content-writer',
  title: 'Content Writer',
});

/** Removed when the plugin is uninstalled. */
export const contentTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const contentJobs: readonly string[] = [];
