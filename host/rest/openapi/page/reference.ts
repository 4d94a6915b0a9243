import type { OpenApiDocument, OpenApiObject } from '#plugin-api';
import { curlCommand, jsonSchemaOf, listOf } from './curl.ts';
import { fieldLine, memberLines, resolve, typeText } from './schema-lines.ts';
import type { FieldLine } from './schema-lines.ts';

/** An operation as the page shows it. */
export interface OperationView {
  readonly id: string;
  readonly method: string;
  readonly methodKind: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly signIn: readonly string[];
  readonly parameters: readonly (FieldLine & { readonly place: string })[];
  readonly body: { readonly text: string; readonly fields: readonly FieldLine[] } | null;
  readonly answers: readonly AnswerView[];
  /** Null for webhooks, which nobody calls. */
  readonly curl: string | null;
}

export interface AnswerView {
  readonly status: string;
  readonly kind: string;
  readonly description: string;
  readonly type: string;
  readonly fields: readonly FieldLine[];
}

/** Everything the page says of a document: its operations, then its webhooks. */
export function describeReference(document: OpenApiDocument): {
  readonly operations: OperationView[];
  readonly webhooks: OperationView[];
} {
  const view = (path: string, [method, operation]: [string, OpenApiObject], isCalled: boolean): OperationView =>
    describeOne({ document, path, method: method.toUpperCase(), operation, isCalled });
  return {
    operations: Object.entries(document.paths).flatMap(([path, item]) =>
      operationsOf(item).map((entry) => view(path, entry, true)),
    ),
    webhooks: Object.entries(document.webhooks ?? {}).flatMap(([name, item]) =>
      operationsOf(item).map((entry) => view(name, entry, false)),
    ),
  };
}

const methods = new Set(['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace']);

function operationsOf(item: Readonly<Record<string, OpenApiObject>>): [string, OpenApiObject][] {
  return Object.entries(item).filter(([name]) => methods.has(name));
}

interface One {
  readonly document: OpenApiDocument;
  readonly path: string;
  readonly method: string;
  readonly operation: OpenApiObject;
  readonly isCalled: boolean;
}

const kinds: Readonly<Record<string, string>> = {
  GET: 'info',
  POST: 'success',
  PUT: 'warning',
  PATCH: 'warning',
  DELETE: 'error',
};

function describeOne({ document, path, method, operation, isCalled }: One): OperationView {
  const body = resolve(document, operation['requestBody']);
  const schema = jsonSchemaOf(body);
  return {
    id: String(operation['operationId'] ?? `${method}-${path}`).replace(/[^\w-]+/g, '-'),
    method,
    methodKind: kinds[method] ?? '',
    path,
    tag: String(listOfText(operation['tags'])[0] ?? ''),
    summary: String(operation['summary'] ?? ''),
    description: String(operation['description'] ?? ''),
    signIn: isCalled ? signInTexts(document, operation) : [],
    parameters: parameterLines(document, operation),
    body:
      operation['requestBody'] === undefined
        ? null
        : { text: String(body['description'] ?? ''), fields: memberLines({ document, schema }) },
    answers: Object.entries(resolve(document, operation['responses'])).map(([status, answer]) =>
      describeAnswer(document, status, resolve(document, answer)),
    ),
    curl: isCalled ? curlCommand({ document, path, method, operation }) : null,
  };
}

function parameterLines(document: OpenApiDocument, operation: OpenApiObject): OperationView['parameters'] {
  return listOf(operation['parameters']).map((given) => {
    const { name, in: place, schema, description, required } = resolve(document, given);
    return {
      ...fieldLine({
        document,
        name: String(name),
        schema,
        isRequired: required === true,
        description: description ?? '',
      }),
      place: String(place),
    };
  });
}

function describeAnswer(document: OpenApiDocument, status: string, answer: OpenApiObject): AnswerView {
  const schema = jsonSchemaOf(answer);
  const isError = Number(status) >= 400;
  return {
    status,
    kind: isError ? 'error' : 'success',
    description: String(answer['description'] ?? ''),
    type: schema === undefined || isError ? '' : typeText(document, schema),
    // All errors have one shape, which the page explains once.
    fields: schema === undefined || isError ? [] : memberLines({ document, schema }),
  };
}

/** Each way in as a phrase. */
function signInTexts(document: OpenApiDocument, { security }: OpenApiObject): string[] {
  const ways = listOf(security).map((way) => Object.keys(way));
  if (ways.every((names) => names.length === 0)) return ['not needed'];
  return ways.map((names) =>
    names.length === 0
      ? 'without signing in'
      : names.map((name) => schemeText(document.components['securitySchemes']?.[name] ?? {})).join(' and '),
  );
}

function schemeText(scheme: OpenApiObject): string {
  if (scheme['scheme'] === 'bearer') return 'a key in the header Authorization: Bearer';
  if (scheme['scheme'] === 'basic') return 'user name and application password (Basic)';
  const places: Readonly<Record<string, string>> = {
    cookie: 'the cookie',
    header: 'the header',
    query: 'the query parameter',
  };
  return `${places[String(scheme['in'])] ?? 'the key'} ${String(scheme['name'])}`;
}

function listOfText(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
