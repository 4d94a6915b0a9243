import type { Knex, MetaFilter } from '#plugin-api';

interface MetaQueryInit {
  readonly knex: Knex;
  readonly dialect: 'sqlite' | 'postgresql';
}

/** A stored value with its type: numbers sort as numbers. */
const valueOf = { sqlite: `json_extract(post_meta.value, '$')`, postgresql: 'post_meta.value::jsonb' } as const;

/** The types that a number or a text is compared with. */
const typeOf = {
  sqlite: { sql: `json_type(post_meta.value)`, number: ['integer', 'real'], string: ['text'] },
  postgresql: { sql: `jsonb_typeof(post_meta.value::jsonb)`, number: ['number'], string: ['string'] },
} as const;

const operators: Readonly<Record<NonNullable<MetaFilter['compare']>['operator'], string>> = {
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

export function whereMeta(
  select: Knex.QueryBuilder,
  { knex, dialect }: MetaQueryInit,
  { key, values, compare, has = true }: MetaFilter,
): void {
  const found = knex('post_meta').select('post_meta.id').whereRaw('post_meta.post_id = posts.id').where({ key });
  if (values)
    void found.whereIn(
      'value',
      values.map((value) => JSON.stringify(value)),
    );
  if (compare) {
    const { sql, number, string } = typeOf[dialect];
    const types = typeof compare.value === 'number' ? number : string;
    const operator = Object.hasOwn(operators, compare.operator) ? operators[compare.operator] : undefined;
    if (operator === undefined)
      throw new TypeError(`'${compare.operator}' compares no meta values. Use <, <=, > or >=.`);
    // The type is looked at first: of values of another type none is compared.
    void found.whereRaw(
      `case when ${sql} in (${types.map(() => '?').join(', ')}) then ${valueOf[dialect]} ${operator} ` +
        `${dialect === 'sqlite' ? '?' : '?::jsonb'} else false end`,
      [...types, dialect === 'sqlite' ? compare.value : JSON.stringify(compare.value)],
    );
  }
  void (has ? select.whereExists(found) : select.whereNotExists(found));
}

/** By the first value of the key. Posts without it come last, in both directions. */
export function orderByMeta(
  select: Knex.QueryBuilder,
  { dialect }: MetaQueryInit,
  { key, direction }: { readonly key: string; readonly direction: 'asc' | 'desc' },
): void {
  void select.orderByRaw(
    `(select ${valueOf[dialect]} from post_meta where post_meta.post_id = posts.id and post_meta.key = ? order by post_meta.id limit 1) ` +
      `${direction === 'asc' ? 'asc' : 'desc'} nulls last`,
    [key],
  );
}
