import {
  checkValue,
  fieldKind,
  fieldLabel,
  isUrl,
  readValue,
  trimTrailingSlashes,
  type JsonSchema,
  invalidFields,
  type Infer,
} from '#plugin-api';

export type FieldReading = { readonly value: unknown } | { readonly error: string };

/**
 * Reads an entered value by the schema of its setting. An empty field is undefined: the setting is not set. A value that does
 * not fit returns one sentence that says what to enter instead.
 */
export function readFieldValue(name: string, schema: JsonSchema, raw: unknown): FieldReading {
  const label = fieldLabel(name, schema);
  const value = isEmpty(raw) ? undefined : readValue(schema, raw);
  if (isEmpty(value)) return { value: undefined };
  if (typeof value === 'string' && fieldKind(schema) !== 'textarea') {
    if (isAddressField(name, schema)) return readAddress(label, value);
    if (/[\u0000-\u001f\u007f]/.test(value))
      return { error: `${label} must be a single line without control characters.` };
    if (schema.writeOnly && /\s/.test(value))
      return { error: `${label} must not contain spaces. Copy it again from your account.` };
  }
  const [error] = Object.values(checkValue(bounded(schema), value, { path: label }).errors);
  return error === undefined ? { value } : { error };
}

type Members = Readonly<Record<string, unknown>>;

/** Reads the values of all schemas and drops names without one. Settings that are not set are left out. */
export function readFieldValues(schemas: Readonly<Record<string, JsonSchema>>, given: Members) {
  const values: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const reading = readFieldValue(name, schema, Object.hasOwn(given, name) ? given[name] : undefined);
    if ('error' in reading) errors[name] = reading.error;
    else if (reading.value !== undefined) values[name] = reading.value;
    else if (schema.required === true) errors[name] = `${fieldLabel(name, schema)} is missing.`;
  }
  return { values, errors };
}

type Read<Schemas> = {
  readonly [Name in keyof Schemas as Schemas[Name] extends { readonly required: true } ? Name : never]: Infer<
    Schemas[Name]
  >;
} & { readonly [Name in keyof Schemas]?: Infer<Schemas[Name]> };

/** As `readFieldValues`. @throws RestError 400 with the invalid fields */
export function readFields<const Schemas extends Readonly<Record<string, JsonSchema>>>(
  schemas: Schemas,
  given: Members,
): Read<Schemas> {
  const { values, errors } = readFieldValues(schemas, given);
  if (Object.keys(errors).length > 0) throw invalidFields(errors);
  return values as Read<Schemas>;
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

const boundedSchemas = new WeakMap<JsonSchema, JsonSchema>();

/** No setting is longer than a page. */
function bounded(schema: JsonSchema): JsonSchema {
  const before = boundedSchemas.get(schema);
  if (before) return before;
  const isList = fieldKind(schema) === 'lines' && schema.anyOf === undefined;
  const limited: JsonSchema = {
    ...(isList ? { maxItems: 200 } : { maxLength: 2_000 }),
    ...schema,
    ...(isList && { items: { maxLength: 500, ...schema.items } }),
  };
  boundedSchemas.set(schema, limited);
  return limited;
}

/** Whether a setting is a URL. */
export function isAddressField(name: string, schema: JsonSchema): boolean {
  return schema.format === 'uri' || /(^|_)url$/.test(name);
}

function readAddress(label: string, text: string): FieldReading {
  const url = isUrl(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || !/^https?:\/\//i.test(text) || /\s/.test(text)) {
    return { error: `${label} must be an http or https URL, such as https://api.example.com.` };
  }
  if (url.username || url.password) return { error: `${label} must not contain a user name or password.` };
  if (url.search || url.hash || /[?#]/.test(text)) return { error: `${label} must not contain ? or #.` };
  return { value: trimTrailingSlashes(url.href) };
}
