import type { DatabaseApi } from '#plugin-api';
import { createShapeCheck, type SettingErrors } from '../settings-schema/check-shape.ts';
import type { SettingSchema } from '../settings-schema/fields.ts';
import { fillDefaults, isMembers, mergeChanges } from '../settings-schema/fill.ts';
import { invalidFields } from '../field-errors.ts';
import type { AssistantRows, Stored } from './assistant-rows.ts';
import type { KnownNames, NamingSettings } from './known-names.ts';

type Members = Readonly<Record<string, unknown>>;

/** What the settings of all that answers have: chatbots, forms. */
export interface AssistantSettings extends NamingSettings {
  readonly name: string;
  readonly status: 'active' | 'inactive';
}

/** What a new one answers with where it names no provider: the first that is configured. */
export type FirstModel = () => Promise<{ readonly provider: string; readonly model: string }>;

/** Settings that are checked before they are kept, one row each. */
export interface AssistantStore<Settings, One> {
  /** Null: there is none. */
  get(id: number): Promise<One | null>;
  /** By id. */
  list(): Promise<readonly One[]>;
  /** Settings with the defaults in them, checked but not stored. Throws as `create` does. */
  check(settings: unknown): Promise<Settings>;
  /** Fills in the defaults. Throws RestError 400 `rest_invalid_param` that lists every bad member by its path. */
  create(settings: unknown): Promise<One>;
  /** All of them or, where one is refused, none; paths begin with `<plural>[<place>]`. */
  createAll(list: readonly unknown[]): Promise<readonly One[]>;
  /**
   * Nested objects are merged, lists and all else replaced; another provider without a model takes that one's saved model.
   * Throws `notFound`, or 400 as `create` does.
   */
  update(id: number, changes: unknown): Promise<One>;
  /** Another one with the same settings, named "<name> (copy)" and inactive. Throws `notFound`. */
  duplicate(id: number): Promise<One>;
  /** Answers whether there was one. */
  delete(id: number): Promise<boolean>;
}

export interface AssistantStoreInit<Settings, Counter extends string> {
  readonly database: Pick<DatabaseApi, 'transaction'>;
  readonly rows: AssistantRows<Settings, Counter>;
  readonly schema: SettingSchema;
  /** Of several, as the paths of their members begin: `bots`. */
  readonly plural: string;
  /** Without what keeping them added. */
  readonly settingsOf: (one: Stored<Settings, Counter>) => Settings;
  readonly known: () => Promise<KnownNames>;
  /** What is given for a new one, with a model where it names none; before the defaults are filled in. */
  readonly withModel: (given: Members) => Promise<Members>;
  /** What is wrong with settings whose members are right one by one. `before`: what a change began with. */
  readonly findErrors: (settings: Settings, known: KnownNames, before: Settings | null) => SettingErrors;
  readonly notFound: (id: number) => Error;
  /** Removes one with all that belongs to it; answers whether there was one. Default: its row alone. */
  readonly remove?: (id: number) => Promise<boolean>;
  /** Called when one is stored. `before`: null for a new one. */
  readonly saved: (one: Stored<Settings, Counter>, before: Stored<Settings, Counter> | null) => Promise<void>;
  readonly deleted: (one: Stored<Settings, Counter>) => Promise<void>;
}

/**
 * Nothing is remembered but the reading of a row's text, so that every node sees a change with its next call. Two changes of
 * one at the same time are made one after the other, neither is lost.
 */
export function createAssistantStore<Settings extends AssistantSettings, Counter extends string>(
  init: AssistantStoreInit<Settings, Counter>,
): AssistantStore<Settings, Stored<Settings, Counter>> {
  const { database, rows, schema, settingsOf, known, notFound, remove = rows.remove, saved, deleted } = init;
  const { check, checked, checkedAll } = createChecks(init);
  type One = Stored<Settings, Counter>;

  async function find(id: number, lock = false): Promise<One> {
    const one = await rows.find(id, lock);
    if (one === null) throw notFound(id);
    return one;
  }
  async function make(list: readonly Settings[]): Promise<readonly One[]> {
    const made = await database.transaction(async () => {
      const all: One[] = [];
      for (const settings of list) all.push(await rows.insert(settings));
      return all;
    });
    for (const one of made) await saved(one, null);
    return made;
  }
  const makeOne = async (settings: Settings): Promise<One> => (await make([settings]))[0] as One;

  return {
    get: (id) => rows.find(id),
    list: () => rows.list(),
    check,
    create: async (given) => makeOne(await check(given)),
    createAll: async (list) => make(await checkedAll(list)),
    async update(id, changes) {
      if (!isMembers(changes)) throw invalidFields({ '': 'The changes are an object of settings.' });
      const names = await known();
      const { before, one } = await database.transaction(async () => {
        const found = await find(id, true);
        const settings = settingsOf(found);
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
      return makeOne({
        ...settingsOf(one),
        name: `${[...one.name].slice(0, 193).join('')} (copy)`,
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
  /** All of them throw RestError 400 `rest_invalid_param` with a sentence for every bad member, by its path. */
  checked(settings: unknown, names: KnownNames, before: Settings | null): Settings;
  /** With the defaults in them. */
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
  const shapeErrors = createShapeCheck(schema);
  const complete = async (given: unknown): Promise<unknown> =>
    isMembers(given) ? fillDefaults(schema, await withModel(given)) : given;
  const errorsOf = (settings: unknown, names: KnownNames, before: Settings | null): SettingErrors => {
    const shape = shapeErrors(settings);
    return Object.keys(shape).length > 0 ? shape : findErrors(settings as Settings, names, before);
  };
  const checked: Checks<Settings>['checked'] = (settings, names, before) => {
    refuse(errorsOf(settings, names, before));
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
          ...settings.map((one, at) => below(`${plural}[${String(at)}]`, errorsOf(one, names, null))),
        ) as SettingErrors,
      );
      return settings as Settings[];
    },
  };
}

function refuse(errors: SettingErrors): void {
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
}

/** The errors of one of several. A sentence begins with the path it is about. */
function below(place: string, errors: SettingErrors): SettingErrors {
  return Object.fromEntries(
    Object.entries(errors).map(([path, sentence]) =>
      path === '' ? [place, `${place}: ${sentence}`] : [`${place}.${path}`, `${place}.${sentence}`],
    ),
  );
}

/** Another provider without a model of its own: the model there was is not that provider's, so it takes the saved one. */
function withoutOldModel(changes: Members, { provider }: AssistantSettings): Members {
  const moves = Object.hasOwn(changes, 'provider') && changes['provider'] !== provider;
  return moves && !Object.hasOwn(changes, 'model') ? { ...changes, model: '' } : changes;
}
