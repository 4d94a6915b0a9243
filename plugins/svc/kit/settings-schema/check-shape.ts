import type { ErrorObject, ValidateFunction } from 'ajv';
import { createAjv } from '../ajv.ts';
import type { SettingSchema } from './fields.ts';

/** Error sentences by the path of the member, such as `embed.allowed_domains[1]`. */
export type SettingErrors = Record<string, string>;

/** By schema object, whichever check asked first: compiling the one of chatbots takes 50 ms. */
const compiledSchemas = new WeakMap<SettingSchema, ValidateFunction>();

/** Creates a check that returns an error for every member that does not match the schema. The first call compiles the schema. */
export function createSchemaCheck(schema: SettingSchema): (settings: unknown) => SettingErrors {
  return (settings) => {
    const compiled = compiledSchemas.get(schema) ?? compileSchema(schema);
    if (compiled(settings)) return {};
    // The last of equal keys counts, so reverse the list to report the first error of a member.
    return Object.fromEntries(
      (compiled.errors ?? [])
        .map(
          (error) =>
            [
              errorPath(error),
              `${errorPath(error) || `The ${(schema.title ?? 'object').toLowerCase()}`} ${describeRule(error)}.`,
            ] as const,
        )
        .reverse(),
    );
  };
}

function compileSchema(schema: SettingSchema): ValidateFunction {
  const compiled = createAjv({
    allErrors: true,
    verbose: true,
    strict: false,
    allowUnionTypes: true,
    discriminator: true,
  }).compile(schema);
  compiledSchemas.set(schema, compiled);
  return compiled;
}

function errorPath({ instancePath, keyword, params }: ErrorObject): string {
  const steps = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const member: unknown =
    keyword === 'additionalProperties'
      ? params['additionalProperty']
      : keyword === 'required'
        ? params['missingProperty']
        : keyword === 'discriminator'
          ? params['tag']
          : undefined;
  if (typeof member === 'string') steps.push(member);
  return steps.map((step, at) => (/^\d+$/.test(step) ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');
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

function describeRule({ keyword, params, parentSchema, schema, data }: ErrorObject): string {
  const { minimum, maximum, rule, properties, oneOf } = (parentSchema ?? {}) as SettingSchema;
  switch (keyword) {
    case 'type':
      return `must be ${[params['type']]
        .flat()
        .map((type) => kinds[String(type)] ?? String(type))
        .join(' or ')}`;
    case 'enum':
      return `must be one of ${(schema as readonly string[]).join(', ')}`;
    case 'minimum':
    case 'maximum':
      return `must be from ${String(minimum)} to ${String(maximum)}`;
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `may have at most ${String(schema)} characters; it has ${String([...String(data)].length)}`;
    case 'minItems':
      return 'must have at least one entry';
    case 'maxItems':
    case 'maxProperties':
      return `may have at most ${String(schema)} entries`;
    case 'pattern':
      return rule ?? `must match ${String(schema)}`;
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

/** An error for each value that occurs earlier in the list. `member`: the member of an item that has the value. */
export function duplicateErrors(path: string, values: readonly string[], member = 'id'): SettingErrors {
  const errors: SettingErrors = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    errors[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return errors;
}

/** An error for each invalid value. `errorOf` returns the end of the sentence after the path, without the full stop, or null. */
export function listErrors(
  path: string,
  values: readonly string[],
  errorOf: (value: string) => string | null,
): SettingErrors {
  return Object.fromEntries(
    values.flatMap((value, at) => {
      const error = errorOf(value);
      return error === null ? [] : [[`${path}[${String(at)}]`, `${path}[${String(at)}] ${error}.`]];
    }),
  );
}
