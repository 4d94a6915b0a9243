import type { Migration } from '#plugin-api';

export const hoursTable = 'svc_webhook_hours';

/** One row per hour and endpoint that saw deliveries. `hour`: its beginning, milliseconds since the epoch. */
export const hoursMigration: Migration = {
  id: '0101_webhook_hours',
  async up(knex) {
    await knex.schema.createTable(hoursTable, (columns) => {
      columns.bigInteger('hour').notNullable();
      columns.text('endpoint_id').notNullable();
      columns.integer('delivered').notNullable();
      columns.integer('failed').notNullable();
      columns.integer('retried').notNullable();
      columns.primary(['hour', 'endpoint_id']);
    });
  },
};
