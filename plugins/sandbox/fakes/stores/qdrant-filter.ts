import { asRecord, isRecord } from '#plugin-api';
import type { StoredRecord } from '../../storage/vector-storage.ts';
import { storedId } from './qdrant-ids.ts';
import { formatError } from './qdrant-reply.ts';

type Test = (record: StoredRecord) => boolean;

const unknownCondition = (): Error => formatError('data did not match any variant of untagged enum Condition');

/**
 * Reads a filter: `must`, `should`, `must_not`, `min_should` of conditions, which may be filters themselves.
 *
 * @throws Refusal in Qdrant's shape.
 */
export function readFilter(filter: unknown): Test {
  if (filter === undefined || filter === null) return () => true;
  if (!isRecord(filter)) throw unknownCondition();
  const stranger = Object.keys(filter).find((name) => !['must', 'should', 'must_not', 'min_should'].includes(name));
  if (stranger !== undefined)
    throw formatError(
      `unknown field \`${stranger}\`, expected one of \`should\`, \`min_should\`, \`must\`, \`must_not\``,
    );
  const must = readConditions(filter['must']);
  const should = readConditions(filter['should']);
  const mustNot = readConditions(filter['must_not']);
  const minShould = asRecord(filter['min_should']);
  const several = readConditions(minShould['conditions']);
  const least = typeof minShould['min_count'] === 'number' ? minShould['min_count'] : 0;
  return (record) =>
    must.every((test) => test(record)) &&
    (should.length === 0 || should.some((test) => test(record))) &&
    !mustNot.some((test) => test(record)) &&
    several.filter((test) => test(record)).length >= least;
}

function readConditions(conditions: unknown): Test[] {
  if (conditions === undefined || conditions === null) return [];
  return (Array.isArray(conditions) ? conditions : [conditions]).map((condition: unknown) => readCondition(condition));
}

function readCondition(condition: unknown): Test {
  if (!isRecord(condition)) throw unknownCondition();
  if (Array.isArray(condition['has_id'])) {
    const ids = new Set(condition['has_id'].map((id: unknown) => storedId(id)));
    return ({ id }) => ids.has(id);
  }
  if (isRecord(condition['is_empty'])) return emptiness(String(condition['is_empty']['key']));
  if (isRecord(condition['is_null'])) return nullness(String(condition['is_null']['key']));
  if (typeof condition['key'] === 'string') return readField(condition['key'], condition);
  return readFilter(condition);
}

function readField(key: string, condition: Readonly<Record<string, unknown>>): Test {
  const { match, range, is_empty: isEmpty, is_null: isNull, values_count: valuesCount } = condition;
  if (typeof isEmpty === 'boolean') return (record) => emptiness(key)(record) === isEmpty;
  if (typeof isNull === 'boolean') return (record) => nullness(key)(record) === isNull;
  if (isRecord(match)) {
    const matches = readMatch(match);
    return (record) => valuesAt(record, key).some(matches);
  }
  if (isRecord(range)) {
    const within = readRange(range);
    return (record) => valuesAt(record, key).some(within);
  }
  if (isRecord(valuesCount)) {
    const within = readRange(valuesCount);
    return (record) => within(valuesAt(record, key).length);
  }
  throw unknownCondition();
}

function readMatch(match: Readonly<Record<string, unknown>>): (value: unknown) => boolean {
  const { value: wanted, any, except, text, text_any: textAny, phrase } = match;
  if (['string', 'number', 'boolean'].includes(typeof wanted)) return (value) => value === wanted;
  if (Array.isArray(any)) return (value) => any.includes(value);
  if (Array.isArray(except)) return (value) => !except.includes(value);
  if (typeof text === 'string') return containing(text, (all, words) => words.every((word) => all.has(word)));
  if (typeof textAny === 'string') return containing(textAny, (all, words) => words.some((word) => all.has(word)));
  if (typeof phrase === 'string')
    return (value) =>
      typeof value === 'string' && ` ${wordsOf(value).join(' ')} `.includes(` ${wordsOf(phrase).join(' ')} `);
  throw formatError('data did not match any variant of untagged enum Match');
}

function containing(
  text: string,
  compare: (all: ReadonlySet<string>, words: readonly string[]) => boolean,
): (value: unknown) => boolean {
  const words = wordsOf(text);
  return (value) => typeof value === 'string' && compare(new Set(wordsOf(value)), words);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Numbers, or dates as RFC 3339 strings. */
function readRange(range: Readonly<Record<string, unknown>>): (value: unknown) => boolean {
  const bound = (name: string): number | null => {
    const value = range[name];
    if (value === undefined || value === null) return null;
    const number = typeof value === 'string' ? Date.parse(value) : value;
    if (typeof number === 'number' && Number.isFinite(number)) return number;
    throw formatError('data did not match any variant of untagged enum RangeInterface');
  };
  const [lt, gt, gte, lte] = ['lt', 'gt', 'gte', 'lte'].map(bound);
  const dates = Object.values(range).some((value) => typeof value === 'string');
  return (value) => {
    const held = dates && typeof value === 'string' ? Date.parse(value) : value;
    if (typeof held !== 'number' || Number.isNaN(held)) return false;
    return (
      held < (lt ?? Infinity) && held > (gt ?? -Infinity) && held >= (gte ?? -Infinity) && held <= (lte ?? Infinity)
    );
  };
}

const emptiness =
  (key: string): Test =>
  (record) =>
    valuesAt(record, key).every((value) => value === null);
const nullness =
  (key: string): Test =>
  (record) =>
    valuesAt(record, key).some((value) => value === null);

/** The values a key leads to: `a.b` and `a[].b` go down, `"a.b"` is one name, an array counts as its entries. */
function valuesAt(record: StoredRecord, key: string): unknown[] {
  let values: unknown[] = [record.content];
  for (const name of key.match(/"(?:[^"\\]|\\.)*"|[^.]+/g) ?? []) {
    const member = name.startsWith('"') ? name.slice(1, -1).replace(/\\(.)/g, '$1') : name.replace(/\[\]$/, '');
    values = values.flatMap((value) => (isRecord(value) && member in value ? value[member] : []));
  }
  return values.flat();
}
