import type { Migration } from '#plugin-api';

export const imageTables = {
  /** One row an image. The picture itself is in the media library. */
  images: 'svc_images',
  /** What visitors asked for, one row a request: its lease, what it took of their limits, how it ended. */
  requests: 'svc_image_requests',
  /** What of a limit is used up: one row for each visitor and day. */
  counters: 'svc_image_counters',
} as const;

/** Times in milliseconds since the epoch, costs in millionths of a US dollar. Ids count up: they are places in the history. */
export const imagesMigration: Migration = {
  id: '0160_images',
  async up(knex) {
    await knex.schema.createTable(imageTables.images, (columns) => {
      columns.increments('id');
      // Of one request all images share it; with the place it tells them apart.
      columns.string('request', 100).notNullable();
      columns.integer('place').notNullable();
      // `pending`: made, and not yet anybody's: the work it belongs to has not been completed.
      columns.string('status', 10).notNullable();
      columns.integer('media_id').notNullable().index();
      columns.string('mode', 10).notNullable();
      columns.integer('parent_id').index();
      columns.integer('source_media_id');
      columns.string('origin', 40).notNullable();
      columns.text('prompt').notNullable();
      columns.text('revised_prompt');
      columns.string('provider_id', 100).notNullable();
      columns.text('provider').notNullable();
      columns.text('model').notNullable();
      // JSON of what was asked: size, quality, style.
      columns.text('asked').notNullable();
      columns.text('url').notNullable();
      columns.text('mime_type').notNullable();
      columns.bigInteger('bytes').notNullable();
      columns.bigInteger('cost');
      columns.text('usage');
      columns.bigInteger('user_id').notNullable().index();
      columns.string('session_id', 64).index();
      // Folded prompt, which a search looks through.
      columns.text('found_by').notNullable();
      columns.bigInteger('created_at').notNullable();
      columns.unique(['request', 'place']);
      columns.index(['status', 'id']);
      columns.index(['status', 'origin', 'id']);
    });
    await knex.schema.createTable(imageTables.requests, (columns) => {
      columns.string('id', 36).primary();
      columns.string('state', 10).notNullable();
      columns.bigInteger('user_id').notNullable().index();
      columns.string('session_id', 64).index();
      columns.text('prompt').notNullable();
      columns.integer('n').notNullable();
      // JSON of what was taken of limits, to be given back when the node that draws dies.
      columns.text('taken').notNullable();
      columns.bigInteger('until').notNullable();
      columns.text('message').notNullable();
      columns.bigInteger('created_at').notNullable().index();
      columns.index(['state', 'until']);
    });
    await knex.schema.createTable(imageTables.counters, (columns) => {
      columns.integer('scope').notNullable();
      // `s:` session, `a:` hash of an address, `u:` user.
      columns.text('subject').notNullable();
      columns.text('unit').notNullable();
      columns.text('per').notNullable();
      columns.bigInteger('starts_at').notNullable().index();
      columns.bigInteger('used').notNullable();
      columns.primary(['scope', 'subject', 'unit', 'per', 'starts_at']);
    });
  },
};
