import type { OpenApiObject } from '#plugin-api';
import type { Endpoint } from '../endpoint.ts';
import type { Route } from '../registry.ts';
import { answersOf } from './answers.ts';
import type { Components } from './components.ts';
import { argumentName, pathParameters, queryParameters, requestBody } from './parameters.ts';
import type { PathTemplate } from './path-template.ts';
import { securityOf } from './security.ts';

export interface OperationInit {
  readonly route: Route;
  readonly endpoint: Endpoint;
  readonly method: string;
  /** Path below the namespace. */
  readonly template: PathTemplate;
  readonly components: Components;
  /** Name of the session's cookie. */
  readonly cookie: string;
}

const withBody = new Set(['POST', 'PUT', 'PATCH']);

/** One method of one path, without its operationId. */
export function describeOperation({
  route,
  endpoint,
  method,
  template,
  components,
  cookie,
}: OperationInit): OpenApiObject {
  const { definition, bodyLimit } = endpoint;
  const inPath = new Set(template.parameters.map(argumentName));
  const args = definition.args ?? {};
  const others = Object.fromEntries(Object.entries(args).filter(([name]) => !inPath.has(name)));
  const hasBody = withBody.has(method);
  const parameters = [
    ...pathParameters(template, args),
    ...(hasBody ? [] : queryParameters(others)),
    ...everywhere(method, components),
  ];
  const body = hasBody ? requestBody(others, { bodyLimit, consumes: definition.consumes }) : null;
  const schema =
    definition.schema ?? route.endpoints.find((other) => other.definition.schema !== undefined)?.definition.schema;
  return {
    tags: [...(definition.tags ?? [defaultTag(template)])],
    summary: definition.summary ?? `${method} ${template.template}`,
    ...(definition.description !== undefined && { description: definition.description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== null && { requestBody: body }),
    responses: answersOf(
      { definition, method, schema, hasPathParameters: template.parameters.length > 0, hasBody: body !== null },
      components,
    ),
    security: securityOf(definition, components, cookie),
  };
}

/** The first fixed part of the path. */
function defaultTag({ template }: PathTemplate): string {
  return template.split('/').find((part) => part !== '' && !part.startsWith('{')) ?? 'index';
}

const globals: readonly OpenApiObject[] = [
  {
    name: '_fields',
    in: 'query',
    description: 'Only these members of the answer; a.b for members of members.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  },
  {
    name: '_embed',
    in: 'query',
    description: 'Puts linked items into the answer: all, or those of the relations named.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  },
];

/** What every GET takes. */
function everywhere(method: string, components: Components): OpenApiObject[] {
  if (method !== 'GET') return [];
  return globals.map((parameter) => components.refer('parameters', String(parameter['name']), parameter));
}
