import { isRecord } from '#plugin-api';
import { invalidArgument } from './pinecone-reply.ts';
import { isScalar, orders } from './compare-values.ts';

type Metadata = Readonly<Record<string, unknown>>;
type Test = (metadata: Metadata) => boolean;

/**
 * Reads a metadata filter: `{field: value}`, `{field: {$operator: value}}`, several fields at once (all must hold),
 * `$and`, `$or`. A list of strings in the metadata matches when one of its entries does.
 *
 * @throws Refusal in Pinecone's shape.
 */
export function readFilter(filter: unknown): Test {
  if (filter === undefined || filter === null) return () => true;
  if (!isRecord(filter)) throw invalidArgument('illegal filter: expected an object');
  const tests = Object.entries(filter).map(([key, condition]) => readEntry(key, condition));
  return (metadata) => tests.every((test) => test(metadata));
}

function readEntry(key: string, condition: unknown): Test {
  if (key === '$and' || key === '$or') {
    if (!Array.isArray(condition) || condition.length === 0)
      throw invalidArgument(`the ${key} operator must be followed by a non-empty list of filters`);
    const tests = condition.map((entry: unknown) => readFilter(entry));
    return key === '$and'
      ? (metadata) => tests.every((test) => test(metadata))
      : (metadata) => tests.some((test) => test(metadata));
  }
  if (key.startsWith('$')) throw invalidArgument(`${key} is not a valid operator`);
  if (!isRecord(condition)) return compare(key, '$eq', condition);
  const tests = Object.entries(condition).map(([operator, value]) => compare(key, operator, value));
  if (tests.length === 0) throw invalidArgument(`illegal condition for field ${key}, got {}`);
  return (metadata) => tests.every((test) => test(metadata));
}

function compare(key: string, operator: string, value: unknown): Test {
  const illegal = (): Error =>
    invalidArgument(`illegal condition for field ${key}, got ${JSON.stringify({ [operator]: value })}`);
  if (operator === '$exists') {
    if (typeof value !== 'boolean') throw illegal();
    return (metadata) => (metadata[key] !== undefined) === value;
  }
  if (operator === '$in' || operator === '$nin') {
    if (!Array.isArray(value) || !value.every(isScalar)) throw illegal();
    return (metadata) => entriesOf(metadata[key]).some((held) => value.includes(held)) === (operator === '$in');
  }
  if (operator === '$eq' || operator === '$ne') {
    if (!isScalar(value)) throw illegal();
    return (metadata) => entriesOf(metadata[key]).includes(value) === (operator === '$eq');
  }
  const inOrder = orders[operator];
  if (!inOrder) throw invalidArgument(`${operator} is not a valid operator`);
  if (typeof value !== 'number')
    throw invalidArgument(
      `the ${operator} operator must be followed by a number, got ${JSON.stringify(value)} instead`,
    );
  return (metadata) => {
    const held = metadata[key];
    return typeof held === 'number' && inOrder(held, value);
  };
}

function entriesOf(held: unknown): readonly unknown[] {
  if (held === undefined) return [];
  return Array.isArray(held) ? held : [held];
}
