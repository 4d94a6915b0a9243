import { requiredColumns, type Migration } from '#plugin-api';

/** One row per call. */
export const usageTable = 'svc_usage';
/** Sums per day of the site, by everything that calls are grouped by: pages and limits read them, however many calls there are. */
export const usageDaysTable = 'svc_usage_days';

/** What the sums of a day are grouped by, besides the day. */
export const dayKeys = ['module', 'bot_id', 'kind', 'provider', 'model', 'outcome', 'sandbox'] as const;
export const daySums = ['calls', 'input_tokens', 'output_tokens', 'images', 'cost', 'unpriced', 'duration'] as const;

/** A stored call. `cost` in millionths of a US dollar, null without a price; `time`, its end, and `duration` in milliseconds. */
export interface UsageRow {
  readonly id: number;
  readonly time: number;
  readonly module: string;
  readonly route: string | null;
  readonly bot_id: number | null;
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly images: number;
  readonly cost: number | null;
  readonly duration: number;
  readonly outcome: string;
  /** 1 if the sandbox responded, at no cost. */
  readonly sandbox: number;
  /** What the call was made for; null for calls without a purpose, and those of earlier versions. */
  readonly reference: string | null;
}

/** Lengths of the text columns; longer values are truncated. */
export const longest = {
  module: 60,
  route: 200,
  kind: 20,
  provider: 60,
  model: 200,
  outcome: 100,
  reference: 100,
} as const;

export const usageMigration: Migration = {
  id: '0002_usage_ledger',
  async up(knex) {
    await knex.schema.createTable(usageTable, (columns) => {
      columns.bigIncrements('id');
      columns.bigInteger('time').notNullable();
      columns.string('module', longest.module).notNullable();
      columns.string('route', longest.route);
      columns.bigInteger('bot_id');
      columns.string('kind', longest.kind).notNullable();
      columns.string('provider', longest.provider).notNullable();
      columns.string('model', longest.model).notNullable();
      requiredColumns(columns).bigInteger('input_tokens', 'output_tokens').integer('images');
      columns.bigInteger('cost');
      columns.bigInteger('duration').notNullable();
      columns.string('outcome', longest.outcome).notNullable();
      columns.smallint('sandbox').notNullable();
      // Newest first, alone and with each filter of the page; `id` breaks ties, so that no page repeats or skips a call.
      columns.index(['time', 'id'], 'svc_usage_time');
      for (const filter of ['provider', 'model', 'module', 'kind', 'outcome', 'sandbox'])
        columns.index([filter, 'time', 'id'], `svc_usage_${filter}`);
    });
    // Failed calls are rare: `outcome <> 'ok'` alone would read all.
    await knex.raw("create index svc_usage_failed on ?? (time, id) where outcome <> 'ok'", [usageTable]);
    await knex.schema.createTable(usageDaysTable, (columns) => {
      // YYYY-MM-DD, in the site's time zone at the time of the call.
      columns.string('day', 10).notNullable();
      columns.string('module', longest.module).notNullable();
      // 0: no bot.
      columns.bigInteger('bot_id').notNullable();
      columns.string('kind', longest.kind).notNullable();
      columns.string('provider', longest.provider).notNullable();
      columns.string('model', longest.model).notNullable();
      columns.string('outcome', longest.outcome).notNullable();
      columns.smallint('sandbox').notNullable();
      for (const sum of daySums) columns.bigInteger(sum).notNullable();
      columns.primary(['day', ...dayKeys]);
    });
  },
};

export const usageReferenceMigration: Migration = {
  id: '0180_usage_reference',
  async up(knex) {
    await knex.schema.alterTable(usageTable, (columns) => {
      columns.string('reference', longest.reference);
    });
    // Partial: most calls have no reference.
    await knex.raw('create index svc_usage_reference on ?? (reference) where reference is not null', [usageTable]);
  },
};
