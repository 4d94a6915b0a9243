import { requiredColumns, type JsonValue, type Migration } from '#plugin-api';
import { insertJobs } from '../../../kit/migrations.ts';
import { createCounterTable } from '../../../kit/visitors/limit-counters.ts';
import { turnJob } from './turn-jobs.ts';

export const widgetTables = {
  /** How much of a limit is used: one row per bot, visitor and period. */
  counters: 'svc_widget_counters',
  /** Idempotency keys of conversations that are not stored: hashes, kept for a day. */
  idempotency: 'svc_widget_idempotency',
} as const;
export const widgetCounters = { table: widgetTables.counters, scopeColumn: 'bot_id' } as const;

/** Leases on running answers, until 0213. */
const turnsTable = 'svc_widget_turns';
/** Name of `svc_widget_idempotency` until 0184. */
const actsTable = 'svc_widget_acts';

const createTables: Migration = {
  id: '0103_widget',
  async up(knex) {
    await createCounterTable(knex, widgetCounters);
    await knex.schema.createTable(turnsTable, (columns) => {
      columns.text('conversation').primary();
      requiredColumns(columns).text('message_id', 'token').bigInteger('until');
      columns.integer('stopped').notNullable().defaultTo(0);
      // JSON of the reservation, to be refunded if the node dies.
      columns.text('reserved').notNullable();
    });
    await knex.schema.createTable(actsTable, (columns) => {
      columns.text('key').primary();
      requiredColumns(columns).text('value').integer('revision').bigInteger('expires_at');
    });
    await knex.raw(`CREATE INDEX ${actsTable}_expires_at ON ${actsTable} (expires_at)`);
  },
};

const renameActs: Migration = {
  id: '0184_widget_idempotency',
  async up(knex) {
    await knex.raw(`ALTER TABLE ${actsTable} RENAME TO ${widgetTables.idempotency}`);
    // SQLite cannot rename an index.
    await knex.raw(`DROP INDEX ${actsTable}_expires_at`);
    await knex.raw(`CREATE INDEX ${widgetTables.idempotency}_expires_at ON ${widgetTables.idempotency} (expires_at)`);
  },
};

/** Running answers are jobs of the host. The reservations of those in progress are refunded when their lease ends. */
const turnJobs: Migration = {
  id: '0213_chat_turn_jobs',
  async up(knex) {
    const turns = (await knex(turnsTable).select('*')) as Record<string, string>[];
    const jobs = turns.map(({ conversation = '', message_id = '', reserved = 'null', until }) => ({
      key: conversation,
      args: { messageId: message_id, reservation: JSON.parse(reserved) as JsonValue },
      isRunning: true,
      dueAt: Number(until),
    }));
    await insertJobs(knex, turnJob, jobs);
    await knex.schema.dropTable(turnsTable);
  },
};

export const widgetMigrations: readonly Migration[] = [createTables, renameActs, turnJobs];
