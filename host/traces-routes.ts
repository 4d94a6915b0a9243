import { argumentBounds, requireFound, type RestApi } from '#plugin-api';
import type { Tracer } from './tracer.ts';

const summary = {
  id: { type: 'string', description: 'The id of the request.' },
  name: { type: 'string', description: 'Method and path.' },
  startedAt: { type: 'integer', description: 'Milliseconds since 1970.' },
  duration: { type: 'number', description: 'Milliseconds.' },
  explained: { type: 'number', description: 'Percent of the duration that spans cover.' },
  isCut: { type: 'boolean', description: 'Whether there were more spans than are stored.' },
} as const;

const spanSchema = {
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['step', 'handler', 'hook', 'query', 'outbound', 'render'] },
    name: { type: 'string' },
    owner: { type: ['string', 'null'], description: 'The plugin whose callback ran.' },
    start: { type: 'number', description: 'Milliseconds since the request began.' },
    duration: { type: 'number', description: 'Milliseconds.' },
    parent: { type: ['integer', 'null'], description: 'Index of the enclosing span.' },
  },
} as const;

/** `GET /host/v1/traces` and `/host/v1/traces/{id}`: the traced requests of this process. Requires `manage_options`. */
export function addTracesRoutes(rest: RestApi, { tracer }: { readonly tracer: Pick<Tracer, 'list'> }): void {
  rest.registerRoute('host/v1', '/traces', {
    summary: 'Lists the last traced requests of this process, newest first.',
    schema: { title: 'trace-summary', type: 'object', properties: summary },
    permission: ({ user }) => user.can('manage_options'),
    handler: () => tracer.list().map(({ spans: _left, ...trace }) => trace),
  });
  rest.registerRoute('host/v1', '/traces/{id}', {
    summary: 'Returns a traced request with its spans.',
    args: { id: { type: 'string', ...argumentBounds.key, required: true } },
    schema: {
      title: 'trace',
      type: 'object',
      properties: { ...summary, spans: { type: 'array', items: spanSchema } },
    },
    permission: ({ user }) => user.can('manage_options'),
    handler: ({ params }) =>
      requireFound(
        tracer.list().find(({ id }) => id === params.id),
        {
          code: 'host_trace_not_found',
          message: 'This process has no trace with that id any more. It stores the last 50.',
          status: 404,
        },
      ),
  });
}
