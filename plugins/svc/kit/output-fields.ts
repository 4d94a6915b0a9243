import { asRecord, type JsonSchema } from '#plugin-api';
import { foldText } from './fold-text.ts';
import { lines } from './setting-schemas.ts';

/** A field of data that a model returns, typed as a line `label | type | description`. */
interface OutputField {
  /** Its name in the data. */
  readonly id: string;
  readonly label: string;
  readonly schema: JsonSchema;
}

export const outputFieldsHelp =
  'One field per line: name | type | description, with the types text, number, yes/no, list and “choice: red, green”.';

/** The fields of a response, one per line. */
export const outputFieldsSchema = lines(
  {
    title: 'Fields of the response',
    description: `Leave empty for a text. ${outputFieldsHelp}`,
    ui: { rows: 4, mono: true, placeholder: 'Title\nPrice | number | In euros\nTags | list' },
  },
  {
    type: 'string',
    minLength: 1,
    maxLength: 500,
    pattern: '^(?=\\s*[^\\s|])[^\\u0000-\\u001f\\u007f]*$',
    rule: 'must begin with the name of the field',
  },
  30,
);

const orNull = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] });

/** Null for a type that does not exist. */
function schemaOfType(type: string): JsonSchema | null {
  const [, choices] = /^choice:(.*)$/i.exec(type) ?? [];
  if (choices !== undefined) {
    const values = [...new Set(choices.split(',').map((value) => value.trim()))].filter((value) => value !== '');
    return values.length === 0 ? null : orNull({ type: 'string', enum: values });
  }
  switch (type.toLowerCase()) {
    case '':
    case 'text':
      return { type: 'string' };
    case 'number':
      return orNull({ type: 'number' });
    case 'yes/no':
      return orNull({ type: 'boolean' });
    case 'list':
      return { type: 'array', items: { type: 'string' } };
    default:
      return null;
  }
}

function readField(line: string, index: number): OutputField | null {
  const [label = '', type = '', ...rest] = line.split('|').map((part) => part.trim());
  const schema = schemaOfType(type);
  if (schema === null) return null;
  const id = foldText(label)
    .replaceAll('ß', 'ss')
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 60);
  const description = [label, ...rest].join(': ');
  return { id: id || `field_${String(index + 1)}`, label, schema: { ...schema, description } };
}

function readFields(typed: readonly string[]): OutputField[] {
  return typed.flatMap((line, index) => readField(line, index) ?? []);
}

/** What is wrong with the lines, by their path. @param name of the setting */
export function outputFieldErrors(typed: readonly string[], name: string): Record<string, string> {
  const found: Record<string, string> = {};
  const ids = new Set<string>();
  for (const [index, line] of typed.entries()) {
    const at = `${name}[${String(index)}]`;
    const field = readField(line, index);
    if (field === null) found[at] = `${at} must have the type text, number, yes/no, list, or choice: with its choices.`;
    else if (ids.has(field.id)) found[at] = `${at} has the same name as another field.`;
    else ids.add(field.id);
  }
  return found;
}

/** The schema of the fields, for the `output` of a text. All are required; an unknown number or choice is null. */
export function outputOfFields(typed: readonly string[]): { readonly name: string; readonly schema: JsonSchema } {
  const fields = readFields(typed);
  return {
    name: 'fields',
    schema: {
      type: 'object',
      properties: Object.fromEntries(fields.map(({ id, schema }) => [id, schema])),
      required: fields.map(({ id }) => id),
      additionalProperties: false,
    },
  };
}

/** Label and text of each field. Unknown values are empty. */
function readValues(typed: readonly string[], data: unknown): { readonly label: string; readonly text: string }[] {
  const values = asRecord(data);
  return readFields(typed).map(({ id, label }) => ({ label, text: showValue(values[id]) }));
}

function showValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? '✓' : '✗';
  const texts = [value].flat().filter((one) => typeof one === 'string' || typeof one === 'number');
  return texts.join(', ');
}

/** The data as a Markdown table of two columns. The first field is its head, which Markdown requires. */
export function dataTable(typed: readonly string[], data: unknown): string {
  const cell = (text: string): string =>
    text.replace(/\s+/g, ' ').trim().replaceAll('\\', '\\\\').replaceAll('|', '\\|');
  const [head = [], ...rows] = readValues(typed, data).map(({ label, text }) => [cell(label), cell(text)]);
  const lines = [head, ['---', '---'], ...rows.map(([label = '', text = '']) => [`**${label}**`, text])];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The data in one line: `Title: Salt · Price: 2.5`. */
export function dataSentence(typed: readonly string[], data: unknown): string {
  return readValues(typed, data)
    .map(({ label, text }) => `${label}: ${text || '–'}`)
    .join(' · ');
}
