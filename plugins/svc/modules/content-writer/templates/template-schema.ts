import { checkValue, fillDefaults, type JsonSchema } from '#plugin-api';
import { aiParamSchemas } from '../../../kit/ai-params.ts';
import { promptErrors } from './placeholders.ts';
import { partNames, type TemplateSettings } from './template.ts';

const text = (title: string, maxLength: number, ui: JsonSchema['ui'] = {}) =>
  ({ type: 'string', title, maxLength, default: '', ui }) as const;
export const paramsSchema = {
  type: 'object',
  properties: {
    ...aiParamSchemas,
    temperature: { ...aiParamSchemas.temperature, title: 'Temperature', ui: { short: true } },
    max_completion_tokens: { ...aiParamSchemas.max_completion_tokens, title: 'Maximum tokens', ui: { short: true } },
  },
  default: {},
  additionalProperties: false,
} as const;
const part = (name: string) =>
  ({
    type: 'object',
    default: {},
    properties: {
      enabled: { type: 'boolean', default: false },
      prompt: text('Prompt', 20_000, { rows: name === 'content' ? 8 : 4 }),
      provider: text('Provider', 100),
      model: text('Model', 200, {
        mono: true,
        placeholder: name === 'image' ? "Provider's default" : 'Same as the template',
      }),
      params: paramsSchema,
      size: {
        ...text('Size', 11, { short: true, placeholder: '1024x1024' }),
        pattern: '^([1-9][0-9]{0,4}x[1-9][0-9]{0,4})?$',
        rule: 'must have the form 1024x1024',
      },
    },
    additionalProperties: false,
  }) as const;

/** JSON Schema of a template's settings, for pages, commands and imports. */
export const templateSchema = {
  type: 'object',
  title: 'Template',
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      required: true,
      minLength: 1,
      maxLength: 100,
      pattern: '\\S',
      rule: 'must not be blank',
    },
    description: text('Description', 500),
    kind: {
      type: 'string',
      title: 'Purpose',
      enum: ['write', 'rewrite'],
      default: 'write',
      ui: { labels: { write: 'Write new texts', rewrite: 'Rewrite posts (in automations)' } },
    },
    provider: text('Provider', 100),
    model: text('Model', 200, { mono: true, placeholder: "Provider's default", list: 'content-models' }),
    system: text('Instructions for all sections', 20_000, { rows: 4 }),
    params: paramsSchema,
    parts: {
      type: 'object',
      default: {},
      properties: Object.fromEntries(partNames.map((name) => [name, part(name)])),
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

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
  const settings = fillDefaults(templateSchema, given) as TemplateSettings;
  const { errors } = checkValue(templateSchema, given);
  if (Object.keys(errors).length > 0) return { settings, errors };
  return { settings, errors: { ...promptErrors(settings), ...providerErrors(settings, providers) } };
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
