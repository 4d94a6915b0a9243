import { optionalColumns, requiredColumns, type Migration } from '#plugin-api';
import { createTables } from '../../../kit/migrations.ts';

/** What was used of each budget in each of its periods, and what running calls may still use. */
export const budgetCounters = 'svc_budget_counters';
/** What each running call may use at most, until it is settled. */
export const budgetReservations = 'svc_budget_reservations';

/** Sums of the usage ledger per day (`modules/usage/README.md`), which counters start from. */
export const usageDays = 'svc_usage_days';
/** The same by role of the user, for counters of roles. */
export const usageRoleDays = 'svc_usage_role_days';

/** Milliseconds, millionths of a US dollar, tokens or calls: numbers that PostgreSQL returns as text; only `used` has decimals. */
export interface CounterRow {
  readonly counter: string;
  readonly period: string;
  readonly scope: string;
  readonly module: string | null;
  readonly bot_id: number | null;
  readonly key_id: number | null;
  readonly user_id: number | null;
  readonly role: string | null;
  readonly plugin: string | null;
  readonly unit: string;
  readonly used: number;
  readonly reserved: number;
}

type NamedCounter = Pick<CounterRow, 'counter' | 'period'>;

export function nameOfCounter({ counter, period }: NamedCounter): string {
  return `${counter}|${period}`;
}

/** The order in which every transaction locks counters, so that two never deadlock. */
export function sortCounters<Counter extends NamedCounter>(counters: readonly Counter[]): Counter[] {
  return [...counters].sort((left, right) => (nameOfCounter(left) < nameOfCounter(right) ? -1 : 1));
}

export const budgetMigration = createTables('0180_budgets', {
  [budgetCounters](columns) {
    // The budget's id with all that decides which calls count: a changed budget starts over from the ledger.
    columns.string('counter', 160).notNullable();
    // YYYY-MM-DD or YYYY-MM, in the time zone of the site.
    columns.string('period', 10).notNullable();
    columns.string('scope', 10).notNullable();
    optionalColumns(columns).string(60, 'module').bigInteger('bot_id');
    requiredColumns(columns).string(10, 'unit').bigInteger('used', 'reserved', 'refused');
    // The amounts that the alert and the exhaustion were last announced for: once each, and again if the budget changes.
    columns.bigInteger('alerted').notNullable();
    columns.bigInteger('exhausted').notNullable();
    columns.primary(['counter', 'period']);
    // The ledger's writer reads all counters of a day and its month.
    columns.index(['period'], 'svc_budget_counters_period');
  },
  [budgetReservations](columns) {
    requiredColumns(columns).string(36, 'call').string(160, 'counter').string(10, 'period').bigInteger('amount');
    // By the database's clock, in milliseconds.
    columns.bigInteger('expires').notNullable();
    columns.primary(['call', 'counter']);
    columns.index(['expires'], 'svc_budget_reservations_expires');
  },
});

/** Costs have six decimals (D51); SQLite stores them in any column of numbers. */
export const budgetDecimalsMigration: Migration = {
  id: '0241_budget_decimals',
  async up(knex, { dialect }) {
    if (dialect === 'postgresql')
      await knex.raw('alter table ?? alter column used type numeric(24, 6)', [budgetCounters]);
  },
};

/** Budgets of named keys and of users (D31). */
export const budgetCallersMigration: Migration = {
  id: '0222_budget_callers',
  async up(knex) {
    await knex.schema.alterTable(budgetCounters, (columns) => {
      optionalColumns(columns).bigInteger('key_id', 'user_id');
    });
  },
};

/** The process of a reservation, and when its lease ends by the database's clock: null in rows of earlier versions. */
export const reservationOwnersMigration: Migration = {
  id: '0290_budget_reservation_owners',
  async up(knex) {
    await knex.schema.alterTable(budgetReservations, (columns) => {
      optionalColumns(columns).string(120, 'owner').bigInteger('lease');
    });
  },
};

/** Budgets of roles and of plugins (D31). */
export const budgetRolesMigration: Migration = {
  id: '0230_budget_roles',
  async up(knex) {
    await knex.schema.alterTable(budgetCounters, (columns) => {
      optionalColumns(columns).string(60, 'role', 'plugin');
    });
  },
};
