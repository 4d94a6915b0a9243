import type { Migration } from '#plugin-api';

export const contentTableNames = {
  templates: 'svc_content_templates',
  batches: 'svc_content_batches',
  items: 'svc_content_items',
} as const;

/** Members that are JSON are text. Times in milliseconds since the epoch, those of leases by the database's clock. */
export const contentMigration: Migration = {
  id: '0130_content_writer',
  async up(knex) {
    const { templates, batches, items } = contentTableNames;
    await knex.schema.createTable(templates, (columns) => {
      columns.increments('id');
      columns.string('name', 100).notNullable();
      /** Lower case: no two templates share a name. */
      columns.string('name_key', 100).notNullable().unique();
      columns.text('settings').notNullable();
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('updated_at').notNullable();
    });
    await knex.schema.createTable(batches, (columns) => {
      columns.increments('id');
      columns.string('label', 200).notNullable();
      /** Whose it is: posts are made with the rights of this user. */
      columns.integer('user_id').notNullable().index();
      /** `draft` while it is looked over, then `started`. */
      columns.string('status', 20).notNullable();
      /** Template and post settings, as they were when it was made. */
      columns.text('settings').notNullable();
      columns.bigInteger('created_at').notNullable().index();
      columns.bigInteger('updated_at').notNullable();
    });
    await knex.schema.createTable(items, (columns) => {
      columns.increments('id');
      columns.string('uuid', 36).notNullable().unique();
      /** Null: one that was streamed on the page, or asked for by a command. */
      columns.integer('batch_id').nullable();
      columns.integer('user_id').notNullable().index();
      columns.integer('position').notNullable();
      columns.string('topic', 500).notNullable();
      columns.text('input').notNullable();
      /** `waiting` (its batch is looked over), `pending`, `processing`, `completed`, `failed`, `cancelled`. */
      columns.string('status', 20).notNullable();
      columns.integer('attempts').notNullable().defaultTo(0);
      columns.text('message').notNullable().defaultTo('');
      /** Parts written so far. */
      columns.text('draft').notNullable();
      columns.integer('post_id').nullable();
      /** Millionths of a US dollar of all its calls whose price is known, and the number of the others. */
      columns.bigInteger('cost').notNullable().defaultTo(0);
      columns.integer('unpriced').notNullable().defaultTo(0);
      columns.integer('tokens').notNullable().defaultTo(0);
      columns.string('lease', 36).nullable();
      /** Until when the lease holds (processing), or not before when it is due (pending). */
      columns.bigInteger('due_at').notNullable().defaultTo(0);
      columns.bigInteger('created_at').notNullable();
      columns.bigInteger('updated_at').notNullable();
      columns.index(['batch_id', 'position'], 'svc_content_items_batch');
      columns.index(['status', 'due_at'], 'svc_content_items_due');
    });
  },
};
