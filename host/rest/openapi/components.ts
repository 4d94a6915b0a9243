import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema, OpenApiObject } from '#plugin-api';
import { errorHeaders, errorSchemas } from './errors.ts';
import { translateSchema } from './schema.ts';

/** What several operations of one document share; only what is referred to is in the document. */
export interface Components {
  /** The schema, or a reference to it when it has a title. */
  schema(schema: JsonSchema): OpenApiObject;
  /** A reference to a shared part. */
  refer(kind: string, name: string, part: OpenApiObject): OpenApiObject;
  all(): Record<string, Record<string, OpenApiObject>>;
}

export function createComponents(): Components {
  const kinds: Record<string, Record<string, OpenApiObject>> = { schemas: { ...errorSchemas }, headers: { ...errorHeaders } };

  const refer = (kind: string, name: string, part: OpenApiObject): OpenApiObject => {
    const parts = (kinds[kind] ??= {});
    const found = freeName(parts, name, part);
    parts[found] = part;
    return { $ref: `#/components/${kind}/${found}` };
  };

  return {
    refer,
    schema(schema) {
      const translated = translateSchema(schema);
      const name = componentName(schema.title);
      return name === '' ? translated : refer('schemas', name, translated);
    },
    all: () => kinds,
  };
}

/** The name, with a number behind it when another part has it already. */
function freeName(parts: Readonly<Record<string, OpenApiObject>>, name: string, part: OpenApiObject): string {
  let found = name;
  for (let number = 2; parts[found] !== undefined && !isDeepStrictEqual(parts[found], part); number += 1) found = `${name}${number}`;
  return found;
}

/** `chat log` becomes `ChatLog`. */
function componentName(title: unknown): string {
  if (typeof title !== 'string') return '';
  return title.split(/[^A-Za-z0-9]+/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}
