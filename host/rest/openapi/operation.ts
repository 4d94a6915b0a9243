import type { OpenApiObject, RouteDefinition, RouteSecurity } from '#plugin-api';
import type { Endpoint } from '../endpoint.ts';
import type { Route } from '../registry.ts';
import { describeResponses } from './responses.ts';
import type { Components } from './components.ts';
import { argumentName, pathParameters, queryParameters, requestBody } from './parameters.ts';
import type { PathTemplate } from './path-template.ts';
import { authSchemesOf } from '../auth-schemes.ts';

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
  const { definition } = endpoint;
  const bodyLimit = endpoint.bodyLimit(definition.consumes === undefined ? 'json' : 'other', true);
  const inPath = new Set(template.parameters.map(argumentName));
  const args = definition.args ?? {};
  const others = Object.fromEntries(Object.entries(args).filter(([name]) => !inPath.has(name)));
  const hasBody = withBody.has(method);
  const parameters = [
    ...pathParameters(template, args),
    ...(hasBody ? [] : queryParameters(others)),
    ...globalParameters(method, components),
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
    responses: describeResponses(
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

const getParameters: readonly OpenApiObject[] = [
  {
    name: '_fields',
    in: 'query',
    description: 'Return only these members. Use a.b for nested members.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  },
  {
    name: '_embed',
    in: 'query',
    description: 'Embed linked items in the response: all, or only these relations.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string' } },
  },
];

/** Parameters of every GET. */
function globalParameters(method: string, components: Components): OpenApiObject[] {
  if (method !== 'GET') return [];
  return getParameters.map((parameter) => components.refer('parameters', String(parameter['name']), parameter));
}

type Declared = Pick<RouteDefinition, 'security' | 'authenticate' | 'permission'>;

/** OpenAPI's list of alternative requirements; the schemes go into the components. */
function securityOf(definition: Declared, components: Components, cookie: string): OpenApiObject[] {
  return authSchemesOf(definition).map((scheme) =>
    Object.fromEntries(
      securitySchemes(scheme, cookie).map(([name, definition]) => {
        components.refer('securitySchemes', name, definition);
        return [name, []];
      }),
    ),
  );
}

/** Schemes that a caller needs in combination. */
function securitySchemes(scheme: RouteSecurity, cookie: string): [string, OpenApiObject][] {
  if (typeof scheme === 'object')
    return [[`${scheme.in}_${scheme.name.replace(/[^\w.-]/g, '_')}`, { type: 'apiKey', ...scheme }]];
  switch (scheme) {
    case 'none':
      return [];
    case 'session':
      return [
        [
          'session',
          {
            type: 'apiKey',
            in: 'cookie',
            name: cookie,
            description: 'Session cookie of a signed-in browser. Requires the nonce.',
          },
        ],
        [
          'nonce',
          {
            type: 'apiKey',
            in: 'header',
            name: 'X-WP-Nonce',
            description: 'Nonce of the action wp_rest. Responses contain a new one.',
          },
        ],
      ];
    case 'application_password':
      return [
        ['application_password', { type: 'http', scheme: 'basic', description: 'User name and application password.' }],
      ];
    case 'bearer':
      return [['bearer', { type: 'http', scheme: 'bearer', description: 'A key in the header Authorization.' }]];
  }
}
