import { isRecord, type OpenApiDocument, type OpenApiObject } from '#plugin-api';
import { resolve } from './schema-lines.ts';

/** Deeper values are empty. */
const maxDepth = 5;

const formats: Readonly<Record<string, string>> = {
  'date-time': '2026-11-20T10:00:00',
  date: '2026-11-20',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  ip: '192.0.2.1',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
  'hex-color': '#336699',
};

/** A plausible value for the schema. Objects get their required members, or all members when none is required. */
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
  if (type === 'object') return depth >= maxDepth ? {} : exampleObject(document, schema, depth);
  if (type === 'array')
    return depth >= maxDepth || schema['items'] === undefined ? [] : [exampleOf(document, schema['items'], depth + 1)];
  return exampleScalar(type, schema);
}

function exampleObject(
  document: OpenApiDocument,
  { properties, required }: OpenApiObject,
  depth: number,
): OpenApiObject {
  if (!isRecord(properties)) return {};
  const names = Array.isArray(required) && required.length > 0 ? (required as unknown[]) : Object.keys(properties);
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => names.includes(name))
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

export interface CurlInit {
  readonly document: OpenApiDocument;
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiObject;
}

/** A curl command that calls the operation, with placeholders in capitals for credentials and ids. */
export function curlCommand({ document, path, method, operation }: CurlInit): string {
  const parameters = listObjects(operation['parameters']).map((parameter) => resolve(document, parameter));
  const lines = [`curl ${shellQuote(buildUrl({ document, path, parameters }))}`];
  if (method !== 'GET') lines.push(`-X ${method}`);
  lines.push(...credentials(document, operation));
  const body = jsonSchemaOf(resolve(document, operation['requestBody']));
  if (body !== undefined)
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d ${shellQuote(JSON.stringify(exampleOf(document, body), null, 2))}`,
    );
  return lines.join(' \\\n  ');
}

/** The schema of a JSON body or response. */
export function jsonSchemaOf({ content }: OpenApiObject): unknown {
  const json = isRecord(content) ? content['application/json'] : undefined;
  return isRecord(json) ? json['schema'] : undefined;
}

function buildUrl({
  document,
  path,
  parameters,
}: {
  document: OpenApiDocument;
  path: string;
  parameters: readonly OpenApiObject[];
}): string {
  const pathname = (path.split('#')[0] ?? '').replace(/\{(\w+)\}/g, (_match, name: string) => {
    const parameter = parameters.find((candidate) => candidate['in'] === 'path' && candidate['name'] === name);
    const schema = resolve(document, parameter?.['schema']);
    return schema['enum'] !== undefined || schema['type'] === 'integer'
      ? encodeURIComponent(String(exampleOf(document, schema)))
      : name.toUpperCase();
  });
  const required = parameters.filter((parameter) => parameter['in'] === 'query' && parameter['required'] === true);
  const query = required
    .map(
      (parameter) =>
        `${encodeURIComponent(String(parameter['name']))}=${encodeURIComponent(queryText(exampleOf(document, parameter['schema'])))}`,
    )
    .join('&');
  return `${document.servers[0]?.url ?? ''}${pathname === '/' ? '' : pathname}${query === '' ? '' : `?${query}`}`;
}

function queryText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Arguments for the first scheme that curl supports. */
function credentials(document: OpenApiDocument, { security }: OpenApiObject): string[] {
  const alternatives = listObjects(security).map((schemes) =>
    Object.keys(schemes).map((name) => document.components['securitySchemes']?.[name] ?? {}),
  );
  if (alternatives.some((schemes) => schemes.length === 0)) return [];
  for (const [scheme] of alternatives.filter(({ length }) => length === 1)) {
    if (scheme?.['scheme'] === 'bearer') return [`-H 'Authorization: Bearer KEY'`];
    if (scheme?.['scheme'] === 'basic') return [`-u 'USER:APPLICATION PASSWORD'`];
    if (scheme?.['in'] === 'header') return [`-H ${shellQuote(`${String(scheme['name'])}: KEY`)}`];
  }
  return [];
}

export function listObjects(value: unknown): OpenApiObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Quotes for a POSIX shell. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
