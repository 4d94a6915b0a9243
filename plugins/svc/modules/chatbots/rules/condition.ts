import { foldText } from '../../../kit/fold-text.ts';
import { textOf } from './fill-value.ts';
import type { RuleCondition, RuleFacts } from './rule.ts';

/**
 * Whether a condition holds. Texts are compared without regard to case and accents, and without blanks around them. Of a fact
 * with several values (the roles of a user) one that fits is enough, and `not_` asks that none does. A comparison of
 * numbers with something that is none does not hold.
 */
export function conditionHolds({ fact, operator, value }: RuleCondition, facts: RuleFacts): boolean {
  const given = fact === 'role' ? facts.roles : [textOf(fact, facts)];
  const known = given.map(normal);
  const wanted = value
    .split('\n')
    .map(normal)
    .filter((line) => line !== '');
  switch (operator) {
    case 'contains':
      return some(known, wanted, (text, part) => text.includes(part));
    case 'not_contains':
      return !some(known, wanted, (text, part) => text.includes(part));
    case 'equals':
      return equals(known, wanted);
    case 'not_equals':
      return !equals(known, wanted);
    case 'starts_with':
      return some(known, wanted, (text, part) => text.startsWith(part));
    case 'ends_with':
      return some(known, wanted, (text, part) => text.endsWith(part));
    case 'greater_than':
      return compare(given, value, (left, right) => left > right);
    case 'less_than':
      return compare(given, value, (left, right) => left < right);
    case 'is_empty':
      return known.every((text) => text === '');
    case 'is_not_empty':
      return known.some((text) => text !== '');
  }
}

function normal(text: string): string {
  return foldText(text).trim();
}

function some(
  known: readonly string[],
  wanted: readonly string[],
  fits: (text: string, part: string) => boolean,
): boolean {
  return known.some((text) => wanted.some((part) => fits(text, part)));
}

/** No value at all equals what is empty. */
function equals(known: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0
    ? known.every((text) => text === '')
    : some(known, wanted, (text, other) => text === other);
}

function compare(given: readonly string[], value: string, holds: (left: number, right: number) => boolean): boolean {
  const right = numberOf(value);
  return (
    right !== null &&
    given.some((text) => {
      const left = numberOf(text);
      return left !== null && holds(left, right);
    })
  );
}

function numberOf(text: string): number | null {
  const trimmed = text.trim();
  // A decimal comma is what people write in half of the world.
  const number =
    trimmed === '' ? Number.NaN : Number(/^-?\d+,\d+$/.test(trimmed) ? trimmed.replace(',', '.') : trimmed);
  return Number.isFinite(number) ? number : null;
}
