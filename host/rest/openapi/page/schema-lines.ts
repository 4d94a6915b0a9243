import { asRecord, formatCount, isRecord, type OpenApiDocument, type OpenApiObject } from '#plugin-api';

/** A parameter, or a member of a request or response body, as shown on the page. */
export interface FieldLine {
  /** `messages[].role` for nested members. */
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  /** Constraints, as short sentences. */
  readonly rules: readonly string[];
}

/** Deeper members are not shown. */
const maxDepth = 4;

/** Resolves a reference within the document; returns any other object unchanged. */
export function resolve(document: OpenApiDocument, value: unknown): OpenApiObject {
  if (!isRecord(value)) return {};
  const reference = value['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return value;
  let found: unknown = document;
  for (const part of reference.slice(2).split('/'))
    found = isRecord(found) ? found[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
  return asRecord(found);
}

interface Walk {
  readonly document: OpenApiDocument;
  readonly schema: unknown;
  readonly prefix?: string;
  readonly depth?: number;
}

/** The members of an object, or of a list's items, one per line. */
export function memberLines({ document, schema: given, prefix = '', depth = 0 }: Walk): FieldLine[] {
  const schema = resolve(document, given);
  if (schema['items'] !== undefined)
    return memberLines({ document, schema: schema['items'], prefix: `${prefix}[]`, depth });
  if (!isRecord(schema['properties']) || depth >= maxDepth) return [];
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  return Object.entries(schema['properties']).flatMap(([name, member]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [
      fieldLine({ document, name: path, schema: member, isRequired: required.includes(name) }),
      ...memberLines({ document, schema: member, prefix: path, depth: depth + 1 }),
    ];
  });
}

export interface FieldInit {
  readonly document: OpenApiDocument;
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
  readonly description?: unknown;
}

export function fieldLine({ document, name, schema: given, isRequired, description }: FieldInit): FieldLine {
  const schema = resolve(document, given);
  return {
    name,
    type: typeText(document, schema),
    isRequired,
    description: String(description ?? schema['description'] ?? ''),
    rules: ruleTexts(schema),
  };
}

/** `string`, `list of integer`, `string or list of string`. */
export function typeText(document: OpenApiDocument, given: unknown): string {
  const schema = resolve(document, given);
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return [...new Set(choices.map((choice) => typeText(document, choice)))].join(' or ');
  const names = [schema['type']].flat().filter((name): name is string => typeof name === 'string');
  const texts = names.map((name) =>
    name === 'array'
      ? `list${schema['items'] === undefined ? '' : ` of ${typeText(document, schema['items'])}`}`
      : name,
  );
  return texts.join(' or ') || 'any';
}

const rules: readonly (readonly [keyword: string, text: (value: unknown) => string])[] = [
  ['const', (value) => `Always ${JSON.stringify(value)}.`],
  ['enum', (value) => `One of these: ${(value as unknown[]).map((item) => JSON.stringify(item)).join(', ')}.`],
  ['default', (value) => `Default ${JSON.stringify(value)}.`],
  ['format', (value) => `Format ${String(value)}.`],
  ['pattern', (value) => `Pattern ${String(value)}`],
  ['minimum', (value) => `At least ${String(value)}.`],
  ['exclusiveMinimum', (value) => `More than ${String(value)}.`],
  ['maximum', (value) => `At most ${String(value)}.`],
  ['exclusiveMaximum', (value) => `Less than ${String(value)}.`],
  ['multipleOf', (value) => `Multiple of ${String(value)}.`],
  ['minLength', (value) => `At least ${formatCount(Number(value), 'character')}.`],
  ['maxLength', (value) => `At most ${formatCount(Number(value), 'character')}.`],
  ['minItems', (value) => `At least ${formatCount(Number(value), 'item')}.`],
  ['maxItems', (value) => `At most ${formatCount(Number(value), 'item')}.`],
  ['uniqueItems', (value) => (value === true ? 'Items must be unique.' : '')],
  ['additionalProperties', (value) => (value === false ? 'No other members.' : '')],
  ['readOnly', (value) => (value === true ? 'Read only.' : '')],
  ['writeOnly', (value) => (value === true ? 'Never returned.' : '')],
];

function ruleTexts(schema: OpenApiObject): string[] {
  return rules
    .flatMap(([keyword, text]) => {
      const value = schema[keyword];
      return value === undefined || Math.abs(Number(value)) === Number.MAX_VALUE ? [] : [text(value)];
    })
    .filter((text) => text !== '');
}
