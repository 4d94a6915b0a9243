import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';

export const budgetsModule = defineModule<ServiceContext>({
  id: 'budgets',
  title: 'Budgets',
});

/** Removed when the plugin is uninstalled. */
export const budgetTables: readonly string[] = [];

/** Cron jobs, for uninstalling. */
export const budgetJobs: readonly string[] = [];
