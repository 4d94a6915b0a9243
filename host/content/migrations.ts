import type { Migration } from '#plugin-api';

/** Posts of all types and their meta. Times are milliseconds since the epoch. */
export const migrations: readonly Migration[] = [
  {
    id: '0005_content',
    async up(knex) {
      await knex.schema.createTable('posts', (table) => {
        table.increments('id');
        table.string('type', 20).notNullable();
        table.string('status', 20).notNullable();
        table.text('title').notNullable();
        table.text('content').notNullable();
        table.text('excerpt').notNullable();
        table.string('slug', 200).notNullable();
        // Type, parent of hierarchical types, and slug. Null if the slug need not be unique.
        table.string('slug_key', 260).unique();
        table.integer('author_id').notNullable().index();
        table.integer('parent_id').notNullable();
        table.integer('menu_order').notNullable();
        table.bigInteger('date').notNullable();
        table.integer('is_date_set').notNullable();
        table.bigInteger('modified').notNullable();
        table.string('mime_type', 100).notNullable();
        table.integer('featured_media_id').notNullable();
        table.string('trashed_from', 20);
        // Title, excerpt and content text in lowercase without accents, so that both databases search alike.
        table.text('search_text').notNullable();
        table.index(['type', 'status', 'date', 'id']);
        table.index(['parent_id', 'type']);
      });
      await knex.schema.createTable('post_meta', (table) => {
        table.increments('id');
        table.integer('post_id').notNullable().references('posts.id').onDelete('CASCADE');
        table.string('key', 255).notNullable();
        // JSON.
        table.text('value').notNullable();
        table.index(['post_id', 'key']);
      });
    },
  },
  {
    id: '0195_post_passwords',
    async up(knex) {
      await knex.schema.alterTable('posts', (table) => {
        table.string('password', 255).notNullable().defaultTo('');
      });
    },
  },
  {
    id: '0204_comments',
    async up(knex) {
      await knex.schema.alterTable('posts', (table) => {
        // Posts of existing sites take no comments until an administrator opens them.
        table.string('comment_status', 20).notNullable().defaultTo('closed');
      });
      await knex.schema.createTable('comments', (table) => {
        table.increments('id');
        table.integer('post_id').notNullable().references('posts.id').onDelete('CASCADE');
        table.integer('parent_id').notNullable();
        // 0: a guest.
        table.integer('user_id').notNullable();
        table.string('author_name', 245).notNullable();
        table.string('author_email', 100).notNullable();
        table.string('author_url', 200).notNullable();
        table.string('author_ip', 64).notNullable();
        table.string('author_agent', 254).notNullable();
        table.bigInteger('date').notNullable();
        table.text('content').notNullable();
        table.string('status', 20).notNullable();
        // Status before spam or trash.
        table.string('status_before', 20);
        // Author and text in lowercase without accents.
        table.text('search_text').notNullable();
        table.index(['post_id', 'status', 'date']);
        table.index(['status', 'date']);
        table.index(['user_id', 'status']);
        table.index(['author_email']);
        table.index(['parent_id']);
      });
    },
  },
];
