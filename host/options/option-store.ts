import type { Knex } from '#plugin-api';
import type { Database } from '../database/database.ts';

export interface StoredOption {
  readonly text: string;
  readonly autoload: boolean;
}

interface Row {
  readonly name: string;
  readonly value: string;
  /** SQLite returns 0 or 1. */
  readonly autoload: boolean | number;
}

export interface NewOption {
  readonly name: string;
  readonly text: string;
  /** undefined: true for a new one, unchanged for one that exists. */
  readonly autoload: boolean | undefined;
}

/** The SQL of the table `options`; every call takes part in the running transaction. */
export interface OptionStore {
  readAutoloaded(): Promise<Map<string, StoredOption>>;
  read(names: readonly string[]): Promise<Map<string, StoredOption>>;
  readPrefix(prefix: string): Promise<Map<string, StoredOption>>;
  /** Up to so many names, in no order. */
  readNames(limit: number): Promise<string[]>;
  /** Returns whether the name was free. */
  insert(option: NewOption): Promise<boolean>;
  put(option: NewOption): Promise<void>;
  /** Replaces the text only if it still is `from`. Returns whether it was. */
  swap(name: string, from: string, to: string): Promise<boolean>;
  /** @param text remove only if this is the stored text. */
  remove(name: string, text?: string): Promise<boolean>;
}

export function createOptionStore(database: Pick<Database, 'knex'>): OptionStore {
  const table = (): Knex.QueryBuilder<Row, Row[]> => database.knex<Row, Row[]>('options');
  const row = ({ name, text, autoload = true }: NewOption): Row => ({ name, value: text, autoload });
  return {
    readAutoloaded: async () => collect(await table().where('autoload', true).select('*')),
    read: async (names) =>
      collect(
        await table()
          .whereIn('name', [...names])
          .select('*'),
      ),
    readPrefix: async (prefix) =>
      collect(
        await table()
          .whereRaw('substr(name, 1, ?) = ?', [[...prefix].length, prefix])
          .orderBy('name')
          .select('*'),
      ),
    readNames: (limit) => table().limit(limit).pluck('name'),
    async insert(option) {
      const inserted: unknown[] = await table().insert(row(option)).onConflict('name').ignore().returning('name');
      return inserted.length === 1;
    },
    async put(option) {
      await table()
        .insert(row(option))
        .onConflict('name')
        .merge(option.autoload === undefined ? ['value'] : ['value', 'autoload']);
    },
    swap: async (name, from, to) => Number(await table().where({ name, value: from }).update({ value: to })) === 1,
    remove: async (name, text) =>
      Number(
        await table()
          .where(text === undefined ? { name } : { name, value: text })
          .delete(),
      ) === 1,
  };
}

function collect(rows: readonly Row[]): Map<string, StoredOption> {
  return new Map(rows.map(({ name, value, autoload }) => [name, { text: value, autoload: Boolean(autoload) }]));
}
