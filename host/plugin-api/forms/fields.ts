import { asRecord, withoutUndefined } from '../values.ts';
import type { JsonSchema } from '../schema.ts';
import type { FieldErrors } from './check.ts';
import {
  choicesOf,
  fieldKind,
  fieldLabel,
  inputId,
  inputName,
  listLeaves,
  readableName,
  typesOf,
  valueAt,
} from './paths.ts';
import type { FieldKind, Leaf } from './paths.ts';

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** Heading of this choice and of those beside it with the same heading. */
  readonly group?: string;
  /** The label is a name, which is not translated. */
  readonly isData?: boolean;
}

/** One field of a form: the values of the partial `admin/field`. */
export interface FormField {
  /** Path of the member, for example `look.theme`. */
  readonly path: string;
  /** `color`: `#rrggbb` or empty; the page has a partial for it. */
  readonly type: Exclude<FieldKind, 'lines' | 'json'>;
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly value?: unknown;
  readonly help?: string;
  readonly error?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number | 'any';
  readonly minlength?: number;
  readonly maxlength?: number;
  readonly rows?: number;
  readonly mono?: boolean;
  readonly short?: boolean;
  /** Id of a `datalist`, which replaces the browser's own suggestions. */
  readonly list?: string;
  readonly autocomplete?: 'off';
  readonly options?: readonly Choice[];
  /** Choices with a heading, below the others. */
  readonly optionGroups?: readonly { readonly label: string; readonly options: readonly Choice[] }[];
  /** For secrets: whether one is stored, and its last four characters. */
  readonly saved?: boolean;
  readonly ending?: string;
}

/** What only the page knows about a field. */
export interface FieldHints {
  readonly label?: string;
  readonly help?: string;
  readonly placeholder?: string;
  readonly list?: string;
  /** Makes the field a choice of these, or a list of texts checkboxes. A stored value that is not among them stays selectable. */
  readonly choices?: readonly Choice[];
}

export interface FormFieldsInit {
  /** The stored or the entered values. Of a secret only `{saved, ending}`, never the secret itself. */
  readonly values: unknown;
  /** By path. */
  readonly errors?: FieldErrors;
  /** Inputs are named `<group>[<member>]`. Default: only by their path. */
  readonly group?: string;
  /** Start of the ids. Default `field`. */
  readonly id?: string;
  /** By path. */
  readonly hints?: Readonly<Record<string, FieldHints>>;
  /** Of the members to show, in this order; the path of an object means all its members. Default: all. */
  readonly paths?: readonly string[];
}

/** The form of a schema: one field for each member, those of nested objects included, without `readOnly` ones. */
export function formFields(schema: JsonSchema, init: FormFieldsInit): FormField[] {
  const { values, errors = {}, group = '', id = 'field', hints = {} } = init;
  return listLeaves(schema, init.paths).map((leaf) => {
    const { path } = leaf;
    const hint = hints[path] ?? {};
    const error = fieldError(errors, path, hint.label ?? fieldLabel(path, leaf.schema));
    return {
      ...formField(leaf, { ...hint, value: valueAt(values, path), ...(error !== undefined && { error }) }),
      id: inputId(path, id),
      name: inputName(path, group),
    };
  });
}

export interface FormFieldInit extends FieldHints {
  readonly value?: unknown;
  readonly error?: string;
  readonly id?: string;
}

/**
 * The form field of one JSON Schema, for the helper `schemaField` of templates.
 *
 * @param name of the input, for example `openai[api_key]`
 */
export function schemaField(name: string, schema: JsonSchema, init: FormFieldInit = {}): FormField {
  const field = formField({ path: name, schema, required: schema.required === true }, init);
  return { ...field, id: init.id ?? inputId(name, 'field'), name };
}

function formField({ path, schema, required }: Leaf, init: FormFieldInit): Omit<FormField, 'id' | 'name'> {
  const own = fieldKind(schema);
  const kind = init.choices ? (own === 'lines' ? 'checkboxes' : 'select') : own;
  const { labels: _labels, widget: _widget, ...ui } = schema.ui ?? {};
  const help = helpOf(kind, init.help ?? schema.description);
  const example = schema.examples?.[0];
  const placeholder = init.placeholder ?? ui.placeholder ?? (example === undefined ? undefined : String(example));
  const list = init.list ?? ui.list;
  return {
    path,
    ...ui,
    ...(kind === 'json' && { mono: true, rows: 4 }),
    type: kind === 'lines' || kind === 'json' ? 'textarea' : kind,
    label: init.label ?? fieldLabel(path, schema),
    ...withoutUndefined({ help, error: init.error, placeholder }),
    ...(list !== undefined && { list, autocomplete: 'off' }),
    ...(required && kind !== 'switch' && { required }),
    ...fieldValue(kind, schema, init.value),
    ...fieldLimits(kind, schema),
    ...fieldOptions(kind, { path, schema, required }, init),
  };
}

function helpOf(kind: FieldKind, help: string | undefined): string | undefined {
  if (kind === 'lines' && !/(per|each) line/i.test(help ?? '')) return `${help ?? ''} Enter one per line.`.trim();
  return kind === 'json' ? `${help ?? ''} Enter JSON.`.trim() : help;
}

function fieldValue(
  kind: FieldKind,
  schema: JsonSchema,
  given: unknown,
): Pick<FormField, 'value' | 'saved' | 'ending'> {
  if (kind === 'secret') {
    const state = asRecord(given) as { saved?: unknown; ending?: unknown };
    return { saved: state.saved === true, ...(typeof state.ending === 'string' && { ending: state.ending }) };
  }
  const value = given ?? schema.default;
  if (kind === 'checkboxes') return { value: Array.isArray(value) ? value : [] };
  if (kind === 'json' && value !== undefined && typeof value !== 'string')
    return { value: JSON.stringify(value, null, 2) };
  if (Array.isArray(value)) return { value: value.join('\n') };
  return value === undefined || value === null ? {} : { value: typeof value === 'object' ? '' : value };
}

function fieldLimits(
  kind: FieldKind,
  schema: JsonSchema,
): Pick<FormField, 'min' | 'max' | 'step' | 'minlength' | 'maxlength'> {
  const { minimum, maximum, minLength, maxLength } = schema;
  if (kind === 'number') {
    return {
      ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { min: minimum }),
      ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { max: maximum }),
      step: schema.multipleOf ?? (typesOf(schema).includes('integer') ? 1 : 'any'),
    };
  }
  // A browser cuts pasted text off without a word, so a long text is refused with a sentence instead.
  if (kind !== 'text' || maxLength === undefined) return {};
  return { ...(minLength !== undefined && { minlength: minLength }), maxlength: maxLength };
}

function fieldOptions(
  kind: FieldKind,
  { schema, required }: Leaf,
  { choices, value }: FormFieldInit,
): Pick<FormField, 'options' | 'optionGroups'> {
  if (kind === 'checkboxes') {
    const offered = choices ?? listedChoices(schema.items ?? {}, schema.ui?.labels);
    const missing = (Array.isArray(value) ? value.map(String) : []).filter(
      (one) => choices !== undefined && !offered.some((choice) => choice.value === one),
    );
    return { options: [...offered, ...missing.map((one) => ({ value: one, label: one }))] };
  }
  if (kind !== 'select') return {};
  const listed = choices ?? listedChoices(schema);
  const isOptional = choices === undefined && !required && schema.default === undefined;
  const offered =
    isOptional && !listed.some((choice) => choice.value === '') ? [{ value: '', label: 'Default' }, ...listed] : listed;
  const stored = typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  if (choices === undefined || stored === undefined || offered.some((choice) => choice.value === stored))
    return groupChoices(offered);
  // Saving the form must not change what it shows.
  const gone = { value: stored, label: stored === '' ? 'None' : `${stored} (not available)` };
  return groupChoices([...offered, gone]);
}

function groupChoices(choices: readonly Choice[]): Pick<FormField, 'options' | 'optionGroups'> {
  const names = [...new Set(choices.map(({ group }) => group))].filter((name) => name !== undefined);
  const inGroup = (name?: string): Choice[] => choices.filter(({ group }) => group === name);
  const optionGroups = names.map((name) => ({ label: name, options: inGroup(name) }));
  return { options: inGroup(), ...(names.length > 0 && { optionGroups }) };
}

function listedChoices(schema: JsonSchema, labels = schema.ui?.labels): Choice[] {
  const titles = new Map(schema.oneOf?.map((one) => [one.const, one.title]));
  return (choicesOf(schema) ?? []).map((value) => {
    const text = String(value ?? '');
    return { value: text, label: labels?.[text] ?? titles.get(value) ?? choiceLabel(text) };
  });
}

/** `draft` -> `Draft`. Ids and names stay as they are. */
function choiceLabel(value: string): string {
  if (value === '') return 'Default';
  return /^[a-z]+([_-][a-z]+)*$/.test(value) ? readableName(value) : value;
}

/**
 * The error of a member, or of the first wrong one inside it. Sentences begin with the path, for commands; in a form the label
 * replaces it, and `Line 3` in a list.
 */
export function fieldError(errors: FieldErrors, path: string, label: string): string | undefined {
  const named =
    Object.keys(errors).find((name) => name === path) ??
    Object.keys(errors).find((name) => name.startsWith(`${path}[`) || name.startsWith(`${path}.`));
  if (named === undefined) return undefined;
  const line = Number(/^\[(\d+)\]/.exec(named.slice(path.length))?.[1]);
  const sentence = errors[named] ?? '';
  const subject = Number.isInteger(line) ? `Line ${String(line + 1)}` : label;
  return sentence.startsWith(named) ? subject + sentence.slice(named.length) : sentence;
}
