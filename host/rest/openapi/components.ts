import { isDeepStrictEqual } from 'node:util';
import { isRecord, type JsonSchema, type OpenApiObject } from '#plugin-api';
import { errorHeaders, errorSchemas } from './error-responses.ts';
import { translateSchema } from './schema.ts';

/** Parts shared by operations of one document. Only referenced parts are included. */
export interface Components {
  /** The schema, or a reference to it when it has a title. */
  schema(schema: JsonSchema): OpenApiObject;
  /** A reference to a shared part. */
  refer(kind: string, name: string, part: OpenApiObject): OpenApiObject;
  all(): Record<string, Record<string, OpenApiObject>>;
}

export function createComponents(): Components {
  const kinds: Record<string, Record<string, OpenApiObject>> = {
    schemas: { ...errorSchemas },
    headers: { ...errorHeaders },
  };

  const refer = (kind: string, name: string, part: OpenApiObject): OpenApiObject => {
    const parts = (kinds[kind] ??= {});
    const found = freeName(parts, name, part);
    parts[found] = part;
    return { $ref: `#/components/${kind}/${found}` };
  };

  /** Objects with a title are shared at any depth; other schemas have titles only for forms. */
  const share = (schema: OpenApiObject): OpenApiObject => {
    const shared = eachMember(schema, share);
    const name = isRecord(schema['properties']) ? componentName(schema['title']) : '';
    return name === '' ? shared : refer('schemas', name, shared);
  };

  return {
    refer,
    schema(schema) {
      const translated = eachMember(translateSchema(schema), share);
      const name = componentName(schema.title);
      return name === '' ? translated : refer('schemas', name, translated);
    },
    all: () => kinds,
  };
}

/** Applies `change` to the schema's subschemas. */
function eachMember(schema: OpenApiObject, change: (schema: OpenApiObject) => OpenApiObject): OpenApiObject {
  const changed = (value: unknown): unknown => (isRecord(value) ? change(value) : value);
  const changers: Readonly<Record<string, (value: unknown) => unknown>> = {
    items: changed,
    additionalProperties: changed,
    properties: (value) =>
      isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, changed(member)]))
        : value,
    anyOf: (value) => (Array.isArray(value) ? value.map(changed) : value),
    oneOf: (value) => (Array.isArray(value) ? value.map(changed) : value),
  };
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, changers[keyword]?.(value) ?? value]),
  );
}

/** The name, with a numeric suffix if another part uses it. */
function freeName(parts: Readonly<Record<string, OpenApiObject>>, name: string, part: OpenApiObject): string {
  let found = name;
  for (let number = 2; parts[found] !== undefined && !isDeepStrictEqual(parts[found], part); number += 1)
    found = `${name}${number}`;
  return found;
}

/** `chat log` becomes `ChatLog`. */
function componentName(title: unknown): string {
  if (typeof title !== 'string') return '';
  return pascalCase(title);
}

export function pascalCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
