import type { OpenApiDocument, OpenApiObject } from '#plugin-api';
import { isPlainObject } from '../../schema/values.ts';
import { exampleOf } from './example.ts';
import { resolve } from './schema-lines.ts';

export interface CurlInit {
  readonly document: OpenApiDocument;
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiObject;
}

/** A command line that calls the operation, with stand-ins in capitals for what only its reader knows. */
export function curlCommand({ document, path, method, operation }: CurlInit): string {
  const parameters = listOf(operation['parameters']).map((parameter) => resolve(document, parameter));
  const lines = [`curl ${quoted(address({ document, path, parameters }))}`];
  if (method !== 'GET') lines.push(`-X ${method}`);
  lines.push(...credentials(document, operation));
  const body = jsonSchemaOf(resolve(document, operation['requestBody']));
  if (body !== undefined)
    lines.push(
      `-H 'Content-Type: application/json'`,
      `-d ${quoted(JSON.stringify(exampleOf(document, body), null, 2))}`,
    );
  return lines.join(' \\\n  ');
}

/** The schema of a JSON body or answer. */
export function jsonSchemaOf({ content }: OpenApiObject): unknown {
  const json = isPlainObject(content) ? content['application/json'] : undefined;
  return isPlainObject(json) ? json['schema'] : undefined;
}

function address({
  document,
  path,
  parameters,
}: {
  document: OpenApiDocument;
  path: string;
  parameters: readonly OpenApiObject[];
}): string {
  const place = (path.split('#')[0] ?? '').replace(/\{(\w+)\}/g, (_match, name: string) => {
    const parameter = parameters.find((candidate) => candidate['in'] === 'path' && candidate['name'] === name);
    const schema = resolve(document, parameter?.['schema']);
    return schema['enum'] !== undefined || schema['type'] === 'integer'
      ? encodeURIComponent(String(exampleOf(document, schema)))
      : name.toUpperCase();
  });
  const needed = parameters.filter((parameter) => parameter['in'] === 'query' && parameter['required'] === true);
  const query = needed
    .map(
      (parameter) =>
        `${encodeURIComponent(String(parameter['name']))}=${encodeURIComponent(queryText(exampleOf(document, parameter['schema'])))}`,
    )
    .join('&');
  return `${document.servers[0]?.url ?? ''}${place === '/' ? '' : place}${query === '' ? '' : `?${query}`}`;
}

function queryText(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** By the first way in that a command line has. */
function credentials(document: OpenApiDocument, { security }: OpenApiObject): string[] {
  const ways = listOf(security).map((way) =>
    Object.keys(way).map((name) => document.components['securitySchemes']?.[name] ?? {}),
  );
  if (ways.some((schemes) => schemes.length === 0)) return [];
  for (const [scheme] of ways.filter(({ length }) => length === 1)) {
    if (scheme?.['scheme'] === 'bearer') return [`-H 'Authorization: Bearer KEY'`];
    if (scheme?.['scheme'] === 'basic') return [`-u 'USER:APPLICATION PASSWORD'`];
    if (scheme?.['in'] === 'header') return [`-H ${quoted(`${String(scheme['name'])}: KEY`)}`];
  }
  return [];
}

export function listOf(value: unknown): OpenApiObject[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** For a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
