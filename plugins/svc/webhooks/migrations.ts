import { optionalColumns, requiredColumns, type Knex, type Migration } from '#plugin-api';

/** Tables of event webhooks. Numeric ids stay inside the database; the columns `uuid` hold the public ids. */
export const tables = {
  /** One row per event with its body, shared by all endpoints. */
  events: 'svc_webhook_events',
  /** One row per job (D20): one event to one endpoint. `due_at` is null once the job has finished. */
  deliveries: 'svc_webhook_deliveries',
  /** Records of earlier attempts; the delivery itself holds the last one. */
  attempts: 'svc_webhook_attempts',
  /** Jobs that processes hold. SQLite: one row per batch; PostgreSQL: one row per job. */
  leases: 'svc_webhook_leases',
  circuits: 'svc_webhook_circuits',
} as const;

/** Job that queues the deliveries of a replay again. Its key is the id of the replay. */
export const replayJob = 'replay-deliveries';

/** Replays were rows of a table before they were jobs. */
const formerReplays = 'svc_webhook_replays';

/** What is stored of the body of an event (D20). */
export const bodyStates = {
  stored: 0,
  /** Deleted as soon as no delivery of the event is open. */
  temporary: 1,
  /** Deleted, because the chatbot or form stores nothing. */
  notKept: 2,
  /** Deleted with the data of a person. */
  erased: 3,
} as const;

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
        // Emit context of an event whose envelope filter has to run again.
        columns.text('context');
      });
    },
  },
  {
    id: '0183_webhook_leases',
    async up(knex, { dialect }) {
      if (dialect === 'sqlite') return;
      await knex.schema.dropTable(tables.leases);
      // Unlogged: a crash of the server ends all leases anyway.
      await knex.raw(
        `CREATE UNLOGGED TABLE ${tables.leases} (delivery_id bigint PRIMARY KEY, owner text NOT NULL, token bigint NOT NULL, until bigint NOT NULL)`,
      );
      await knex(tables.deliveries).where({ state: 'delivering' }).update({ state: 'pending', owner: null });
    },
  },
  {
    id: '0190_webhook_needs_filter',
    async up(knex) {
      await knex.raw(`ALTER TABLE ${tables.events} RENAME COLUMN unfiltered TO needs_filter`);
    },
  },
  {
    id: '0200_webhook_privacy',
    async up(knex) {
      await knex.schema.alterTable(tables.events, (columns) => {
        // A value of `bodyStates`.
        columns.integer('body_state').notNullable().defaultTo(bodyStates.stored);
        columns.bigInteger('body_deleted_at');
        // Whom the event is about, for erasures. Null: no user or no guest session.
        columns.bigInteger('user_id');
        columns.text('session_id');
      });
      await knex.schema.alterTable(formerReplays, (columns) => {
        columns.integer('without_body').notNullable().defaultTo(0);
      });
      await knex.raw(
        `CREATE INDEX ${tables.events}_temporary ON ${tables.events} (id) WHERE body_state = ${String(bodyStates.temporary)}`,
      );
    },
  },
  {
    id: '0214_webhook_replay_jobs',
    up: moveReplays,
  },
  {
    id: '0220_webhook_index_entries',
    async up(knex, { dialect }) {
      if (dialect === 'sqlite') return;
      // The update that stores a result adds an entry to each of them. Looking for duplicates in a full page costs as much as
      // the entries.
      for (const index of ['uuid', 'event', 'pkey'])
        await knex.raw(`ALTER INDEX ${tables.deliveries}_${index} SET (deduplicate_items = off)`);
    },
  },
];

async function moveReplays(knex: Knex): Promise<void> {
  for (const row of await knex(formerReplays).where({ state: 'running' })) {
    const [cursor, last] = [Number(row.cursor), Number(row.last)];
    const figures = { replayed: row.replayed, total: row.total, withoutBody: row.without_body };
    const args = { request: JSON.parse(row.request), cursor, last, ...figures, isDone: false };
    await knex('jobs').insert({
      ...{ owner: 'svc', name: 'replay-deliveries', job_key: row.id, args: JSON.stringify(args), state: 'waiting' },
      ...{ priority: 10, due_at: row.created_at, created_at: row.created_at },
    });
  }
  await knex.schema.dropTable(formerReplays);
}

async function createQueueTables(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.events, (columns) => {
    columns.bigIncrements('id');
    requiredColumns(columns).text('uuid', 'name', 'key').bigInteger('created_at').binary('body');
    // Set if the envelope filter failed: it has to run before the event is sent.
    columns.integer('unfiltered').notNullable().defaultTo(0);
  });
  await knex.schema.createTable(tables.deliveries, (columns) => {
    columns.bigIncrements('id');
    requiredColumns(columns).text('uuid').bigInteger('event_id').text('endpoint_id', 'state');
    columns.bigInteger('due_at');
    columns.integer('attempts').notNullable().defaultTo(0);
    // Attempts before the current series: a manual retry starts a new one.
    columns.integer('run_start').notNullable().defaultTo(0);
    columns.text('owner');
    columns.integer('token').notNullable().defaultTo(0);
    optionalColumns(columns).text('order_key', 'target').binary('body');
    columns.bigInteger('created_at').notNullable();
    optionalColumns(columns)
      .bigInteger('finished_at')
      .integer('http_status')
      .text('failure', 'error')
      .integer('duration')
      .text('log');
    columns.integer('cleared').notNullable().defaultTo(0);
  });
  await knex.schema.createTable(tables.attempts, (columns) => {
    requiredColumns(columns).bigInteger('delivery_id').integer('number').text('log');
    columns.primary(['delivery_id', 'number']);
  });
}

async function createLeaseTables(knex: Knex): Promise<void> {
  await knex.schema.createTable(tables.leases, (columns) => {
    columns.bigIncrements('token');
    requiredColumns(columns).text('owner').bigInteger('until').text('jobs');
  });
  await knex.schema.createTable(tables.circuits, (columns) => {
    columns.text('endpoint_id').primary();
    requiredColumns(columns).bigInteger('failing_since').integer('failures');
    columns.bigInteger('paused_at');
    columns.text('reason').notNullable();
    columns.bigInteger('next_probe_at');
    columns.integer('probes').notNullable().defaultTo(0);
  });
  await knex.schema.createTable(formerReplays, (columns) => {
    columns.text('id').primary();
    requiredColumns(columns).text('state', 'request');
    columns.bigInteger('cursor').notNullable().defaultTo(0);
    columns.bigInteger('last').notNullable();
    columns.integer('replayed').notNullable().defaultTo(0);
    columns.integer('total').notNullable().defaultTo(0);
    requiredColumns(columns).bigInteger('created_at', 'moved_at');
  });
}

/** All but the first two cover open or failed jobs only, so they stay small when the log grows. */
async function createIndexes(knex: Knex): Promise<void> {
  const { deliveries } = tables;
  await knex.raw(`CREATE UNIQUE INDEX ${deliveries}_uuid ON ${deliveries} (uuid)`);
  await knex.raw(`CREATE INDEX ${deliveries}_event ON ${deliveries} (event_id)`);
  // A claim is one index seek, however many jobs are waiting.
  await knex.raw(`CREATE INDEX ${deliveries}_due ON ${deliveries} (endpoint_id, due_at, id) WHERE due_at IS NOT NULL`);
  await knex.raw(
    `CREATE INDEX ${deliveries}_order ON ${deliveries} (endpoint_id, order_key, id) WHERE due_at IS NOT NULL AND order_key IS NOT NULL`,
  );
  await knex.raw(`CREATE INDEX ${deliveries}_failed ON ${deliveries} (id) WHERE state = 'failed'`);
}
