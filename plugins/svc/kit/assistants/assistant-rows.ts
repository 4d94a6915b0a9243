import type { Clock, DatabaseApi } from '#plugin-api';
import type { SettingSchema } from '../settings-schema/fields.ts';
import { fillDefaults } from '../settings-schema/fill.ts';

/** Settings as they are kept: with an id of 1 or more, never used twice, counters, and times in milliseconds since the epoch. */
export type Stored<Settings, Counter extends string = never> = Settings & {
  readonly [Name in Counter | 'id' | 'created_at' | 'updated_at']: number;
};

/** The rows of a table, as what they keep. Each takes part in the transaction it is called in. */
export interface AssistantRows<Settings, Counter extends string = never> {
  /** `lock`: nobody else changes it before the running transaction ends. */
  find(id: number, lock?: boolean): Promise<Stored<Settings, Counter> | null>;
  /** By id. */
  list(): Promise<readonly Stored<Settings, Counter>[]>;
  insert(settings: Settings): Promise<Stored<Settings, Counter>>;
  replace(before: Stored<Settings, Counter>, settings: Settings): Promise<Stored<Settings, Counter>>;
  remove(id: number): Promise<boolean>;
  /** Adds 1; answers how many there are with it, 0 where there is no such row. */
  count(id: number, counter: Counter): Promise<number>;
}

export interface AssistantRowsInit<Counter extends string> {
  readonly host: { readonly database: Pick<DatabaseApi, 'knex' | 'dialect'>; readonly clock: Clock };
  /** With the columns `id`, `settings` (JSON), `created_at`, `updated_at`, and those of `counters`. */
  readonly table: string;
  readonly schema: SettingSchema;
  /** Columns that begin at 0. */
  readonly counters?: readonly Counter[];
}

type Numbers = Readonly<Record<string, number | string>>;
type Row = Numbers & { readonly id: number; readonly settings: string };

/** PostgreSQL's ids have 32 bits; a larger one is nobody's on either dialect. */
const largestId = 2_147_483_647;

export function createAssistantRows<Settings extends object, Counter extends string = never>({
  host: { database, clock },
  table: name,
  schema,
  counters = [],
}: AssistantRowsInit<Counter>): AssistantRows<Settings, Counter> {
  const table = () => database.knex(name);
  const read = createReader<Settings, Counter>(schema, ['created_at', 'updated_at', ...counters]);
  return {
    async find(id, lock = false) {
      if (!Number.isInteger(id) || id < 1 || id > largestId) return null;
      const query = table().where({ id }).first();
      const row = (await (lock && database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
      return row === undefined ? null : read(row);
    },
    list: async () => ((await table().orderBy('id')) as Row[]).map(read),
    async insert(settings) {
      const now = clock.now();
      const facts = {
        ...Object.fromEntries(counters.map((counter) => [counter, 0])),
        created_at: now,
        updated_at: now,
      };
      const [row] = (await table()
        .insert({ settings: JSON.stringify(settings), ...facts })
        .returning('id')) as Row[];
      return { ...settings, id: Number(row?.id), ...facts } as Stored<Settings, Counter>;
    },
    async replace(before, settings) {
      const now = clock.now();
      await table()
        .where({ id: before.id })
        .update({ settings: JSON.stringify(settings), updated_at: now });
      return { ...before, ...settings, updated_at: now };
    },
    remove: async (id) => (await table().where({ id }).delete()) > 0,
    async count(id, counter) {
      const [row] = (await table()
        .where({ id })
        .update({ [counter]: database.knex.raw('?? + 1', [counter]) })
        .returning(counter)) as Numbers[];
      return Number(row?.[counter] ?? 0);
    },
  };
}

/** Rows are read once for each text they hold; what an older version stored gets the defaults of what it did not know. */
function createReader<Settings extends object, Counter extends string>(
  schema: SettingSchema,
  facts: readonly string[],
): (row: Row) => Stored<Settings, Counter> {
  const kept = new Map<number, { readonly text: string; readonly settings: Settings }>();
  return (row) => {
    const { id, settings: text } = row;
    const known = kept.get(id);
    const settings =
      known?.text === text ? known.settings : (fillDefaults(schema, JSON.parse(text), 'drop') as Settings);
    if (kept.size >= 1_000) kept.clear();
    kept.set(id, { text, settings });
    return {
      ...settings,
      id: Number(id),
      ...Object.fromEntries(facts.map((name) => [name, Number(row[name])])),
    } as Stored<Settings, Counter>;
  };
}
