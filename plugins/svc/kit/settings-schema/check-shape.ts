import type { ErrorObject, ValidateFunction } from 'ajv';
import { createAjv } from '../ajv.ts';
import type { SettingSchema } from './fields.ts';

/** Sentences by the path of the member they tell of, such as `embed.allowed_domains[1]`. */
export type SettingErrors = Record<string, string>;

/** Answers every member of settings that their schema refuses, by a check that is compiled by its first use. */
export function createShapeCheck(schema: SettingSchema): (settings: unknown) => SettingErrors {
  let compiled: ValidateFunction | null = null;
  return (settings) => {
    compiled ??= createAjv({
      allErrors: true,
      verbose: true,
      strict: false,
      allowUnionTypes: true,
      discriminator: true,
    }).compile(schema);
    if (compiled(settings)) return {};
    // The last of equal keys counts, and the first error of a member is the one to be told.
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

function errorPath({ instancePath, keyword, params }: ErrorObject): string {
  const places = instancePath
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
  if (typeof member === 'string') places.push(member);
  return places.map((place, at) => (/^\d+$/.test(place) ? `[${place}]` : at === 0 ? place : `.${place}`)).join('');
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
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
      return 'must hold at least one';
    case 'maxItems':
    case 'maxProperties':
      return `may hold at most ${String(schema)}`;
    case 'pattern':
      return rule ?? `must fit ${String(schema)}`;
    case 'required':
      return 'is missing';
    case 'discriminator':
      return `must be one of ${(oneOf ?? []).map((one) => String(one.properties?.['type']?.const)).join(', ')}`;
    case 'additionalProperties':
      return `is not known; there are ${Object.keys(properties ?? {}).join(', ')}`;
    default:
      return 'is not right';
  }
}

/** An error for each value that was there before in the list. `member`: what of an item the value is. */
export function duplicateErrors(path: string, values: readonly string[], member = 'id'): SettingErrors {
  const errors: SettingErrors = {};
  values.forEach((value, at) => {
    if (values.indexOf(value) === at) return;
    const here = `${path}[${String(at)}].${member}`;
    errors[here] = `${here} is the same as that of ${path}[${String(values.indexOf(value))}].`;
  });
  return errors;
}

/** An error for each value that is not right. `errorOf` answers what goes on after its path, without the full stop; null: it is right. */
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
