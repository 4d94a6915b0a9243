import type { Knex, Migration } from '#plugin-api';

/** Tables of event webhooks. All ids are the database's own; what leaves the site are the columns `uuid`. */
export const tables = {
  /** One row per event: the bytes of its body, once for all endpoints. */
  events: 'svc_webhook_events',
  /** One row per job (D20): one event to one endpoint. `due_at` is null once it is finished. */
  deliveries: 'svc_webhook_deliveries',
  /** Attempts before the last one, whose record stands in the delivery itself. */
  attempts: 'svc_webhook_attempts',
  /** Which jobs a process works on. SQLite: a row for each pass; PostgreSQL: one for each job. */
  leases: 'svc_webhook_leases',
  circuits: 'svc_webhook_circuits',
  replays: 'svc_webhook_replays',
} as const;

export const webhookTables: readonly string[] = Object.values(tables);

export const webhookMigrations: readonly Migration[] = [
  {
    id: '0100_webhooks',
    async up(knex) {
      await createQueueTables(knex);
      await createLeaseTables(knex);
      await createIndexes(knex);
    },
  },
  {
    id: '0120_webhook_contexts',
    async up(knex) {
      await knex.schema.alterTable(tables.events, (columns) => {
        // What an unfiltered event was emitted with: its filter is handed it again.
        columns.text('context');
      });
    },
  },
  {
    id: '0183_webhook_leases',
    async up(knex, { dialect }) {
      if (dialect === 'sqlite') return;
      await knex.schema.dropTable(tables.leases);
      // Not logged: after a crash of the server nobody works on anything.
      await knex.raw(
        `CREATE UNLOGGED TABLE ${tables.leases} (delivery_id bigint PRIMARY KEY, owner text NOT NULL, token bigint NOT NULL, until bigint NOT NULL)`,
      );
      await knex(tables.deliveries).where({ state: 'delivering' }).update({ state: 'pending', owner: null });
    },
  },
];

async function createQueueTables(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.events, (columns) => {
    columns.bigIncrements('id');
    columns.text('uuid').notNullable();
    columns.text('name').notNullable();
    columns.text('key').notNullable();
    columns.bigInteger('created_at').notNullable();
    columns.binary('body').notNullable();
    // Set when a filter of envelopes failed: it has to run before anything is sent.
    columns.integer('unfiltered').notNullable().defaultTo(0);
  });
  await knex.schema.createTable(tables.deliveries, (columns) => {
    columns.bigIncrements('id');
    columns.text('uuid').notNullable();
    columns.bigInteger('event_id').notNullable();
    columns.text('endpoint_id').notNullable();
    columns.text('state').notNullable();
    columns.bigInteger('due_at');
    columns.integer('attempts').notNullable().defaultTo(0);
    // Attempts made before the running series began: a manual retry begins a new one.
    columns.integer('run_start').notNullable().defaultTo(0);
    columns.text('owner');
    columns.integer('token').notNullable().defaultTo(0);
    columns.text('order_key');
    columns.text('target');
    columns.binary('body');
    columns.bigInteger('created_at').notNullable();
    columns.bigInteger('finished_at');
    columns.integer('http_status');
    columns.text('failure');
    columns.text('error');
    columns.integer('duration');
    columns.text('log');
    columns.integer('cleared').notNullable().defaultTo(0);
  });
  await knex.schema.createTable(tables.attempts, (columns) => {
    columns.bigInteger('delivery_id').notNullable();
    columns.integer('number').notNullable();
    columns.text('log').notNullable();
    columns.primary(['delivery_id', 'number']);
  });
}

async function createLeaseTables(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.leases, (columns) => {
    columns.bigIncrements('token');
    columns.text('owner').notNullable();
    columns.bigInteger('until').notNullable();
    columns.text('jobs').notNullable();
  });
  await knex.schema.createTable(tables.circuits, (columns) => {
    columns.text('endpoint_id').primary();
    columns.bigInteger('failing_since').notNullable();
    columns.integer('failures').notNullable();
    columns.bigInteger('paused_at');
    columns.text('reason').notNullable();
    columns.bigInteger('next_probe_at');
    columns.integer('probes').notNullable().defaultTo(0);
  });
  await knex.schema.createTable(tables.replays, (columns) => {
    columns.text('id').primary();
    columns.text('state').notNullable();
    columns.text('request').notNullable();
    columns.bigInteger('cursor').notNullable().defaultTo(0);
    columns.bigInteger('last').notNullable();
    columns.integer('replayed').notNullable().defaultTo(0);
    columns.integer('total').notNullable().defaultTo(0);
    columns.bigInteger('created_at').notNullable();
    columns.bigInteger('moved_at').notNullable();
  });
}

/** All of them but the first two hold open or failed jobs alone, so that their size is that of the trouble, not of the log. */
async function createIndexes(knex: Knex): Promise<void> {
  const { deliveries } = tables;
  await knex.raw(`CREATE UNIQUE INDEX ${deliveries}_uuid ON ${deliveries} (uuid)`);
  await knex.raw(`CREATE INDEX ${deliveries}_event ON ${deliveries} (event_id)`);
  // A claim is one seek, however many jobs wait.
  await knex.raw(`CREATE INDEX ${deliveries}_due ON ${deliveries} (endpoint_id, due_at, id) WHERE due_at IS NOT NULL`);
  await knex.raw(
    `CREATE INDEX ${deliveries}_order ON ${deliveries} (endpoint_id, order_key, id) WHERE due_at IS NOT NULL AND order_key IS NOT NULL`,
  );
  await knex.raw(`CREATE INDEX ${deliveries}_failed ON ${deliveries} (id) WHERE state = 'failed'`);
}
