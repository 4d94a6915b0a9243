import type { Migration } from '#plugin-api';

/** Never change one that was released: add another. Both databases run them. */
export const migrations: readonly Migration[] = [
  {
    id: '0001_orders',
    async up(knex) {
      await knex.schema.createTable('orders_orders', (table) => {
        table.increments('id');
        table.string('customer', 200).notNullable();
        table.integer('total').notNullable();
        table.string('state', 20).notNullable().index();
        table.bigInteger('created_at').notNullable();
      });
    },
  },
  {
    id: '0002_sent_at',
    async up(knex) {
      await knex.schema.alterTable('orders_orders', (table) => void table.bigInteger('sent_at'));
    },
  },
];
