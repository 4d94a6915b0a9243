import type { Migration } from '#plugin-api';

/** What was used of each budget in each of its periods, and what calls under way may still use. */
export const budgetCounters = 'svc_budget_counters';
/** What each call under way may use at most, until it is settled. */
export const budgetReservations = 'svc_budget_reservations';

/** Milliseconds, millionths of a US dollar, tokens or calls: whole numbers all. PostgreSQL gives them as text. */
export interface CounterRow {
  readonly counter: string;
  readonly period: string;
  readonly scope: string;
  readonly module: string | null;
  readonly bot_id: number | null;
  readonly unit: string;
  readonly used: number;
  readonly reserved: number;
}

export const budgetMigration: Migration = {
  id: '0180_budgets',
  async up(knex) {
    await knex.schema.createTable(budgetCounters, (columns) => {
      // The budget's id with all that decides which calls count: a budget that is changed counts anew, from the ledger.
      columns.string('counter', 160).notNullable();
      // YYYY-MM-DD or YYYY-MM, in the time zone of the site.
      columns.string('period', 10).notNullable();
      columns.string('scope', 10).notNullable();
      columns.string('module', 60);
      columns.bigInteger('bot_id');
      columns.string('unit', 10).notNullable();
      columns.bigInteger('used').notNullable();
      columns.bigInteger('reserved').notNullable();
      columns.bigInteger('refused').notNullable();
      // The amounts the alert and the exhaustion were last announced for: each once, and again when the budget is changed.
      columns.bigInteger('alerted').notNullable();
      columns.bigInteger('exhausted').notNullable();
      columns.primary(['counter', 'period']);
      // The writer of the ledger asks for all counters of a day and its month.
      columns.index(['period'], 'svc_budget_counters_period');
    });
    await knex.schema.createTable(budgetReservations, (columns) => {
      columns.string('call', 36).notNullable();
      columns.string('counter', 160).notNullable();
      columns.string('period', 10).notNullable();
      columns.bigInteger('amount').notNullable();
      // Time of the database, in milliseconds: from then on it counts as given back.
      columns.bigInteger('expires').notNullable();
      columns.primary(['call', 'counter']);
      columns.index(['expires'], 'svc_budget_reservations_expires');
    });
  },
};
