import { optionalColumns, requiredColumns, type Migration } from '#plugin-api';
import { createTables, insertJobs } from '../../kit/migrations.ts';
import { createCounterTable } from '../../kit/visitors/limit-counters.ts';
import { videoJob, visitorImageJob } from './image-names.ts';

export const imageTables = {
  /** One row per image. The file is in the media library. */
  images: 'svc_images',
  /** One row per request of a visitor: what it reserved of the limits, its result. */
  requests: 'svc_image_requests',
  /** Usage of limits, one row per visitor and day. */
  counters: 'svc_image_counters',
  /** One row per requested video, until 30 days after it ended. */
  videos: 'svc_video_jobs',
} as const;
/** A limit of images has no scope: 0. */
export const imageCounters = { table: imageTables.counters, scopeColumn: 'scope' } as const;

/** Times are milliseconds since the epoch, costs millionths of a US dollar. Ids increase, and order the history. */
const imagesMigration: Migration = {
  id: '0160_images',
  async up(knex) {
    await knex.schema.createTable(imageTables.images, (columns) => {
      columns.increments('id');
      // Shared by the images of one request.
      columns.string('request', 100).notNullable();
      columns.integer('place').notNullable();
      // `pending` until the work that requested the image is completed.
      columns.string('status', 10).notNullable();
      columns.integer('media_id').notNullable().index();
      columns.string('mode', 10).notNullable();
      columns.integer('parent_id').index();
      columns.integer('source_media_id');
      requiredColumns(columns).string(40, 'origin').text('prompt');
      columns.text('revised_prompt');
      requiredColumns(columns).string(100, 'provider_id').text('provider', 'model');
      // JSON: size, quality, style.
      columns.text('asked').notNullable();
      requiredColumns(columns).text('url', 'mime_type').bigInteger('bytes');
      optionalColumns(columns).bigInteger('cost').text('usage');
      columns.bigInteger('user_id').notNullable().index();
      columns.string('session_id', 64).index();
      // Folded prompt, for searches.
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
      requiredColumns(columns).text('prompt').integer('n');
      // JSON of what is reserved of limits. It is released when the node dies.
      columns.text('taken').notNullable();
      requiredColumns(columns).bigInteger('until').text('message');
      columns.bigInteger('created_at').notNullable().index();
      columns.index(['state', 'until']);
    });
    await createCounterTable(knex, imageCounters);
  },
};

/** Renames columns to the terms of the code; a stored image has the status `stored`. */
const columnsMigration: Migration = {
  id: '0193_image_columns',
  async up(knex) {
    const { images, requests } = imageTables;
    await knex.raw(`ALTER TABLE ${images} RENAME COLUMN place TO position`);
    await knex.raw(`ALTER TABLE ${images} RENAME COLUMN asked TO params`);
    await knex.raw(`ALTER TABLE ${images} RENAME COLUMN found_by TO search_text`);
    await knex(images).where({ status: 'kept' }).update({ status: 'stored' });
    await knex.raw(`ALTER TABLE ${requests} RENAME COLUMN taken TO reserved`);
    await knex.raw(`ALTER TABLE ${requests} RENAME COLUMN until TO lease_until`);
  },
};

/** Marks images of visitors, which were public media. `createPrivateImages` moves their files and clears the mark. */
const privateMigration: Migration = {
  id: '0194_private_images',
  async up(knex) {
    await knex.schema.alterTable(imageTables.images, (columns) => {
      columns.integer('is_public').notNullable().defaultTo(0).index();
    });
    await knex(imageTables.images).where({ origin: 'frontend_image_generator' }).update({ is_public: 1 });
  },
};

const videosMigration = createTables('0195_video_jobs', {
  [imageTables.videos](columns) {
    columns.string('id', 36).primary();
    // queued, starting, running, done, failed.
    columns.string('state', 10).notNullable();
    columns.bigInteger('user_id').notNullable().index();
    // JSON of what was requested.
    columns.text('request').notNullable();
    // JSON of the provider's operation, once it was started.
    columns.text('operation');
    columns.text('message').notNullable();
    columns.string('lease', 36);
    columns.bigInteger('lease_until').notNullable();
    columns.bigInteger('created_at').notNullable().index();
    columns.index(['state', 'lease_until']);
  },
});

/** Requests of visitors are jobs of the host. Those in progress end when their lease does. */
const visitorJobsMigration: Migration = {
  id: '0210_visitor_image_jobs',
  async up(knex) {
    const { requests } = imageTables;
    const drawing = (await knex(requests).where({ state: 'drawing' }).select('id', 'lease_until')) as {
      readonly id: string;
      readonly lease_until: number | string;
    }[];
    const jobs = drawing.map(({ id: key, lease_until }) => ({
      key,
      args: { id: key, provider: '', model: '', size: '' },
      isRunning: true,
      dueAt: Number(lease_until),
    }));
    await insertJobs(knex, visitorImageJob, jobs);
    await knex.raw(`DROP INDEX ${requests}_state_until_index`);
    await knex.raw(`ALTER TABLE ${requests} DROP COLUMN lease_until`);
  },
};

/** Videos are jobs of the host. Those in progress are continued when their lease ends. */
const videoLeasesMigration: Migration = {
  id: '0211_video_leases',
  async up(knex) {
    const { videos } = imageTables;
    const open = (await knex(videos)
      .whereIn('state', ['queued', 'starting', 'running'])
      .select('id', 'lease_until')) as { readonly id: string; readonly lease_until: number | string }[];
    const jobs = open.map(({ id, lease_until }) => ({
      key: id,
      args: { id },
      isRunning: false,
      dueAt: Number(lease_until),
    }));
    await insertJobs(knex, videoJob, jobs);
    await knex.raw(`DROP INDEX ${videos}_state_lease_until_index`);
    await knex.raw(`ALTER TABLE ${videos} DROP COLUMN lease`);
    await knex.raw(`ALTER TABLE ${videos} DROP COLUMN lease_until`);
  },
};

export const imageMigrations: readonly Migration[] = [
  imagesMigration,
  columnsMigration,
  privateMigration,
  videosMigration,
  visitorJobsMigration,
  videoLeasesMigration,
];
