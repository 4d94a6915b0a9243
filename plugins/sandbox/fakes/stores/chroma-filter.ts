import { isRecord } from '#plugin-api';
import { invalidArgument } from './chroma-reply.ts';
import { isScalar, orders } from './compare-values.ts';

export interface ChromaContent {
  readonly metadata: Readonly<Record<string, unknown>> | null;
  readonly document: string | null;
  readonly uri: string | null;
}

type Test = (content: ChromaContent) => boolean;

const invalid = (): Error => invalidArgument('Invalid where clause');

/**
 * Reads a `where` clause: `{key: value}`, `{key: {$operator: value}}`, `{$and: [...]}`, `{$or: [...]}`.
 *
 * @throws Refusal as the server does, for more than one key too.
 */
export function readWhere(where: unknown): Test {
  if (where === undefined || where === null) return () => true;
  const [key, condition] = onlyEntry(where);
  if (key === '$and' || key === '$or') return combine(key, condition, readWhere);
  if (!isRecord(condition)) return compare(key, '$eq', condition);
  const [operator, value] = onlyEntry(condition);
  return compare(key, operator, value);
}

/** Reads a `where_document` clause: `$contains`, `$not_contains`, `$regex`, `$not_regex`, `$and`, `$or`. */
export function readWhereDocument(where: unknown): Test {
  if (where === undefined || where === null) return () => true;
  const [key, value] = onlyEntry(where);
  if (key === '$and' || key === '$or') return combine(key, value, readWhereDocument);
  if (typeof value !== 'string') throw invalid();
  if (key === '$contains') return ({ document }) => document?.includes(value) ?? false;
  if (key === '$not_contains') return ({ document }) => !(document?.includes(value) ?? false);
  if (key !== '$regex' && key !== '$not_regex') throw invalid();
  const pattern = regular(value);
  return ({ document }) => (document !== null && pattern.test(document)) === (key === '$regex');
}

function onlyEntry(clause: unknown): [string, unknown] {
  const entries = isRecord(clause) ? Object.entries(clause) : [];
  const [entry] = entries;
  if (!entry || entries.length > 1) throw invalid();
  return entry;
}

function combine(key: '$and' | '$or', clauses: unknown, read: (clause: unknown) => Test): Test {
  if (!Array.isArray(clauses) || clauses.length === 0) throw invalid();
  const tests = clauses.map((clause: unknown) => read(clause));
  return key === '$and'
    ? (content) => tests.every((test) => test(content))
    : (content) => tests.some((test) => test(content));
}

function compare(key: string, operator: string, value: unknown): Test {
  const found = ({ metadata }: ChromaContent): unknown => metadata?.[key];
  if (operator === '$in' || operator === '$nin') {
    if (!Array.isArray(value) || value.length === 0 || !value.every(isScalar)) throw invalid();
    // What has no such key is not in the list.
    return (content) => value.includes(found(content)) === (operator === '$in');
  }
  if (operator === '$eq' || operator === '$ne') {
    if (!isScalar(value)) throw invalid();
    return (content) => (found(content) === value) === (operator === '$eq');
  }
  const inOrder = orders[operator];
  if (!inOrder || typeof value !== 'number') throw invalid();
  return (content) => {
    const held = found(content);
    return typeof held === 'number' && inOrder(held, value);
  };
}

function regular(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    throw invalid();
  }
}
