import type { JsonSchema } from '#plugin-api';
import type { Random } from './random.ts';

/** Text that has broken parsers before. */
const hostileTexts = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '💥'.repeat(50),
  'a\u0301\u200b\u202e',
  "'; drop table posts; --",
  '%00%0a%ff',
  '../../etc/passwd',
  '<script>',
  '{{7*7}}${7*7}',
  '/'.repeat(4_000),
  ' '.repeat(4_000),
  '<'.repeat(4_000),
  '<script>'.repeat(1_000),
  '%'.repeat(2_000) + '41'.repeat(2_000),
  '[gallery '.repeat(1_000),
  '9'.repeat(400),
  'NaN',
  '-Infinity',
  '1e999',
  '0x10',
  '1,2,3',
  '__proto__',
  'constructor',
];
const hostileNumbers = [-1, 0, 0.5, 1e15, 2 ** 31, 2 ** 53, 1e21, 1e308, -1e308, -0];
const hostileOthers: readonly unknown[] = [
  null,
  true,
  [],
  {},
  [[[]]],
  { length: -1 },
  [null],
  { __proto__: null, a: 1 },
];

/** A value that the schema accepts, or nearly: patterns and formats are only known for the common ones. */
export function validValue(schema: JsonSchema, random: Random): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined && schema.enum.length > 0) return random.pick(schema.enum);
  if (schema.examples !== undefined && schema.examples.length > 0) return random.pick(schema.examples);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return validValue(random.pick(alternatives), random);
  const type = schema.type === undefined ? 'string' : random.pick([schema.type].flat());
  switch (type) {
    case 'integer':
    case 'number':
      return Math.min(schema.maximum ?? 9, Math.max(schema.minimum ?? 0, random.below(10)));
    case 'boolean':
      return random.once(2);
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.max(schema.minItems ?? 0, random.below(3)) }, () =>
        validValue(schema.items ?? {}, random),
      );
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([, member]) => member.required === true || random.once(2))
          .map(([name, member]) => [name, validValue(member, random)]),
      );
    default:
      return validText(schema, random);
  }
}

function validText({ format, pattern = '', minLength = 0 }: JsonSchema, random: Random): string {
  if (format === 'uuid' || pattern.includes('{8}'))
    return `${'0'.repeat(8)}-0000-4000-8000-00000000000${random.below(10)}`;
  if (format === 'date-time') return `2026-0${1 + random.below(9)}-01T00:00:00`;
  if (format === 'email') return `user${random.below(100)}@example.test`;
  if (format === 'uri') return 'https://example.test/';
  return `text ${random.below(1_000)}`.padEnd(minLength, '.');
}

/** A value that breaks one keyword of the schema, or of one inside it. */
export function brokenValue(schema: JsonSchema, random: Random): unknown {
  const inside = [
    ...(schema.items ? [() => [brokenValue(schema.items as JsonSchema, random)]] : []),
    ...Object.entries(schema.properties ?? {}).map(([name, member]) => () => ({
      ...(validValue({ type: 'object', properties: schema.properties ?? {} }, random) as object),
      [name]: brokenValue(member, random),
    })),
  ];
  if (inside.length > 0 && random.once(2)) return random.pick(inside)();
  const { maxLength, maxItems, minimum, maximum } = schema;
  const edges: unknown[] = [
    ...(maxLength !== undefined && maxLength <= 70_000 ? ['x'.repeat(maxLength + 1), '€'.repeat(maxLength)] : []),
    ...(maxItems !== undefined && maxItems <= 2_000
      ? [Array.from({ length: maxItems + 1 }, (_, index) => validOrIndex(schema.items, index, random))]
      : []),
    ...(minimum !== undefined ? [minimum - 1, String(minimum)] : []),
    ...(maximum !== undefined ? [maximum, maximum + 1, String(maximum + 1)] : []),
  ];
  if (edges.length > 0 && random.once(2)) return random.pick(edges);
  return random.pick([hostileTexts, hostileNumbers, hostileOthers][random.below(3)] as readonly unknown[]);
}

function validOrIndex(items: JsonSchema | undefined, index: number, random: Random): unknown {
  return items?.type === 'integer' ? index : validValue(items ?? {}, random);
}

export const hostileText = (random: Random): string => random.pick(hostileTexts);
