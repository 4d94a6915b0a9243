import type { JsonSchema } from '#plugin-api';
import type { ModelKind } from '../settings/model-lists.ts';
import { fieldLabel, isListField } from '../settings/field-value.ts';
import type { FieldErrors } from '../kit/field-errors.ts';

/** What a template passes to the helper `schemaField`, and which models the field offers. */
export interface SchemaField {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly schema: JsonSchema;
  /** For a secret: `{saved, ending}`, never the secret itself (D3). */
  readonly value?: unknown;
  readonly error?: string;
  readonly model: ModelKind | null;
}

export interface SchemaFieldsInit {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Prefix of the names: `settings` for `settings[api_key]`. */
  readonly group: string;
  /** Prefix of the ids, unique on the page. */
  readonly id: string;
  readonly saved: Readonly<Record<string, unknown>>;
  /** The entered values of a form with errors. */
  readonly typed?: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

export function schemaFields({ schemas, group, id, saved, typed, errors }: SchemaFieldsInit): SchemaField[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const value = schema.writeOnly ? secretState(saved[name]) : (typed?.[name] ?? saved[name]);
    return {
      id: `${id}-${name}`,
      name: `${group}[${name}]`,
      label: fieldLabel(name, schema),
      schema: formSchema(schema),
      model: offeredModelKind(name),
      ...(value !== undefined && { value }),
      ...(errors?.[name] !== undefined && { error: errors[name] }),
    };
  });
}

/** The kind of models that a field offers; null if it is not a model field. */
function offeredModelKind(name: string): ModelKind | null {
  if (!/(^|_)model$/.test(name)) return null;
  return /embedding/.test(name) ? 'embedding' : /image/.test(name) ? 'image' : /video/.test(name) ? 'video' : 'text';
}

function secretState(secret: unknown): { readonly saved: boolean; readonly ending?: string } {
  if (typeof secret !== 'string' || secret === '') return { saved: false };
  return secret.length >= 12 ? { saved: true, ending: secret.slice(-4) } : { saved: true };
}

/** A list of strings is entered one per line. */
function formSchema(schema: JsonSchema): JsonSchema {
  if (!isListField(schema)) return schema;
  const { description = '' } = schema;
  const help = /per line/i.test(description) ? description : `${description} Enter one per line.`.trim();
  return { type: 'array', description: help, ...(schema.title !== undefined && { title: schema.title }) };
}
