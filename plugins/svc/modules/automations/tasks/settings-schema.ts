import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '#plugin-api';
import { createAjv } from '../../../kit/ajv.ts';
import { fieldLabel } from '../../../settings/field-value.ts';

/** Error messages by path of the member, such as `settings.provider`. */
export type SettingErrors = Readonly<Record<string, string>>;

type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fills in the schema's defaults, nested objects included. */
export function fillDefaults(schema: JsonSchema, given: unknown): unknown {
  const { properties } = schema;
  if (!properties || !isMembers(given)) return given;
  const filled: Record<string, unknown> = { ...given };
  for (const [name, member] of Object.entries(properties)) {
    if (filled[name] !== undefined) filled[name] = fillDefaults(member, filled[name]);
    else if ('default' in member) filled[name] = structuredClone(member.default);
    else if (member.properties) filled[name] = fillDefaults(member, {});
  }
  return filled;
}

/** Validates settings by the schema of a type. Paths begin with `settings`. */
export function schemaErrors(schema: JsonSchema, settings: unknown): SettingErrors {
  const ajv = createAjv({
    allErrors: true,
    verbose: true,
    strict: false,
    allowUnionTypes: true,
    validateFormats: false,
  });
  const check = ajv.compile(plainSchema(schema) as object);
  if (check(settings)) return {};
  return Object.fromEntries(
    (check.errors ?? []).map((error) => [pathOf(error), sentence(schema, error)] as const).reverse(),
  );
}

/** Host schemas use `required: true` in properties and the limits of draft 4; ajv needs the current form. */
function plainSchema(schema: JsonSchema): unknown {
  const { required, exclusiveMinimum, exclusiveMaximum, properties, items, additionalProperties, ...rest } = schema;
  const inside = Object.entries(properties ?? {})
    .filter(([, member]) => member.required === true)
    .map(([name]) => name);
  const names = [...(Array.isArray(required) ? (required as readonly string[]) : []), ...inside];
  const plain: Members = {
    ...rest,
    ...(names.length > 0 && { required: [...new Set(names)] }),
    ...limit('minimum', 'exclusiveMinimum', { value: rest.minimum, exclusive: exclusiveMinimum }),
    ...limit('maximum', 'exclusiveMaximum', { value: rest.maximum, exclusive: exclusiveMaximum }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, plainSchema(member)])),
    }),
    ...(items && { items: plainSchema(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object' ? plainSchema(additionalProperties) : additionalProperties,
    }),
  };
  return Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined));
}

/** A value of an enum; an id with its title. */
function choiceText(value: unknown, { oneOf }: JsonSchema): string {
  const title = /^\d+$/.test(String(value)) ? oneOf?.find((one) => one.const === value)?.title : undefined;
  return title === undefined ? String(value) : `${String(value)} (${title})`;
}

function limit(
  plain: string,
  exclusiveName: string,
  { value, exclusive }: { readonly value: number | undefined; readonly exclusive: boolean | number | undefined },
): Members {
  if (typeof exclusive === 'number') return { [exclusiveName]: exclusive };
  return exclusive === true && value !== undefined ? { [exclusiveName]: value, [plain]: undefined } : {};
}

function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath.split('/').slice(1);
  const missing: unknown =
    keyword === 'required'
      ? params['missingProperty']
      : keyword === 'additionalProperties'
        ? params['additionalProperty']
        : undefined;
  return ['settings', ...path, ...(typeof missing === 'string' ? [missing] : [])].join('.');
}

function sentence(schema: JsonSchema, error: ErrorObject): string {
  const { keyword, params, parentSchema, schema: rule } = error;
  const label = findLabel(schema, pathOf(error).split('.').slice(1));
  const { minimum, maximum } = (parentSchema ?? {}) as JsonSchema;
  const between =
    minimum !== undefined && maximum !== undefined
      ? `from ${String(minimum)} to ${String(maximum)}`
      : minimum !== undefined
        ? `${String(minimum)} or more`
        : `${String(maximum)} or less`;
  switch (keyword) {
    case 'required':
      return `${label} is missing.`;
    case 'additionalProperties':
      return `${label} is not a setting. Use ${Object.keys(schema.properties ?? {}).join(', ')}.`;
    case 'enum': {
      const choices = (rule as readonly unknown[]).map((value) => choiceText(value, parentSchema as JsonSchema));
      return `${label} must be one of ${choices.join(', ')}.`;
    }
    case 'const':
      return `${label} must be ${String(rule)}.`;
    case 'minimum':
    case 'maximum':
      return `${label} must be ${between}.`;
    case 'exclusiveMinimum':
      return `${label} must be more than ${String(rule)}.`;
    case 'exclusiveMaximum':
      return `${label} must be less than ${String(rule)}.`;
    case 'minLength':
      return Number(rule) === 1
        ? `${label} must not be empty.`
        : `${label} must have at least ${String(rule)} characters.`;
    case 'maxLength':
      return `${label} may have at most ${String(rule)} characters.`;
    case 'minItems':
      return `${label} must have at least ${String(rule)} entries.`;
    case 'maxItems':
      return `${label} may have at most ${String(rule)} entries.`;
    case 'type':
      return `${label} must be ${[params['type']]
        .flat()
        .map((type) => kinds[String(type)] ?? String(type))
        .join(' or ')}.`;
    case 'pattern':
      return `${label} does not have the expected form.`;
    default:
      return `${label} is invalid.`;
  }
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

function findLabel(schema: JsonSchema, path: readonly string[]): string {
  let at: JsonSchema | undefined = schema;
  let label = 'The settings';
  for (const name of path) {
    at = at?.properties?.[name] ?? at?.items;
    if (!/^\d+$/.test(name)) label = fieldLabel(name, at ?? {});
  }
  return label;
}
