import { formFields, type FieldErrors, type FieldHints, type FormField, type JsonSchema } from '#plugin-api';
import type { ModelKind } from '../settings/model-lists.ts';

export interface SettingFieldsInit {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Prefix of the names: `settings` for `settings[api_key]`. */
  readonly group: string;
  /** Prefix of the ids, unique on the page. */
  readonly id: string;
  /** With secrets in plain text: the fields contain only their last characters (D3). */
  readonly saved: Readonly<Record<string, unknown>>;
  /** The entered values of a form with errors. */
  readonly typed?: Readonly<Record<string, unknown>>;
  readonly errors?: FieldErrors;
}

/** The fields of settings, each with its own schema. Fields of models offer those of the `datalist` of their kind. */
export function settingFields({ schemas, group, id, saved, typed, errors = {} }: SettingFieldsInit): FormField[] {
  const names = Object.keys(schemas);
  const values = names.map((name) => [
    name,
    schemas[name]?.writeOnly ? secretState(saved[name]) : (typed?.[name] ?? saved[name]),
  ]);
  const hints = names.flatMap((name): [string, FieldHints][] => {
    const kind = offeredModelKind(name);
    return kind === null ? [] : [[name, { list: `models-${id}-${kind}` }]];
  });
  return formFields(
    { type: 'object', properties: schemas },
    { values: Object.fromEntries(values), errors, group, id, hints: Object.fromEntries(hints) },
  );
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

/** For the script of the page: which secrets are saved now, with their last characters, by the name of the field. */
export function secretStates(fields: readonly FormField[]): Readonly<Record<string, unknown>> {
  const secrets = fields.filter(({ type }) => type === 'secret');
  return Object.fromEntries(secrets.map(({ name, saved, ending }) => [name, { saved, ending }]));
}
