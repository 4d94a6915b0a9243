import { budgetCounters, budgetMigration, budgetReservations } from '../../ai/budgets/budget-tables.ts';
import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';
import { budgetsSchema } from '../../settings/budgets/budget.ts';
import { optionNames } from '../../settings/names.ts';

/** How much may be spent: the budgets in front of every call, their page and commands. */
export const budgetsModule = defineModule<ServiceContext>({
  id: 'budgets',
  title: 'Budgets',
  migrations: [budgetMigration],
  register({ host }) {
    host.options.registerSetting(optionNames.budgets, { group: 'svc', label: 'Budgets', schema: budgetsSchema });
  },
});

/** Removed when the plugin is uninstalled. */
export const budgetTables: readonly string[] = [budgetCounters, budgetReservations];

/** Cron jobs, for uninstalling. */
export const budgetJobs: readonly string[] = [];
