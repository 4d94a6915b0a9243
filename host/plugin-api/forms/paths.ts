import type { JsonSchema } from '../schema.ts';

export type Members = Readonly<Record<string, unknown>>;

const stepsOf = (path: string): string[] => path.split(/[.[\]]+/).filter((step) => step !== '');

/** Name of the input of a member: `source.url` below `settings` -> `settings[source][url]`. */
export function inputName(path: string, group = ''): string {
  const [head = '', ...rest] = [...stepsOf(group), ...stepsOf(path)];
  return head + rest.map((step) => `[${step}]`).join('');
}

/** Id of the input of a member: `look.theme` with the prefix `bot` -> `bot-look-theme`. */
export function inputId(path: string, prefix: string): string {
  return [prefix, ...stepsOf(path)].join('-');
}

/** The member at a path such as `source.url` or `rules[2].name`; undefined if there is none. */
export function valueAt(values: unknown, path: string): unknown {
  return stepsOf(path).reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, step) ? (value as Members)[step] : undefined,
    values,
  );
}

/** Sets the member at a path and creates missing objects. */
export function putAt(values: Record<string, unknown>, [step = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    values[step] = value;
    return;
  }
  const inner = (values[step] ?? {}) as Record<string, unknown>;
  values[step] = inner;
  putAt(inner, rest, value);
}

/** A member with one field. */
export interface Leaf {
  readonly path: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/**
 * The editable members of a schema in their order, those of nested objects included, without those that are `readOnly`.
 *
 * @param paths of members, instead of all; the path of an object means all its members
 */
export function listLeaves(schema: JsonSchema, paths?: readonly string[]): Leaf[] {
  if (paths === undefined) return leavesBelow({ path: '', schema, required: false });
  return paths.flatMap((path) => leavesBelow(leafAt(schema, path)));
}

function leavesBelow(leaf: Leaf): Leaf[] {
  const { path, schema } = leaf;
  if (schema.readOnly === true) return [];
  if (!schema.properties) return path === '' ? [] : [leaf];
  return Object.keys(schema.properties).flatMap((name) =>
    leavesBelow({ ...leafAt(schema, name), path: path === '' ? name : `${path}.${name}` }),
  );
}

function leafAt(schema: JsonSchema, path: string): Leaf {
  const start: Leaf = { path, schema, required: false };
  return stepsOf(path).reduce<Leaf>(({ schema: parent }, step) => {
    const others = typeof parent.additionalProperties === 'object' ? parent.additionalProperties : {};
    const member = parent.properties?.[step] ?? parent.items ?? others;
    const listed = Array.isArray(parent.required) && (parent.required as readonly string[]).includes(step);
    return { path, schema: member, required: listed || member.required === true };
  }, start);
}

/** The label of a member: its title, otherwise its name with spaces. */
export function fieldLabel(path: string, schema: JsonSchema): string {
  return schema.title ?? readableName(stepsOf(path).at(-1) ?? path);
}

/** `api_key` -> `Api key`. */
export function readableName(name: string): string {
  const text = name.replace(/[_-]+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export type FieldKind =
  | 'secret'
  | 'select'
  | 'switch'
  | 'number'
  | 'checkboxes'
  | 'lines'
  | 'json'
  | 'textarea'
  | 'color'
  | 'url'
  | 'email'
  | 'text';

/** How a form shows and reads a member. */
export function fieldKind(schema: JsonSchema): FieldKind {
  if (schema.writeOnly) return 'secret';
  if (choicesOf(schema)) return 'select';
  const types = typesOf(schema);
  if (types.includes('boolean')) return 'switch';
  if (types.includes('array') || schema.anyOf?.some(({ type }) => type === 'array')) return listKind(schema);
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('object')) return 'json';
  return textKind(schema);
}

function listKind({ items }: JsonSchema): FieldKind {
  if (items?.enum) return 'checkboxes';
  return items?.type === undefined || [items.type].flat().includes('string') ? 'lines' : 'json';
}

function textKind({ format, ui }: JsonSchema): FieldKind {
  if (ui?.widget !== undefined) return ui.widget;
  if (ui?.rows !== undefined || format === 'textarea-field') return 'textarea';
  if (format === 'uri') return 'url';
  return format === 'email' ? 'email' : 'text';
}

export function typesOf({ type }: JsonSchema): readonly string[] {
  return type === undefined ? [] : [type].flat();
}

/** The values that a schema lists; undefined if it lists none. */
export function choicesOf({ enum: values, oneOf }: JsonSchema): readonly unknown[] | undefined {
  return values ?? (oneOf?.every((one) => 'const' in one) === true ? oneOf.map((one) => one.const) : undefined);
}
