import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../schema.ts';

const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
};

const formats: Readonly<Record<string, string>> = {
  uri: 'a URL, such as https://example.com',
  email: 'an email address, such as jo@example.com',
  'date-time': 'a date and time, such as 2026-01-31T12:00:00Z',
  date: 'a date, such as 2026-01-31',
  uuid: 'a UUID',
  ip: 'an IP address',
  'hex-color': 'a color, such as #1d4ed8',
};

/** The end of the sentence about a wrong member, without the full stop: "must be from 1 to 600". */
export function describeRule(error: ErrorObject): string {
  const { keyword, params, schema: limit, data } = error;
  const parent = (error.parentSchema ?? {}) as JsonSchema;
  switch (keyword) {
    case 'type':
      return `must be ${typeText([params['type'] as string].flat(), parent)}`;
    case 'enum':
      return `must be one of ${(limit as readonly unknown[]).map((value) => choiceText(value, parent as object)).join(', ')}`;
    case 'const':
      return `must be ${String(limit)}`;
    case 'minimum':
    case 'maximum':
      return `must be ${range(parent)}`;
    case 'exclusiveMinimum':
      return `must be more than ${String(limit)}`;
    case 'exclusiveMaximum':
      return `must be less than ${String(limit)}`;
    case 'multipleOf':
      return `must be a multiple of ${String(limit)}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`;
    case 'maxLength':
      return `may have at most ${String(limit)} characters; it has ${String([...String(data)].length)}`;
    case 'pattern':
      return parent.rule ?? `does not have the expected form${example(parent)}`;
    case 'format':
      return `must be ${formats[String(limit)] ?? `a valid ${String(limit)}`}`;
    default:
      return describeMembers(error, parent);
  }
}

function describeMembers({ keyword, schema: limit }: ErrorObject, { properties, oneOf }: JsonSchema): string {
  switch (keyword) {
    case 'minItems':
    case 'minProperties':
      return `must have at least ${limit === 1 ? 'one entry' : `${String(limit)} entries`}`;
    case 'maxItems':
    case 'maxProperties':
      return `may have at most ${String(limit)} entries`;
    case 'uniqueItems':
      return 'must not have an entry twice';
    case 'required':
      return 'is missing';
    case 'discriminator':
      return `must be one of ${(oneOf ?? []).map((one) => String(one.properties?.['type']?.const)).join(', ')}`;
    case 'additionalProperties':
      return `is unknown. Use one of ${Object.keys(properties ?? {}).join(', ')}`;
    default:
      return 'is invalid';
  }
}

function typeText(types: readonly string[], schema: JsonSchema): string {
  const text = types.map((type) => kinds[type] ?? type).join(' or ');
  const isNumber = types.some((type) => type === 'integer' || type === 'number');
  const bounds = isNumber && types.length === 1 ? range(schema) : '';
  return bounds.startsWith('from') ? `${text} ${bounds}` : bounds === '' ? text : `${text}, ${bounds}`;
}

/** The bounds of the numbers that JSON can hold exactly say nothing to a person. */
function range({ minimum, maximum }: JsonSchema): string {
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? '' : String(minimum);
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? '' : String(maximum);
  if (least !== '' && most !== '') return `from ${least} to ${most}`;
  if (least !== '') return `${least} or more`;
  return most === '' ? '' : `${most} or less`;
}

/** A choice; an id with its title. */
function choiceText(value: unknown, { titled }: { readonly titled?: readonly JsonSchema[] }): string {
  const title = /^\d+$/.test(String(value)) ? titled?.find((one) => one.const === value)?.title : undefined;
  return title === undefined ? String(value) : `${String(value)} (${title})`;
}

function example({ examples: [first] = [] }: JsonSchema): string {
  return first === undefined ? '' : `, such as ${String(first)}`;
}
