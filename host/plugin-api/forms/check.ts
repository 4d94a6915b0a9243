import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { isEmail, isUrl } from '../addresses.ts';
import { findTextError } from '../stored-text.ts';
import type { JsonSchema } from '../schema.ts';
import { choicesOf, fieldLabel } from './paths.ts';

/** A sentence for each wrong member, by its path, such as `embed.allowed_domains[1]`. */
export type FieldErrors = Readonly<Record<string, string>>;

export interface CheckInit {
  /** Converts text to the schema's type, `"12"` to 12, for values of command lines. Default false. */
  readonly coerce?: boolean;
  /** Start of the paths. */
  readonly path?: string;
  /** What sentences begin with: the path, for commands, or the label of the member. Default `path`. */
  readonly subject?: 'path' | 'label';
}

export interface CheckedValue {
  /** The given value, or a converted copy. */
  readonly value: unknown;
  /** Empty if the value matches the schema. */
  readonly errors: FieldErrors;
}

/** Checks a value by a schema, and that its texts can be stored (D54). The first check of a schema compiles it, which takes up to 50 ms. */
export function checkValue(schema: JsonSchema, given: unknown, init: CheckInit = {}): CheckedValue {
  const { coerce = false, path = '', subject = 'path' } = init;
  const validate = compiled(schema, coerce);
  // Conversion needs a member to write to, so the value is wrapped.
  const wrapped = { value: coerce ? structuredClone(given) : (given ?? null) };
  const isValid: boolean = validate(wrapped);
  if (isValid) {
    const error = findTextError(wrapped.value);
    if (error === null) return { value: wrapped.value, errors: {} };
    const { at, who } = subjectOf({ schema, path, subject }, error.steps);
    return { value: given, errors: { [at]: `${who} ${error.rule}.` } };
  }
  // A member may have the name of one that every object has.
  const errors = new Map<string, string>();
  for (const error of [...(validate.errors ?? [])].sort((left, right) => weightOf(left) - weightOf(right))) {
    const { at, who } = subjectOf({ schema, path, subject }, stepsOf(error));
    if (!errors.has(at)) errors.set(at, `${who} ${describeRule(error)}.`);
  }
  return { value: given, errors: Object.fromEntries(errors) };
}

/** The path of a member, and what its sentence begins with. */
function subjectOf(
  { schema, path, subject }: Required<Pick<CheckInit, 'path' | 'subject'>> & { readonly schema: JsonSchema },
  steps: readonly string[],
): { readonly at: string; readonly who: string } {
  const at = steps.reduce(addStep, path);
  const who = subject === 'label' ? labelAt(schema, steps) : at || `The ${(schema.title ?? 'object').toLowerCase()}`;
  return { at, who };
}

/** Of the branches of `anyOf`, the one of the value's own type says what is wrong. */
function weightOf({ keyword, schemaPath }: ErrorObject): number {
  if (keyword === 'anyOf') return 2;
  return keyword === 'type' && schemaPath.includes('/anyOf/') ? 1 : 0;
}

function addStep(path: string, step: string): string {
  if (/^\d+$/.test(step)) return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

function stepsOf({ instancePath, keyword, params }: ErrorObject): string[] {
  const steps = instancePath
    .split('/')
    .slice(2)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const member: unknown = params[named[keyword] ?? ''];
  return typeof member === 'string' && !(keyword === 'required' && instancePath === '') ? [...steps, member] : steps;
}

/** Which parameter of an error names the member that it is about. */
const named: Readonly<Record<string, string>> = {
  additionalProperties: 'additionalProperty',
  required: 'missingProperty',
  discriminator: 'tag',
};

function labelAt(schema: JsonSchema, steps: readonly string[]): string {
  let at: JsonSchema | undefined = schema;
  let label = schema.title ?? 'The settings';
  for (const step of steps) {
    at = at?.properties?.[step] ?? at?.items;
    if (!/^\d+$/.test(step)) label = fieldLabel(step, at ?? {});
  }
  return label;
}

const require = createRequire(import.meta.url);
const checks = {
  exact: new WeakMap<JsonSchema, ValidateFunction>(),
  coerce: new WeakMap<JsonSchema, ValidateFunction>(),
};

function compiled(schema: JsonSchema, coerce: boolean): ValidateFunction {
  const known = coerce ? checks.coerce : checks.exact;
  const before = known.get(schema);
  if (before) return before;
  const ajv = (compilers[coerce ? 'coerce' : 'exact'] ??= createCompiler(coerce));
  const wrapper = { type: 'object', required: ['value'], properties: { value: toCurrentDraft(schema) } };
  const validate = ajv.compile(wrapper);
  // The compiler would keep the schemas of plugins that are gone.
  ajv.removeSchema(wrapper);
  known.set(schema, validate);
  return validate;
}

const compilers: { coerce?: Ajv; exact?: Ajv } = {};

/** Loaded at the first check, not at the start: it costs 30 ms. It checks schemas with a schema, which takes 5 ms to compile. */
function createCompiler(coerce: boolean): Ajv {
  const { Ajv } = require('ajv') as typeof import('ajv');
  const addFormats = require('ajv-formats') as unknown as (target: object) => void;
  const ajv = new Ajv({
    coerceTypes: coerce,
    allErrors: true,
    verbose: true,
    strict: false,
    allowUnionTypes: true,
    discriminator: true,
    logger: false,
  });
  addFormats(ajv);
  for (const [format, accepts] of Object.entries(ownFormats)) ajv.addFormat(format, accepts);
  return ajv;
}

/**
 * The formats that ajv lacks or reads in another way. Text fields accept any text: filters sanitize them. A field that is left
 * empty has no format; `minLength` refuses it.
 */
const ownFormats: Readonly<Record<string, RegExp | true | ((text: string) => boolean)>> = {
  uri: (text) => text === '' || isUrl(text),
  email: (text) => text === '' || isEmail(text),
  ip: /^((\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F]*:[0-9a-fA-F:.]+))?$/,
  'hex-color': /^(#([0-9a-fA-F]{3}){1,2})?$/,
  'text-field': true,
  'textarea-field': true,
};

/** Schemas as WordPress writes them (`required: true` in a member, boolean exclusive bounds) in the draft that ajv reads. */
function toCurrentDraft(schema: JsonSchema): Record<string, unknown> {
  const { required, exclusiveMinimum, exclusiveMaximum, properties, oneOf, items, ...rest } = schema;
  const { patternProperties, additionalProperties, anyOf } = rest;
  const listed = Array.isArray(required) ? (required as readonly string[]) : [];
  const inside = Object.entries(properties ?? {}).flatMap(([name, member]) => (member.required === true ? [name] : []));
  const names = [...new Set([...listed, ...inside])];
  const choices = choicesOf(schema);
  return {
    ...rest,
    ...(names.length > 0 && { required: names }),
    ...bound('minimum', rest.minimum, exclusiveMinimum),
    ...bound('maximum', rest.maximum, exclusiveMaximum),
    ...(properties && { properties: mapSchemas(properties) }),
    ...(patternProperties && { patternProperties: mapSchemas(patternProperties) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: toCurrentDraft(additionalProperties) }),
    ...(items && { items: toCurrentDraft(items) }),
    ...(anyOf && { anyOf: anyOf.map(toCurrentDraft) }),
    // Titles of choices say nothing about values; sentences name them.
    ...(choices ? { enum: choices, titled: oneOf } : oneOf && { oneOf: oneOf.map(toCurrentDraft) }),
  };
}

function bound(
  name: 'minimum' | 'maximum',
  value: number | undefined,
  exclusive: boolean | number | undefined,
): object {
  const keyword = name === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum';
  if (typeof exclusive === 'number') return { [keyword]: exclusive };
  if (exclusive !== true || value === undefined) return {};
  return { [name]: Number[name === 'minimum' ? 'NEGATIVE_INFINITY' : 'POSITIVE_INFINITY'], [keyword]: value };
}

function mapSchemas(schemas: Readonly<Record<string, JsonSchema>>): object {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toCurrentDraft(schema)]));
}

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
function describeRule(error: ErrorObject): string {
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
