import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';

export const aiFormsModule = defineModule<ServiceContext>({
  id: 'ai-forms',
  title: 'AI Forms',
});

/** Removed when the plugin is uninstalled. */
export const aiFormTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const aiFormJobs: readonly string[] = [];
