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

const operators: Readonly<Record<string, string>> = {
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};

/** The types of values to look at first: of values of another type none is compared. */
function whereTyped(
  found: Knex.QueryBuilder,
  { dialect }: MetaQueryInit,
  compare: NonNullable<MetaFilter['compare']>,
): void {
  const { sql, number, string } = typeOf[dialect];
  const types = typeof compare.value === 'number' ? number : string;
  const when = (condition: string, value: string | number): void =>
    void found.whereRaw(`case when ${sql} in (${types.map(() => '?').join(', ')}) then ${condition} else false end`, [
      ...types,
      value,
    ]);
  if (compare.operator === 'LIKE') {
    const matches = dialect === 'sqlite' ? `glob(?, ${valueOf.sqlite})` : `post_meta.value::jsonb #>> '{}' ~ ?`;
    when(matches, containing(String(compare.value))[dialect]);
    return;
  }
  const operator = Object.hasOwn(operators, compare.operator) ? operators[compare.operator] : undefined;
  if (operator === undefined)
    throw new TypeError(`'${String(compare.operator)}' compares no meta values. Use <, <=, >, >= or LIKE.`);
  if (dialect === 'sqlite') when(`${valueOf.sqlite} ${operator} ?`, compare.value);
  else when(`${valueOf.postgresql} ${operator} ?::jsonb`, JSON.stringify(compare.value));
}

/**
 * Patterns for texts that contain a text, as a set for each letter with both of its cases: what `like` and `lower` know of the case of
 * letters differs with the database and its locale.
 */
function containing(text: string): Readonly<Record<MetaQueryInit['dialect'], string>> {
  const letters = Array.from(text, (one) => {
    const cases = [...new Set([one, one.toLowerCase(), one.toUpperCase()])].filter(
      (each) => Array.from(each).length === 1,
    );
    return { one, set: cases.length > 1 ? `[${cases.join('')}]` : null };
  });
  return {
    sqlite: `*${letters.map(({ one, set }) => set ?? (/[*?[]/.test(one) ? `[${one}]` : one)).join('')}*`,
    postgresql: letters.map(({ one, set }) => set ?? one.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')).join(''),
  };
}

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
  if (compare) whereTyped(found, { knex, dialect }, compare);
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
