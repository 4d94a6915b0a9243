import type { Migration } from '#plugin-api';

export const inboxTable = 'svc_webhook_inbox';

/** What the built-in inbox received; the newest hundred are kept. */
export const inboxMigration: Migration = {
  id: '0102_webhook_inbox',
  async up(knex) {
    await knex.schema.createTable(inboxTable, (columns) => {
      columns.bigIncrements('id');
      columns.bigInteger('received_at').notNullable();
      columns.text('headers').notNullable();
      columns.binary('body').notNullable();
      columns.text('verdict').notNullable();
      columns.text('answer').notNullable();
    });
  },
};
