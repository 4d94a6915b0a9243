import type { ErrorObject, ValidateFunction } from 'ajv';
import { aiParamSchemas } from '../../../kit/ai-params.ts';
import { createAjv } from '../../../kit/ajv.ts';
import { promptErrors } from './placeholders.ts';
import { partNames, type PartName, type PartSettings, type TemplateSettings } from './template.ts';

const text = (maxLength: number) => ({ type: 'string', maxLength }) as const;
const params = { type: 'object', properties: aiParamSchemas, additionalProperties: false } as const;
const part = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean' },
    prompt: text(20_000),
    provider: text(100),
    model: text(200),
    params,
    size: { type: 'string', pattern: '^([1-9][0-9]{0,4}x[1-9][0-9]{0,4})?$' },
  },
  additionalProperties: false,
} as const;

/** JSON Schema of a template's settings, for commands and imports. */
export const templateSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 100, pattern: '\\S' },
    description: text(500),
    kind: { type: 'string', enum: ['write', 'rewrite'] },
    provider: text(100),
    model: text(200),
    system: text(20_000),
    params,
    parts: {
      type: 'object',
      properties: Object.fromEntries(partNames.map((name) => [name, part])),
      additionalProperties: false,
    },
  },
  required: ['name'],
  additionalProperties: false,
} as const;

const emptyPart: PartSettings = { enabled: false, prompt: '', provider: '', model: '', params: {}, size: '' };
let compiled: ValidateFunction | null = null;

export interface CheckedTemplate {
  /** With defaults filled in. Only valid if there are no errors. */
  readonly settings: TemplateSettings;
  /** Errors by path; empty if the template is valid. */
  readonly errors: Readonly<Record<string, string>>;
}

/** Validates settings: their schema, providers and placeholders. */
export function checkTemplate(
  given: unknown,
  providers: { readonly text: readonly string[]; readonly images: readonly string[] },
): CheckedTemplate {
  compiled ??= createAjv({ allErrors: true, verbose: true, strict: false, allowUnionTypes: true }).compile(
    templateSchema,
  );
  const settings = filled(given as Partial<TemplateSettings> | null);
  if (!compiled(given))
    return {
      settings,
      errors: Object.fromEntries(
        (compiled.errors ?? [])
          .map((error) => [pathOf(error), `${pathOf(error) || 'The template'} ${ruleOf(error)}.`] as const)
          .reverse(),
      ),
    };
  return { settings, errors: { ...promptErrors(settings), ...providerErrors(settings, providers) } };
}

function filled(given: Partial<TemplateSettings> | null): TemplateSettings {
  const from = typeof given === 'object' && given !== null ? given : {};
  const parts = (typeof from.parts === 'object' ? from.parts : {}) as Partial<Record<PartName, Partial<PartSettings>>>;
  return {
    name: '',
    description: '',
    kind: 'write',
    provider: '',
    model: '',
    system: '',
    params: {},
    ...from,
    parts: Object.fromEntries(partNames.map((name) => [name, { ...emptyPart, ...parts[name] }])) as Record<
      PartName,
      PartSettings
    >,
  };
}

function providerErrors(
  settings: TemplateSettings,
  { text: texts, images }: { readonly text: readonly string[]; readonly images: readonly string[] },
): Record<string, string> {
  const errors: Record<string, string> = {};
  const look = (path: string, provider: string, known: readonly string[]): void => {
    if (provider !== '' && !known.includes(provider))
      errors[path] = `${path} must be one of ${known.join(', ')}, or empty.`;
  };
  look('provider', settings.provider, texts);
  for (const name of partNames)
    look(`parts.${name}.provider`, settings.parts[name].provider, name === 'image' ? images : texts);
  return errors;
}

function pathOf({ instancePath, keyword, params: details }: ErrorObject): string {
  const path = instancePath.split('/').slice(1);
  const member: unknown =
    keyword === 'additionalProperties'
      ? details['additionalProperty']
      : keyword === 'required'
        ? details['missingProperty']
        : undefined;
  return [...path, ...(typeof member === 'string' ? [member] : [])].join('.');
}

function ruleOf({ keyword, params: details, schema, parentSchema }: ErrorObject): string {
  const { minimum, maximum, properties } = (parentSchema ?? {}) as {
    minimum?: number;
    maximum?: number;
    properties?: object;
  };
  switch (keyword) {
    case 'type':
      return `must be of type ${[details['type']].flat().join(' or ')}`;
    case 'enum':
      return `must be one of ${(schema as readonly string[]).join(', ')}`;
    case 'minimum':
    case 'maximum':
      return minimum !== undefined && maximum !== undefined
        ? `must be from ${String(minimum)} to ${String(maximum)}`
        : `must be at ${keyword === 'minimum' ? 'least' : 'most'} ${String(schema)}`;
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `may have at most ${String(schema)} characters`;
    case 'pattern':
      return schema === '\\S' ? 'must not be blank' : 'must have the form 1024x1024';
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return `is not a member. Use ${Object.keys(properties ?? {}).join(', ')}`;
    default:
      return 'is invalid';
  }
}
