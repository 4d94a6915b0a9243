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
