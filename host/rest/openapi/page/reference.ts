import type { OpenApiDocument, OpenApiObject } from '#plugin-api';
import { curlCommand, exampleOf, jsonSchemaOf, listObjects } from './curl.ts';
import { fieldLine, memberLines, resolve, typeText } from './schema-lines.ts';
import type { FieldLine } from './schema-lines.ts';

/** An operation, as shown on the page. */
export interface OperationView {
  readonly id: string;
  readonly method: string;
  readonly methodKind: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly signIn: readonly string[];
  readonly parameters: readonly (FieldLine & { readonly location: string })[];
  readonly body: { readonly text: string; readonly fields: readonly FieldLine[] } | null;
  readonly responses: readonly ResponseView[];
  /** Null for webhooks, which are not called. */
  readonly curl: string | null;
  readonly trial: TrialView | null;
}

/** What "Try it" asks for before it sends a request. */
export interface TrialView {
  /** With the names of path parameters in braces. */
  readonly url: string;
  readonly fields: readonly {
    readonly id: string;
    /** The location and the name: `path.id`. */
    readonly name: string;
    readonly label: string;
    readonly isRequired: boolean;
  }[];
  /** JSON, or null if the operation takes no body. */
  readonly body: string | null;
  /** Whether a key replaces the session of the user. */
  readonly takesKey: boolean;
}

export interface ResponseView {
  readonly status: string;
  readonly kind: string;
  readonly description: string;
  readonly type: string;
  readonly fields: readonly FieldLine[];
}

/** The view of a document: its operations and its webhooks. */
export function describeReference(document: OpenApiDocument): {
  readonly operations: OperationView[];
  readonly webhooks: OperationView[];
} {
  const view = (path: string, [method, operation]: [string, OpenApiObject], isCalled: boolean): OperationView =>
    describeOperation({ document, path, method: method.toUpperCase(), operation, isCalled });
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

interface OperationSource {
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

function describeOperation({ document, path, method, operation, isCalled }: OperationSource): OperationView {
  const body = resolve(document, operation['requestBody']);
  const schema = jsonSchemaOf(body);
  const id = String(operation['operationId'] ?? `${method}-${path}`).replace(/[^\w-]+/g, '-');
  return {
    id,
    method,
    methodKind: kinds[method] ?? '',
    path,
    tag: String(listStrings(operation['tags'])[0] ?? ''),
    summary: String(operation['summary'] ?? ''),
    description: String(operation['description'] ?? ''),
    signIn: isCalled ? signInTexts(document, operation) : [],
    parameters: parameterLines(document, operation),
    body:
      operation['requestBody'] === undefined
        ? null
        : { text: String(body['description'] ?? ''), fields: memberLines({ document, schema }) },
    responses: Object.entries(resolve(document, operation['responses'])).map(([status, response]) =>
      describeResponse(document, status, resolve(document, response)),
    ),
    curl: isCalled ? curlCommand({ document, path, method, operation }) : null,
    trial: isCalled ? describeTrial({ document, path, operation }, { id, schema }) : null,
  };
}

function describeTrial(
  { document, path, operation }: Pick<OperationSource, 'document' | 'path' | 'operation'>,
  { id, schema }: { readonly id: string; readonly schema: unknown },
): TrialView {
  const parameters = parameterLines(document, operation).filter(({ location }) => /^(path|query)$/.test(location));
  const names = listObjects(operation['security']).flatMap((schemes) => Object.keys(schemes));
  return {
    url: `${document.servers[0]?.url ?? ''}${path === '/' ? '' : (path.split('#')[0] ?? '')}`,
    fields: parameters.map(({ name, location, isRequired }) => ({
      id: `${id}-${location}-${name}`,
      name: `${location}.${name}`,
      label: name,
      isRequired,
    })),
    body: schema === undefined ? null : JSON.stringify(exampleOf(document, schema), null, 2),
    takesKey: names.some((name) => document.components['securitySchemes']?.[name]?.['scheme'] === 'bearer'),
  };
}

function parameterLines(document: OpenApiDocument, operation: OpenApiObject): OperationView['parameters'] {
  return listObjects(operation['parameters']).map((given) => {
    const { name, in: location, schema, description, required } = resolve(document, given);
    return {
      ...fieldLine({
        document,
        name: String(name),
        schema,
        isRequired: required === true,
        description: description ?? '',
      }),
      location: String(location),
    };
  });
}

function describeResponse(document: OpenApiDocument, status: string, response: OpenApiObject): ResponseView {
  const schema = jsonSchemaOf(response);
  const isError = Number(status) >= 400;
  return {
    status,
    kind: isError ? 'error' : 'success',
    description: String(response['description'] ?? ''),
    type: schema === undefined || isError ? '' : typeText(document, schema),
    // All errors have the same shape, which the page explains once.
    fields: schema === undefined || isError ? [] : memberLines({ document, schema }),
  };
}

/** Describes each authentication scheme. */
function signInTexts(document: OpenApiDocument, { security }: OpenApiObject): string[] {
  const alternatives = listObjects(security).map((schemes) => Object.keys(schemes));
  if (alternatives.every((names) => names.length === 0)) return ['not required'];
  return alternatives.map((names) =>
    names.length === 0
      ? 'without signing in'
      : names.map((name) => schemeText(document.components['securitySchemes']?.[name] ?? {})).join(' and '),
  );
}

function schemeText(scheme: OpenApiObject): string {
  if (scheme['scheme'] === 'bearer') return 'a key in the Authorization header (Bearer)';
  if (scheme['scheme'] === 'basic') return 'user name and application password (Basic)';
  const locations: Readonly<Record<string, string>> = {
    cookie: 'the cookie',
    header: 'the header',
    query: 'the query parameter',
  };
  return `${locations[String(scheme['in'])] ?? 'the key'} ${String(scheme['name'])}`;
}

function listStrings(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
