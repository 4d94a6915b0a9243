import { optionalColumns, requiredColumns, type Knex, type Migration } from '#plugin-api';
import { tokenKinds, type TokenKind } from '../../../kit/token-details.ts';

/** One row per call. */
export const usageTable = 'svc_usage';
/** Sums per day of the site, by everything that calls are grouped by: pages and limits read them, however many calls there are. */
export const usageDaysTable = 'svc_usage_days';
/** Sums per day by role: a call counts for each role of its user. */
export const usageRoleDaysTable = 'svc_usage_role_days';

/** What the sums of a day are grouped by, besides the day. */
const firstDayKeys = ['module', 'bot_id', 'kind', 'provider', 'model', 'outcome', 'sandbox'] as const;
const firstDaySums = ['calls', 'input_tokens', 'output_tokens', 'images', 'cost', 'unpriced', 'duration'] as const;

/** The column of a kind of tokens, part of `input_tokens` or `output_tokens`. */
export function kindColumn<Kind extends TokenKind>(kind: Kind): `${Kind}_tokens` {
  return `${kind}_tokens`;
}

export type KindColumns = Readonly<Record<`${TokenKind}_tokens`, number>>;
const kindColumns = tokenKinds.map(kindColumn);

export const dayKeys = [...firstDayKeys, 'key_id', 'user_id', 'plugin'] as const;
export const roleDayKeys = ['role', 'outcome'] as const;
const firstRoleDaySums = ['calls', 'input_tokens', 'output_tokens', 'cost'] as const;
/** `billed`: calls that budgets of calls count. */
export const roleDaySums = [...firstRoleDaySums, 'billed'] as const;
export const daySums: readonly ((typeof firstDaySums)[number] | 'billed' | keyof KindColumns)[] = [
  ...firstDaySums,
  ...kindColumns,
  'billed',
];

/**
 * A stored call. `cost` in millionths of a US dollar with up to six decimals, null without a price; `time`, its end, and
 * `duration` in milliseconds.
 */
export interface UsageRow extends KindColumns {
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
  /** The named key that the request was made with; null for the REST key and the site itself. */
  readonly key_id: number | null;
  /** The signed-in user that the call was made for. */
  readonly user_id: number | null;
  /** The plugin that requested the call; null for the service. */
  readonly plugin: string | null;
  /** Roles that the user had at the time of the call, with commas; null for none. */
  readonly roles: string | null;
}

/** All but `id`. */
export const usageColumns = [
  ...['time', 'module', 'route', 'bot_id', 'kind', 'provider', 'model', 'input_tokens', 'output_tokens'],
  ...kindColumns,
  ...['images', 'cost', 'duration', 'outcome', 'sandbox', 'reference', 'key_id', 'user_id', 'plugin', 'roles'],
] as const;

/** Lengths of the text columns; longer values are truncated. */
export const longest = {
  module: 60,
  route: 200,
  kind: 20,
  provider: 60,
  model: 200,
  outcome: 100,
  reference: 100,
  plugin: 60,
  role: 60,
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
      for (const sum of firstDaySums) columns.bigInteger(sum).notNullable();
      columns.primary(['day', ...firstDayKeys]);
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

/** Who calls, and kinds of tokens (D31, D32). Calls of earlier versions have neither. */
export const usageCallersMigration: Migration = {
  id: '0222_usage_callers',
  async up(knex) {
    await knex.schema.alterTable(usageTable, (columns) => {
      optionalColumns(columns).bigInteger('key_id', 'user_id').string(longest.plugin, 'plugin');
      for (const column of kindColumns) columns.bigInteger(column).notNullable().defaultTo(0);
    });
    for (const column of ['key_id', 'user_id', 'plugin'])
      await knex.raw('create index ?? on ?? (??, time, id) where ?? is not null', [
        `svc_usage_${column}`,
        usageTable,
        column,
        column,
      ]);
    await widenDays(knex);
  },
};

/** Roles of users, for their budgets (D31). Calls of earlier versions have none. */
export const usageRolesMigration: Migration = {
  id: '0230_usage_roles',
  async up(knex) {
    await knex.schema.alterTable(usageTable, (columns) => {
      columns.text('roles');
    });
    await knex.schema.createTable(usageRoleDaysTable, (columns) => {
      requiredColumns(columns).string(10, 'day').string(longest.role, 'role').string(longest.outcome, 'outcome');
      requiredColumns(columns).bigInteger(...firstRoleDaySums);
      columns.primary(['day', ...roleDayKeys]);
    });
  },
};

/** Failed calls that were billed count for budgets of calls, and costs have six decimals (D51). */
export const usageBilledMigration: Migration = {
  id: '0241_usage_billed',
  async up(knex, { dialect }) {
    for (const days of [usageDaysTable, usageRoleDaysTable]) {
      await knex.schema.alterTable(days, (columns) => {
        columns.bigInteger('billed').notNullable().defaultTo(0);
      });
      await knex(days)
        .whereIn('outcome', ['ok', 'rest_svc_request_aborted'])
        .update({ billed: knex.ref('calls') });
    }
    // SQLite stores decimals in any column of numbers.
    if (dialect === 'postgresql')
      for (const table of [usageTable, usageDaysTable, usageRoleDaysTable])
        await knex.raw('alter table ?? alter column cost type numeric(24, 6)', [table]);
  },
};

/** SQLite cannot change a primary key, so the days move to another table. */
async function widenDays(knex: Knex): Promise<void> {
  const wider = `${usageDaysTable}_wider`;
  await knex.schema.createTable(wider, (columns) => {
    const { day, module, kind, provider, model, outcome } = { day: 10, ...longest };
    requiredColumns(columns)
      .string(day, 'day')
      .string(module, 'module')
      .bigInteger('bot_id')
      .string(kind, 'kind')
      .string(provider, 'provider')
      .string(model, 'model')
      .string(outcome, 'outcome');
    columns.smallint('sandbox').notNullable();
    // 0 and '': none, as for bot_id.
    for (const column of ['key_id', 'user_id']) columns.bigInteger(column).notNullable().defaultTo(0);
    columns.string('plugin', longest.plugin).notNullable().defaultTo('');
    requiredColumns(columns).bigInteger(...firstDaySums);
    for (const column of kindColumns) columns.bigInteger(column).notNullable().defaultTo(0);
    columns.primary(['day', ...dayKeys], 'svc_usage_days_callers');
  });
  const copied = ['day', ...firstDayKeys, ...firstDaySums];
  const names = copied.map(() => '??').join(', ');
  await knex.raw(`insert into ?? (${names}) select ${names} from ??`, [wider, ...copied, ...copied, usageDaysTable]);
  await knex.schema.dropTable(usageDaysTable);
  await knex.schema.renameTable(wider, usageDaysTable);
}
