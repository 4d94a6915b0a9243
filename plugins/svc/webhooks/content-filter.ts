import { errorText, isRecord } from '#plugin-api';
import type { Envelope } from './event.ts';

/** Whether an event is sent to an endpoint, by the content of its envelope. */
export type ContentFilter = (envelope: Envelope) => boolean;

/** Limits that keep a filter cheap: it runs for each event and endpoint (D46). */
const limits = { depth: 8, comparisons: 100, list: 100 } as const;

/** Members of the envelope (contract 6.4): what a path begins with. */
const roots = [
  ...(['id', 'type', 'schema_version', 'occurred_at', 'idempotency_key'] as const),
  ...(['site', 'plugin', 'source', 'resource', 'data', 'meta'] as const),
] as const satisfies readonly (keyof Envelope)[];

type Scalar = string | number | boolean | null;
/** Compares the values at a path: one, or several where the path leads through a list. */
type Comparison = (values: readonly unknown[]) => boolean;

const known = new Map<string, ContentFilter>();
const mostKnown = 1_000;

/**
 * The filter of an endpoint; '' matches all. It is a JSON object like `{"data.bot.id": 3, "$or": [{"meta.provider": {"$in":
 * ["openai"]}}, {"data.actor.type": "user"}]}`: all members must hold. A path through a list holds if one item of it does.
 *
 * @throws Error with a sentence that says what is wrong.
 */
export function readContentFilter(text: string): ContentFilter {
  const found = known.get(text);
  if (found !== undefined) return found;
  const filter = text.trim() === '' ? () => true : compile(parse(text));
  if (known.size >= mostKnown) known.clear();
  known.set(text, filter);
  return filter;
}

/** Whether an event is sent. A stored filter that cannot be read, such as that of a newer version, withholds nothing. */
export function matchesFilter(text: string, envelope: Envelope): boolean {
  try {
    return readContentFilter(text)(envelope);
  } catch {
    return true;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`The filter is not valid JSON: ${errorText(error)}`, { cause: error });
  }
}

function compile(parsed: unknown): ContentFilter {
  const count = { comparisons: 0 };
  const test = compileObject(parsed, { path: [], depth: 0, count });
  return (envelope) => test(envelope);
}

interface Position {
  readonly path: readonly string[];
  readonly depth: number;
  readonly count: { comparisons: number };
}

type Test = (envelope: Envelope) => boolean;

function compileObject(given: unknown, position: Position): Test {
  const { path, depth } = position;
  if (!isRecord(given)) throw new Error('A filter is an object like {"data.bot.id": 1}.');
  if (depth > limits.depth) throw new Error(`A filter may be nested ${String(limits.depth)} deep.`);
  const tests = Object.entries(given).map(([name, value]) => {
    if (name === '$and' || name === '$or') return compileList(name, value, position);
    if (name.startsWith('$'))
      throw new Error(`${name} is used without a path. Write it like {"data.bot.id": {"$gt": 1}}.`);
    return compilePath([...path, ...name.split('.')], value, position);
  });
  return (envelope) => tests.every((test) => test(envelope));
}

function compileList(name: '$and' | '$or', value: unknown, position: Position): Test {
  if (!Array.isArray(value) || value.length === 0) throw new Error(`${name} takes a list of filters.`);
  const tests = value.map((each: unknown) => compileObject(each, { ...position, depth: position.depth + 1 }));
  return name === '$and'
    ? (envelope) => tests.every((test) => test(envelope))
    : (envelope) => tests.some((test) => test(envelope));
}

function compilePath(path: readonly string[], value: unknown, position: Position): Test {
  const [root = ''] = path;
  if (!roots.some((name) => name === root))
    throw new Error(`No event has the member “${root}”. A path begins with ${roots.join(', ')}.`);
  if (path.some((name) => name === '')) throw new Error(`“${path.join('.')}” is not a path.`);
  const isNested = isRecord(value) && !Object.keys(value).some((name) => name.startsWith('$'));
  if (isNested) return compileObject(value, { ...position, path, depth: position.depth + 1 });
  const entries = isRecord(value) ? Object.entries(value) : [['$eq', value] as const];
  const comparisons = entries.map(([operator, operand]) => {
    position.count.comparisons += 1;
    if (position.count.comparisons > limits.comparisons)
      throw new Error(`A filter may have ${String(limits.comparisons)} comparisons.`);
    return compare(operator, operand);
  });
  return (envelope) => {
    const values = valuesAt(envelope, path);
    return comparisons.every((comparison) => comparison(values));
  };
}

const isScalar = (value: unknown): value is Scalar =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

function scalar(operator: string, operand: unknown): Scalar {
  if (isScalar(operand)) return operand;
  throw new Error(
    `${operator} takes a text, a number, true, false or null${Array.isArray(operand) ? '; a list needs $in' : ''}.`,
  );
}

/** Numbers are compared with numbers, texts with texts: dates of ISO 8601 in one zone are in order as texts. */
const orders: Readonly<Record<string, (sign: number) => boolean>> = {
  $gt: (sign) => sign > 0,
  $gte: (sign) => sign >= 0,
  $lt: (sign) => sign < 0,
  $lte: (sign) => sign <= 0,
};

function compare(operator: string, operand: unknown): Comparison {
  const order = Object.hasOwn(orders, operator) ? orders[operator] : undefined;
  if (order !== undefined) {
    if (typeof operand !== 'number' && typeof operand !== 'string')
      throw new Error(`${operator} takes a number or a text.`);
    return (values) =>
      values.some((value) => typeof value === typeof operand && order(signOf(value as string | number, operand)));
  }
  switch (operator) {
    case '$eq': {
      const wanted = scalar(operator, operand);
      return (values) => values.includes(wanted);
    }
    case '$ne': {
      const unwanted = scalar(operator, operand);
      return (values) => !values.includes(unwanted);
    }
    case '$in': {
      if (!Array.isArray(operand) || operand.length === 0 || operand.length > limits.list)
        throw new Error(`$in takes a list of 1 to ${String(limits.list)} values.`);
      const wanted = operand.map((each: unknown) => scalar(operator, each));
      return (values) => values.some((value) => wanted.includes(value as Scalar));
    }
    case '$exists':
      if (typeof operand !== 'boolean') throw new Error('$exists takes true or false.');
      return (values) => values.length > 0 === operand;
    case '$startsWith':
      if (typeof operand !== 'string') throw new Error('$startsWith takes a text.');
      return (values) => values.some((value) => typeof value === 'string' && value.startsWith(operand));
    default:
      throw new Error(
        `There is no operator ${operator}. Use $eq, $ne, $in, $gt, $gte, $lt, $lte, $exists or $startsWith.`,
      );
  }
}

function signOf(value: string | number, operand: string | number): number {
  return value === operand ? 0 : value > operand ? 1 : -1;
}

/** The values at a path: none, one, or those of the items of a list. */
function valuesAt(envelope: Envelope, path: readonly string[]): readonly unknown[] {
  let found: readonly unknown[] = [envelope];
  for (const name of path)
    found = found.flatMap((value): readonly unknown[] => {
      const members = (Array.isArray(value) ? value : [value]) as readonly unknown[];
      return members.flatMap((member) => (isRecord(member) && Object.hasOwn(member, name) ? [member[name]] : []));
    });
  return found.flatMap((value) => (Array.isArray(value) ? (value as readonly unknown[]) : [value]));
}
