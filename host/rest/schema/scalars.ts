import type { JsonSchema } from '#plugin-api';
import { counted, schemaError } from './schema-error.ts';
import type { SchemaError } from './schema-error.ts';

/** Checks a number's multiple and bounds. Exclusive bounds are booleans (draft 4) or numbers (later drafts). */
export function validateNumber(value: number, schema: JsonSchema, param: string): SchemaError | null {
  if (schema.multipleOf !== undefined && value % schema.multipleOf !== 0) {
    return schemaError('rest_invalid_multiple', `${param} must be a multiple of ${schema.multipleOf}.`);
  }
  const low = lowerBound(schema);
  const high = upperBound(schema);
  const tooLow = low !== null && (low.exclusive ? value <= low.at : value < low.at);
  const tooHigh = high !== null && (high.exclusive ? value >= high.at : value > high.at);
  if (!tooLow && !tooHigh) return null;
  return schemaError('rest_out_of_bounds', `${param} must be ${boundsSentence(named(low), named(high))}`);
}

interface Bound {
  readonly at: number;
  readonly exclusive: boolean;
}

function lowerBound({ minimum, exclusiveMinimum }: JsonSchema): Bound | null {
  if (typeof exclusiveMinimum === 'number') return { at: exclusiveMinimum, exclusive: true };
  return minimum === undefined ? null : { at: minimum, exclusive: exclusiveMinimum === true };
}

function upperBound({ maximum, exclusiveMaximum }: JsonSchema): Bound | null {
  if (typeof exclusiveMaximum === 'number') return { at: exclusiveMaximum, exclusive: true };
  return maximum === undefined ? null : { at: maximum, exclusive: exclusiveMaximum === true };
}

/** A bound that every number keeps is not worth a word (`argumentBounds.anyInteger`). */
function named(bound: Bound | null): Bound | null {
  return bound !== null && Math.abs(bound.at) === Number.MAX_VALUE ? null : bound;
}

function boundsSentence(low: Bound | null, high: Bound | null): string {
  const word = ({ exclusive }: Bound): string => (exclusive ? 'exclusive' : 'inclusive');
  if (low !== null && high !== null) return `between ${low.at} (${word(low)}) and ${high.at} (${word(high)})`;
  if (low !== null) return low.exclusive ? `greater than ${low.at}` : `greater than or equal to ${low.at}`;
  if (high !== null) return high.exclusive ? `less than ${high.at}` : `less than or equal to ${high.at}`;
  return 'within bounds';
}

/** Checks a text's length, in characters (not UTF-16 units), and its pattern. */
export function validateString(value: string, schema: JsonSchema, param: string): SchemaError | null {
  const { minLength, maxLength, pattern } = schema;
  if (minLength !== undefined || maxLength !== undefined) {
    const length = characterCount(value);
    if (minLength !== undefined && length < minLength) {
      return schemaError(
        'rest_too_short',
        `${param} must be at least ${counted(minLength, 'character', 'characters')} long.`,
      );
    }
    if (maxLength !== undefined && length > maxLength) {
      return schemaError(
        'rest_too_long',
        `${param} must be at most ${counted(maxLength, 'character', 'characters')} long.`,
      );
    }
  }
  if (pattern !== undefined && !compilePattern(pattern).test(value)) {
    return schemaError('rest_invalid_pattern', `${param} does not match pattern ${pattern}.`);
  }
  return null;
}

function characterCount(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index += 1) {
    const isHigh = (text.charCodeAt(index) & 0xfc00) === 0xd800;
    if (isHigh && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

const patterns = new Map<string, RegExp>();

/** Cached by pattern: patterns come from schemas, never from callers. */
export function compilePattern(pattern: string): RegExp {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = newPattern(pattern);
    patterns.set(pattern, compiled);
  }
  return compiled;
}

/** Patterns with escapes that the Unicode flag forbids are compiled without it. */
function newPattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}
