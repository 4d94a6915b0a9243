import { asRecord, fillDefaults, storedJson, type Clock, type DatabaseApi, type JsonSchema } from '#plugin-api';

/** Stored settings: with an id of 1 or more that is never reused, counters, and times in milliseconds since the epoch. */
export type Stored<Settings, Counter extends string = never> = Settings & {
  readonly [Name in Counter | 'id' | 'created_at' | 'updated_at']: number;
};

const summaryMembers = ['name', 'status', 'provider', 'model'] as const;

/** What lists and choices show of stored settings. */
export type Summary<Counter extends string = never> = Stored<
  { readonly [Name in Exclude<(typeof summaryMembers)[number], 'status'>]: string } & {
    readonly status: 'active' | 'inactive';
  },
  Counter
>;

/** The settings alone. */
export function settingsOf<Settings>(stored: Settings & { readonly id: number }): Settings {
  const {
    id: _id,
    created_at: _created,
    updated_at: _updated,
    submissions: _submissions,
    ...settings
  } = stored as Settings & Partial<Stored<unknown, 'submissions'>>;
  return settings as Settings;
}

/** What commands print: the id first, times as ISO 8601. */
export function storedRecord(stored: Stored<object>): Record<string, unknown> {
  const { id, created_at, updated_at, ...others } = stored;
  const time = (milliseconds: number): string => new Date(milliseconds).toISOString();
  return { id, ...others, created_at: time(created_at), updated_at: time(updated_at) };
}

/** Reads and writes the rows of a table. Every method joins the running transaction. */
export interface AssistantRows<Settings, Counter extends string = never> {
  /** `lock`: locks the row until the running transaction ends. */
  find(id: number, lock?: boolean): Promise<Stored<Settings, Counter> | null>;
  /** Sorted by id. @param ids Default: all */
  list(ids?: readonly number[]): Promise<readonly Stored<Settings, Counter>[]>;
  /** Sorted by id. The database reads the members, so that 10,000 take a few milliseconds of this process. @param ids Default: all */
  summaries(ids?: readonly number[]): Promise<readonly Summary<Counter>[]>;
  isEmpty(): Promise<boolean>;
  insert(settings: Settings): Promise<Stored<Settings, Counter>>;
  replace(before: Stored<Settings, Counter>, settings: Settings): Promise<Stored<Settings, Counter>>;
  remove(id: number): Promise<boolean>;
  /** Adds 1 and returns the new count; 0 if the row does not exist. */
  count(id: number, counter: Counter): Promise<number>;
}

export interface AssistantRowsInit<Counter extends string> {
  readonly host: { readonly database: Pick<DatabaseApi, 'knex' | 'dialect'>; readonly clock: Clock };
  /** With the columns `id`, `settings` (JSON), `created_at`, `updated_at`, and those of `counters`. */
  readonly table: string;
  readonly schema: JsonSchema;
  /** Columns that start at 0. */
  readonly counters?: readonly Counter[];
}

type Members = Readonly<Record<string, unknown>>;
type Numbers = Readonly<Record<string, number | string>>;
type Row = Numbers & { readonly id: number; readonly settings: string };

/** Ids of PostgreSQL have 32 bits. A larger id cannot exist on either dialect. */
const largestId = 2_147_483_647;
const isPossible = (id: number): boolean => Number.isInteger(id) && id >= 1 && id <= largestId;

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
      if (!isPossible(id)) return null;
      const query = table().where({ id }).first();
      const row = (await (lock && database.dialect === 'postgresql' ? query.forUpdate() : query)) as Row | undefined;
      return row === undefined ? null : read(row);
    },
    async list(ids) {
      const rows = table().orderBy('id');
      return ((await (ids === undefined ? rows : rows.whereIn('id', ids.filter(isPossible)))) as Row[]).map(read);
    },
    async summaries(ids) {
      const columns = ['id', 'created_at', 'updated_at', ...counters];
      const defaults = fillDefaults(schema, {}) as Members;
      const all = selectMembers(database, name, columns).orderBy('id');
      const rows: readonly Members[] = await (ids === undefined ? all : all.whereIn('id', ids.filter(isPossible)));
      return rows.map((row) => {
        const members = typeof row['whole'] === 'string' ? asRecord(storedJson(row['whole'])) : row;
        return Object.fromEntries([
          ...columns.map((column) => [column, Number(row[column])]),
          ...summaryMembers.map((member) => [member, String(members[member] ?? defaults[member] ?? '')]),
        ]) as Summary<Counter>;
      });
    },
    isEmpty: async () => (await table().first('id')) === undefined,
    async insert(settings) {
      const now = clock.now();
      const columns = {
        ...Object.fromEntries(counters.map((counter) => [counter, 0])),
        created_at: now,
        updated_at: now,
      };
      const [row] = (await table()
        .insert({ settings: JSON.stringify(settings), ...columns })
        .returning('id')) as Row[];
      return { ...settings, id: Number(row?.id), ...columns } as Stored<Settings, Counter>;
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

/** `whole`: the settings that have escapes, since neither database reads those of NUL and of half a pair: see `storedJson`. */
function selectMembers(
  { knex, dialect }: Pick<DatabaseApi, 'knex' | 'dialect'>,
  table: string,
  columns: readonly string[],
) {
  const hasEscapes = `${dialect === 'sqlite' ? 'instr' : 'strpos'}(settings, '\\u') > 0`;
  const whole = knex.raw(`CASE WHEN ${hasEscapes} THEN settings END AS whole`);
  if (dialect === 'sqlite')
    return knex(table).select(
      ...columns,
      whole,
      ...summaryMembers.map((member) => knex.raw('json_extract(settings, ?) AS ??', [`$.${member}`, member])),
    );
  const types = summaryMembers.map((member) => `${member} text`).join(', ');
  const json = `(CASE WHEN ${hasEscapes} THEN '{}' ELSE settings END)::json`;
  return knex
    .from(knex.raw(`??, json_to_record(${json}) AS members(${types})`, [table]))
    .select(...columns, whole, ...summaryMembers.map((member) => `members.${member}`));
}

/**
 * Parses each stored text once. Settings of an older version get the defaults of new members. What requests share is frozen, so
 * that a callback that changes a chatbot in place fails, and does not change it for every other visitor.
 */
function createReader<Settings extends object, Counter extends string>(
  schema: JsonSchema,
  columns: readonly string[],
): (row: Row) => Stored<Settings, Counter> {
  const cache = new Map<number, { readonly text: string; readonly settings: Settings }>();
  return (row) => {
    const { id, settings: text } = row;
    const cached = cache.get(id);
    const settings =
      cached?.text === text ? cached.settings : freeze(fillDefaults(schema, storedJson(text), 'drop') as Settings);
    if (cache.size >= 1_000) cache.clear();
    cache.set(id, { text, settings });
    return {
      ...settings,
      id: Number(id),
      ...Object.fromEntries(columns.map((name) => [name, Number(row[name])])),
    } as Stored<Settings, Counter>;
  };
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(freeze);
  return Object.freeze(value);
}
