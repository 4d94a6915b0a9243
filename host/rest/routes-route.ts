import type { JsonSchema, Undo } from '#plugin-api';
import type { Rest } from './rest-contract.ts';

const argumentSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    type: { type: 'string' },
    required: { type: 'boolean' },
    description: { type: 'string' },
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
      description: 'Ways in, each enough by itself.',
      items: {
        anyOf: [{ type: 'string' }, { type: 'object', description: 'A key in the query, a header or a cookie.' }],
      },
    },
    hasPermission: { type: 'boolean', description: 'Whether it checks what the caller may do.' },
    hasAuthentication: { type: 'boolean', description: 'Whether it asks for a credential of its own.' },
  },
} as const;

const routeSchema: JsonSchema = {
  title: 'route',
  type: 'object',
  properties: {
    namespace: { type: 'string', description: 'Empty for the root.' },
    route: { type: 'string', description: 'The pattern of its path.' },
    methods: { type: 'array', items: { type: 'string' } },
    endpoints: { type: 'array', items: endpointSchema },
    showInIndex: { type: 'boolean' },
    allowsBatch: { type: 'boolean' },
  },
};

/** `GET /host/v1/routes`: every route of this process, hidden ones too, for those who may `manage_options`. */
export function addRoutesRoute(rest: Pick<Rest, 'registerRoute' | 'describe'>): Undo {
  return rest.registerRoute<{ readonly namespace?: string }>('host/v1', '/routes', {
    summary: 'Lists the routes with their methods, arguments and ways in.',
    args: { namespace: { type: 'string', description: 'Only routes of this namespace; empty for those of the root.' } },
    schema: routeSchema,
    responses: {
      200: { description: 'All routes, in order of registration.', schema: { type: 'array', items: routeSchema } },
    },
    permission: ({ user }) => user.can('manage_options'),
    handler: ({ params: { namespace } }) =>
      rest.describe().filter((route) => namespace === undefined || route.namespace === namespace),
  });
}
