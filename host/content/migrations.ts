import { createTextIndex, requiredColumns, type Migration } from '#plugin-api';

/** What searches look in. */
export const postTextIndex = { table: 'posts', columns: ['search_text'] };
export const termTextIndex = { table: 'terms', columns: ['name_key', 'slug'] };
export const commentTextIndex = { table: 'comments', columns: ['search_text'] };

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
  {
    // Lists of a million posts without sorting or reading all of them.
    id: '0242_lists_of_posts',
    async up(knex, { dialect }) {
      await knex.schema.alterTable('posts', (table) => {
        // Title in lowercase without accents.
        table.string('title_key', 100).notNullable().defaultTo('');
      });
      const length = 'case when length(title) > 100 then 100 else length(title) end';
      await knex.raw(`update posts set title_key = substr(search_text, 1, ${length}) where type <> 'revision'`);
      await knex.schema.alterTable('posts', (table) => {
        table.dropIndex(['type', 'modified', 'id', 'status'], 'posts_by_modified');
        table.index(['type', 'status', 'modified', 'id'], 'posts_by_modified');
        table.index(['type', 'title_key', 'id', 'status'], 'posts_by_title');
        table.index(['type', 'author_id', 'id', 'status'], 'posts_by_author');
        table.index(['type', 'mime_type', 'status'], 'posts_by_mime_type');
        table.dropIndex(['type', 'date', 'id', 'status'], 'posts_by_date');
        table.index(['type', 'date', 'id', 'status', 'mime_type'], 'posts_by_date');
        table.dropIndex(['author_id']);
        table.index(['author_id', 'type', 'status', 'modified', 'id'], 'posts_of_author');
        // For the revisions of a post: SQLite would read those of all posts by their date.
        table.dropIndex(['parent_id', 'type']);
        table.index(['parent_id', 'type', 'date', 'id'], 'posts_by_parent');
      });
      await createTextIndex(knex, dialect, postTextIndex);
    },
  },
  {
    // Lists of a million comments by an index of their order, and searches by parts of words.
    id: '0244_comments_at_scale',
    async up(knex, { dialect }) {
      await knex.schema.alterTable('comments', (table) => {
        table.dropIndex(['post_id', 'status', 'date']);
        table.dropIndex(['status', 'date']);
        table.dropIndex(['author_email']);
        table.dropIndex(['parent_id']);
        table.index(['date', 'id', 'status', 'post_id'], 'comments_by_date');
        table.index(['status', 'date', 'id', 'post_id'], 'comments_by_status');
        table.index(['post_id', 'id', 'status'], 'comments_by_post');
        table.index(['post_id', 'date', 'id', 'status', 'parent_id'], 'comments_of_post');
        table.index(['parent_id', 'id', 'status', 'post_id'], 'comments_by_parent');
        table.index(['author_email', 'post_id'], 'comments_by_email');
      });
      await createTextIndex(knex, dialect, commentTextIndex);
      // Comments of posts that not everyone can read are subtracted from those of all posts. The flag finds these posts.
      await knex.schema.alterTable('posts', (table) => {
        table.integer('has_comments').notNullable().defaultTo(0);
      });
      await knex.raw('update posts set has_comments = 1 where id in (select post_id from comments)');
      await knex.raw(`create index posts_of_hidden_comments on posts (status, type, author_id, parent_id, password, id)
        where has_comments = 1 and (status <> 'publish' or password <> '')`);
    },
  },
  {
    // Archives and counts of terms without reading their posts.
    id: '0245_posts_of_terms',
    async up(knex, { dialect }) {
      await knex.schema.alterTable('term_posts', (table) => {
        table.string('post_type', 20).notNullable().defaultTo('');
        // Null if the post is not published.
        table.bigInteger('published_at');
      });
      await knex.raw(`update term_posts set post_type = (select type from posts where posts.id = term_posts.post_id),
        published_at = (select date from posts where posts.id = term_posts.post_id and posts.status = 'publish')`);
      await knex.schema.alterTable('term_posts', (table) => {
        table.dropIndex(['term_id']);
        table.index(['term_id', 'post_type', 'published_at', 'post_id'], 'term_posts_by_date');
      });
      await knex.schema.alterTable('terms', (table) => {
        // Of published posts.
        table.integer('post_count').notNullable().defaultTo(0);
      });
      await knex.raw(
        `update terms set post_count = (select count(published_at) from term_posts where term_id = terms.id)`,
      );
      await knex.schema.alterTable('terms', (table) => {
        table.index(['taxonomy', 'post_count', 'id'], 'terms_by_count');
      });
      await createTextIndex(knex, dialect, termTextIndex);
    },
  },
  {
    // Most posts first, and of the same number the oldest term first, as in WordPress.
    id: '0300_terms_by_count',
    async up(knex) {
      await knex.raw('drop index terms_by_count');
      await knex.raw('create index terms_by_count on terms (taxonomy, post_count, id desc)');
    },
  },
];
