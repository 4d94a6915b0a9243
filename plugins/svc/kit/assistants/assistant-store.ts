import { checkValue, fillDefaults, invalidFields, isRecord, mergeChanges, translateText } from '#plugin-api';
import type { DatabaseApi, FieldErrors, JsonSchema } from '#plugin-api';
import { settingsOf, type AssistantRows, type Stored, type Summary } from './assistant-rows.ts';
import type { KnownNames, NamingSettings } from './known-names.ts';

type Members = Readonly<Record<string, unknown>>;

/** The common settings of assistants: chatbots and forms. */
export interface AssistantSettings extends NamingSettings {
  readonly name: string;
  readonly status: 'active' | 'inactive';
}

/** The provider and model of a new assistant that names none: the first configured provider. */
export type FirstModel = () => Promise<{ readonly provider: string; readonly model: string }>;

/** Stores the settings of assistants, one row each, after checking them. */
export interface AssistantStore<Settings, One, Counter extends string = never> {
  /** Null if it does not exist. */
  get(id: number): Promise<One | null>;
  /** Sorted by id. All of them take long to read where there are thousands: see `summaries`. @param ids Default: all */
  list(ids?: readonly number[]): Promise<readonly One[]>;
  /** What lists and choices show, sorted by id. @param ids Default: all */
  summaries(ids?: readonly number[]): Promise<readonly Summary<Counter>[]>;
  isEmpty(): Promise<boolean>;
  /** Fills in the defaults and checks the settings without storing them. Throws like `create`. */
  check(settings: unknown): Promise<Settings>;
  /** Fills in the defaults. @throws RestError 400 `rest_invalid_param` with every invalid member by its path */
  create(settings: unknown): Promise<One>;
  /** Creates all of them, or none if one is invalid. Paths of errors begin with `<plural>[<index>]`. */
  createAll(list: readonly unknown[]): Promise<readonly One[]>;
  /**
   * Merges nested objects and replaces lists and other values. With a new provider and no model, the provider's saved model is
   * used. Throws `notFound`, or 400 like `create`.
   */
  update(id: number, changes: unknown): Promise<One>;
  /** Creates an inactive copy named "<name> (copy)". Throws `notFound`. */
  duplicate(id: number): Promise<One>;
  /** Returns whether it existed. */
  delete(id: number): Promise<boolean>;
}

export interface AssistantStoreInit<Settings, Counter extends string> {
  readonly database: Pick<DatabaseApi, 'transaction'>;
  readonly rows: AssistantRows<Settings, Counter>;
  readonly schema: JsonSchema;
  /** The start of error paths for several assistants: `bots`. */
  readonly plural: string;
  readonly known: () => Promise<KnownNames>;
  /** Adds a model to new settings that have none, before the defaults are filled in. */
  readonly withModel: (given: Members) => Promise<Members>;
  /** Errors of settings whose members are valid one by one. `before`: the settings before a change. */
  readonly findErrors: (settings: Settings, known: KnownNames, before: Settings | null) => FieldErrors;
  readonly notFound: (id: number) => Error;
  /** Deletes it with its data and returns whether it existed. Default: deletes its row only. */
  readonly remove?: (id: number) => Promise<boolean>;
  /** Called after it is stored. `before`: null for a new one. */
  readonly saved: (one: Stored<Settings, Counter>, before: Stored<Settings, Counter> | null) => Promise<void>;
  readonly deleted: (one: Stored<Settings, Counter>) => Promise<void>;
}

/**
 * Only parsed rows are cached, by their text, so that every node sees a change with its next call. Concurrent changes of one
 * assistant run one after the other, so that none is lost.
 */
export function createAssistantStore<Settings extends AssistantSettings, Counter extends string>(
  init: AssistantStoreInit<Settings, Counter>,
): AssistantStore<Settings, Stored<Settings, Counter>, Counter> {
  const { database, rows, schema, known, notFound, remove = rows.remove, saved, deleted } = init;
  const { check, checked, checkedAll } = createChecks(init);
  type One = Stored<Settings, Counter>;

  async function find(id: number, lock = false): Promise<One> {
    const one = await rows.find(id, lock);
    if (one === null) throw notFound(id);
    return one;
  }
  async function insertAll(list: readonly Settings[]): Promise<readonly One[]> {
    const inserted = await database.transaction(async () => {
      const all: One[] = [];
      for (const settings of list) all.push(await rows.insert(settings));
      return all;
    });
    for (const one of inserted) await saved(one, null);
    return inserted;
  }
  const insertOne = async (settings: Settings): Promise<One> => (await insertAll([settings]))[0] as One;

  return {
    get: (id) => rows.find(id),
    list: (ids) => rows.list(ids),
    summaries: (ids) => rows.summaries(ids),
    isEmpty: () => rows.isEmpty(),
    check,
    create: async (given) => insertOne(await check(given)),
    createAll: async (list) => insertAll(await checkedAll(list)),
    async update(id, changes) {
      if (!isRecord(changes)) throw invalidFields({ '': 'The changes must be an object of settings.' });
      const names = await known();
      const { before, one } = await database.transaction(async () => {
        const found = await find(id, true);
        const settings = settingsOf<Settings>(found);
        const changed = mergeChanges(schema, settings, withoutOldModel(changes, settings));
        return {
          before: found,
          one: await rows.replace(found, checked(fillDefaults(schema, changed), names, settings)),
        };
      });
      await saved(one, before);
      return one;
    },
    async duplicate(id) {
      const one = await find(id);
      return insertOne({
        ...settingsOf<Settings>(one),
        name: `${[...one.name].slice(0, 193).join('')} ${translateText('(copy)')}`,
        status: 'inactive',
      });
    },
    async delete(id) {
      const one = await rows.find(id);
      if (one === null || !(await remove(id))) return false;
      await deleted(one);
      return true;
    },
  };
}

interface Checks<Settings> {
  /** All methods throw RestError 400 `rest_invalid_param` with a sentence for every invalid member, by its path. */
  checked(settings: unknown, names: KnownNames, before: Settings | null): Settings;
  /** Fills in the defaults. */
  check(given: unknown): Promise<Settings>;
  checkedAll(list: readonly unknown[]): Promise<readonly Settings[]>;
}

function createChecks<Settings, Counter extends string>({
  schema,
  plural,
  known,
  withModel,
  findErrors,
}: AssistantStoreInit<Settings, Counter>): Checks<Settings> {
  const complete = async (given: unknown): Promise<unknown> =>
    isRecord(given) ? fillDefaults(schema, await withModel(given)) : given;
  const checkSettings = (settings: unknown, names: KnownNames, before: Settings | null): FieldErrors => {
    const shape = checkValue(schema, settings).errors;
    return Object.keys(shape).length > 0 ? shape : findErrors(settings as Settings, names, before);
  };
  const checked: Checks<Settings>['checked'] = (settings, names, before) => {
    refuse(checkSettings(settings, names, before));
    return settings as Settings;
  };
  return {
    checked,
    check: async (given) => checked(await complete(given), await known(), null),
    async checkedAll(list) {
      const names = await known();
      const settings = await Promise.all(list.map(complete));
      refuse(
        Object.assign(
          {},
          ...settings.map((one, at) => addPrefix(`${plural}[${String(at)}]`, checkSettings(one, names, null))),
        ) as FieldErrors,
      );
      return settings as Settings[];
    },
  };
}

function refuse(errors: FieldErrors): void {
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

/** Adds the path of one of several assistants to its errors. A sentence begins with its path. */
function addPrefix(prefix: string, errors: FieldErrors): FieldErrors {
  return Object.fromEntries(
    Object.entries(errors).map(([path, sentence]) =>
      path === '' ? [prefix, `${prefix}: ${sentence}`] : [`${prefix}.${path}`, `${prefix}.${sentence}`],
    ),
  );
}

/** With a new provider and no model, clears the old model, which belongs to the old provider. */
function withoutOldModel(changes: Members, { provider }: AssistantSettings): Members {
  const isNewProvider = Object.hasOwn(changes, 'provider') && changes['provider'] !== provider;
  return isNewProvider && !Object.hasOwn(changes, 'model') ? { ...changes, model: '' } : changes;
}
