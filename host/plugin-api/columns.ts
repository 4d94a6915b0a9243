import type { Knex } from 'knex';

/** Adds columns of a type. Each call returns the same object, for columns of other types after these. */
export interface ColumnList {
  text(...names: readonly string[]): ColumnList;
  string(maxLength: number, ...names: readonly string[]): ColumnList;
  integer(...names: readonly string[]): ColumnList;
  bigInteger(...names: readonly string[]): ColumnList;
  binary(...names: readonly string[]): ColumnList;
}

/** Adds columns that are never null: `requiredColumns(table).string(200, 'name').bigInteger('created_at', 'updated_at')`. */
export function requiredColumns(table: Knex.CreateTableBuilder): ColumnList {
  return columnList(table, (column) => column.notNullable());
}

/** Adds columns that may be null. */
export function optionalColumns(table: Knex.CreateTableBuilder): ColumnList {
  return columnList(table, (column) => column);
}

function columnList(
  table: Knex.CreateTableBuilder,
  finish: (column: Knex.ColumnBuilder) => Knex.ColumnBuilder,
): ColumnList {
  const add = (names: readonly string[], create: (name: string) => Knex.ColumnBuilder): ColumnList => {
    for (const name of names) finish(create(name));
    return list;
  };
  const list: ColumnList = {
    text: (...names) => add(names, (name) => table.text(name)),
    string: (maxLength, ...names) => add(names, (name) => table.string(name, maxLength)),
    integer: (...names) => add(names, (name) => table.integer(name)),
    bigInteger: (...names) => add(names, (name) => table.bigInteger(name)),
    binary: (...names) => add(names, (name) => table.binary(name)),
  };
  return list;
}

/** The name of the column of a member: `createdAt` is `created_at`. */
type Column<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Column<Rest>}`
  : Name;

/** Values for columns of a table whose rows are objects of this type. */
export type ColumnsOf<Value> = { readonly [Name in keyof Value & string as Column<Name>]?: unknown };

export interface RowMapping<Value> {
  /** Members that are stored as JSON text. */
  readonly json?: readonly (keyof Value & string)[];
  /** Columns that are no members, such as the text of a search. */
  readonly others?: readonly string[];
}

export interface RowMapper<Value> {
  fromRow(row: object): Value;
  /** The columns of some members. Members that are undefined are left out. */
  toRow(values: { readonly [Name in keyof Value]?: Value[Name] | undefined }): ColumnsOf<Value>;
  /** The object of the first row; null without one. */
  first(query: PromiseLike<unknown>): Promise<Value | null>;
  all(query: PromiseLike<unknown>): Promise<Value[]>;
}

/** Converts rows of a table to objects and back. The column of a member has its name in lower case, with underscores. */
export function createRowMapper<Value extends object>({ json = [], others = [] }: RowMapping<Value>): RowMapper<Value> {
  const isJson = (name: string): boolean => json.some((one) => one === name);
  const fromRow = (row: object): Value =>
    Object.fromEntries(
      Object.entries(row).flatMap(([column, value]: [string, unknown]) => {
        if (others.includes(column)) return [];
        const name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
        return [[name, isJson(name) && typeof value === 'string' ? (JSON.parse(value) as unknown) : value]];
      }),
    ) as Value;
  return {
    fromRow,
    toRow: (values) =>
      Object.fromEntries(
        Object.entries(values).flatMap(([name, value]: [string, unknown]) => {
          if (value === undefined) return [];
          const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
          return [[column, isJson(name) && value !== null ? JSON.stringify(value) : value]];
        }),
      ) as ColumnsOf<Value>,
    async first(query) {
      const found = [await query].flat()[0] as object | undefined;
      return found === undefined ? null : fromRow(found);
    },
    all: async (query) => ((await query) as object[]).map(fromRow),
  };
}
