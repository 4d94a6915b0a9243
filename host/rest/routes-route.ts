import { argumentBounds } from '#plugin-api';
import type { JsonSchema, Undo } from '#plugin-api';
import type { Rest } from './rest-contract.ts';

const argumentSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    type: { type: 'string' },
    required: { type: 'boolean' },
    description: { type: 'string' },
    schema: { type: 'object', description: 'JSON Schema, as in the index.' },
  },
} as const;

const endpointSchema = {
  type: 'object',
  properties: {
    methods: { type: 'array', items: { type: 'string' } },
    summary: { type: ['string', 'null'] },
    args: { type: 'array', items: argumentSchema },
    security: {
      type: 'array',
      description: 'Authentication schemes; one of them suffices.',
      items: {
        anyOf: [{ type: 'string' }, { type: 'object', description: 'A key in the query, a header or a cookie.' }],
      },
    },
    hasPermission: { type: 'boolean', description: 'Whether it checks the caller’s permission.' },
    hasAuthentication: { type: 'boolean', description: 'Whether it requires its own credential.' },
  },
} as const;

const routeSchema: JsonSchema = {
  title: 'route',
  type: 'object',
  properties: {
    namespace: { type: 'string', description: 'Empty for the root.' },
    route: { type: 'string', description: 'Its path pattern.' },
    methods: { type: 'array', items: { type: 'string' } },
    endpoints: { type: 'array', items: endpointSchema },
    showInIndex: { type: 'boolean' },
    allowsBatch: { type: 'boolean' },
  },
};

/** `GET /host/v1/routes`: all routes of this process, including hidden ones. Requires `manage_options`. */
export function addRoutesRoute(rest: Pick<Rest, 'registerRoute' | 'describe'>): Undo {
  return rest.registerRoute<{ readonly namespace?: string }>('host/v1', '/routes', {
    summary: 'Lists the routes with methods, arguments and authentication.',
    args: {
      namespace: {
        type: 'string',
        ...argumentBounds.key,
        description: 'Return only routes of this namespace. Leave empty for those of the root.',
      },
    },
    schema: routeSchema,
    responses: {
      200: { description: 'All routes, in order of registration.', schema: { type: 'array', items: routeSchema } },
    },
    permission: ({ user }) => user.can('manage_options'),
    handler: ({ params: { namespace } }) =>
      rest.describe().filter((route) => namespace === undefined || route.namespace === namespace),
  });
}
