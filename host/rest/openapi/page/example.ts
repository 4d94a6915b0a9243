import type { OpenApiDocument, OpenApiObject } from '#plugin-api';
import { isPlainObject } from '../../schema/values.ts';
import { resolve } from './schema-lines.ts';

/** Deeper values are left empty. */
const deepest = 5;

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-11-20T10:00:00',
  date: '2026-11-20',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  ip: '192.0.2.1',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  'hex-color': '#336699',
};

/** A value that fits the schema well enough to start from; of objects the members that must be there, or all when none must. */
export function exampleOf(document: OpenApiDocument, given: unknown, depth = 0): unknown {
  const schema = resolve(document, given);
  const [named] = Array.isArray(schema['examples']) ? (schema['examples'] as unknown[]) : [];
  const fixed =
    named ??
    schema['const'] ??
    schema['default'] ??
    (Array.isArray(schema['enum']) ? (schema['enum'] as unknown[])[0] : undefined);
  if (fixed !== undefined) return fixed;
  const [choice] = [schema['anyOf'] ?? schema['oneOf']].flat();
  if (choice !== undefined) return exampleOf(document, choice, depth);
  const type = [schema['type']].flat()[0];
  if (type === 'object') return depth >= deepest ? {} : exampleObject(document, schema, depth);
  if (type === 'array')
    return depth >= deepest || schema['items'] === undefined ? [] : [exampleOf(document, schema['items'], depth + 1)];
  return exampleScalar(type, schema);
}

function exampleObject(
  document: OpenApiDocument,
  { properties, required }: OpenApiObject,
  depth: number,
): OpenApiObject {
  if (!isPlainObject(properties)) return {};
  const needed = Array.isArray(required) && required.length > 0 ? (required as unknown[]) : Object.keys(properties);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => needed.includes(name))
      .map(([name, member]) => [name, exampleOf(document, member, depth + 1)]),
  );
}

function exampleScalar(type: unknown, { minimum, exclusiveMinimum, format }: OpenApiObject): unknown {
  if (type === 'integer' || type === 'number')
    return typeof minimum === 'number' ? minimum : typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : 1;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  return (typeof format === 'string' ? formats[format] : undefined) ?? 'text';
}
