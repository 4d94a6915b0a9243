import { requiredColumns, type Migration } from '#plugin-api';

/** Posts of all types and their meta. Times are milliseconds since the epoch. */
export const migrations: readonly Migration[] = [
  {
    id: '0005_content',
    async up(knex) {
      await knex.schema.createTable('posts', (table) => {
        table.increments('id');
        requiredColumns(table).string(20, 'type', 'status').text('title', 'content', 'excerpt').string(200, 'slug');
        // Type, parent of hierarchical types, and slug. Null if the slug need not be unique.
        table.string('slug_key', 260).unique();
        table.integer('author_id').notNullable().index();
        requiredColumns(table)
          .integer('parent_id', 'menu_order')
          .bigInteger('date')
          .integer('is_date_set')
          .bigInteger('modified')
          .string(100, 'mime_type')
          .integer('featured_media_id');
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
        requiredColumns(table)
          .string(245, 'author_name')
          .string(100, 'author_email')
          .string(200, 'author_url')
          .string(64, 'author_ip')
          .string(254, 'author_agent')
          .bigInteger('date')
          .text('content')
          .string(20, 'status');
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
  {
    id: '0221_taxonomies',
    async up(knex) {
      await knex.schema.createTable('terms', (table) => {
        table.increments('id');
        table.string('taxonomy', 32).notNullable();
        table.string('name', 200).notNullable();
        // Name in lowercase without accents.
        table.string('name_key', 400).notNullable();
        table.string('slug', 200).notNullable();
        table.text('description').notNullable();
        table.integer('parent_id').notNullable();
        table.unique(['taxonomy', 'slug']);
        table.index(['taxonomy', 'name_key']);
        table.index(['parent_id']);
      });
      await knex.schema.createTable('term_posts', (table) => {
        table.integer('term_id').notNullable().references('terms.id').onDelete('CASCADE');
        table.integer('post_id').notNullable().references('posts.id').onDelete('CASCADE');
        table.primary(['post_id', 'term_id']);
        table.index(['term_id']);
      });
      await knex('terms').insert({
        taxonomy: 'category',
        name: 'Uncategorized',
        name_key: 'uncategorized',
        slug: 'uncategorized',
        description: '',
        parent_id: 0,
      });
      // As in WordPress, no post is without a category.
      await knex.raw(`insert into term_posts (term_id, post_id) select terms.id, posts.id from terms, posts
        where posts.type = 'post' and posts.status <> 'auto-draft'`);
    },
  },
  {
    // The list of all posts, by date, and the latest ones on the home page, without sorting all of them.
    id: '0241_posts_by_date',
    up: (knex) =>
      knex.schema.alterTable('posts', (table) => {
        table.index(['type', 'date', 'id', 'status'], 'posts_by_date');
        table.index(['type', 'modified', 'id', 'status'], 'posts_by_modified');
      }),
  },
];
