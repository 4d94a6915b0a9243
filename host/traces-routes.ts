import { argumentBounds, requireFound, type RestApi, type RouteDefinition } from '#plugin-api';
import { toOtlp } from './open-telemetry.ts';
import type { Trace, Tracer } from './tracer.ts';

const summary = {
  id: { type: 'string', description: 'The id of the request.' },
  kind: { type: 'string', enum: ['request', 'background'], description: 'background: a job or a cron event.' },
  traceId: { type: 'string', description: 'As in the header traceparent, and that of the caller if it sent one.' },
  spanId: { type: 'string', description: 'Of the whole trace, above its spans.' },
  parentSpanId: { type: ['string', 'null'], description: 'The span of the caller.' },
  name: { type: 'string', description: 'Method and path, or what ran.' },
  startedAt: { type: 'integer', description: 'Milliseconds since 1970.' },
  duration: { type: 'number', description: 'Milliseconds.' },
  explained: { type: 'number', description: 'Percent of the duration that spans cover.' },
  isCut: { type: 'boolean', description: 'Whether there were more spans than are stored.' },
} as const;

const spanSchema = {
  type: 'object',
  properties: {
    kind: { type: 'string', enum: ['step', 'handler', 'hook', 'query', 'outbound', 'render', 'call'] },
    name: { type: 'string' },
    owner: { type: ['string', 'null'], description: 'The plugin whose callback ran.' },
    start: { type: 'number', description: 'Milliseconds since the request began.' },
    duration: { type: 'number', description: 'Milliseconds.' },
    parent: { type: ['integer', 'null'], description: 'Index of the enclosing span.' },
    attributes: { type: 'object', additionalProperties: true, description: 'What a plugin said of its part.' },
    spanId: { type: 'string', description: 'As in the header traceparent of outbound requests.' },
  },
} as const;

/**
 * `GET /host/v1/traces`, `/host/v1/traces/{id}` and `/host/v1/traces/{id}/otlp`: what was traced in this process. They require
 * `manage_options`.
 */
export function addTracesRoutes(
  rest: RestApi,
  { tracer, site }: { readonly tracer: Pick<Tracer, 'list'>; readonly site: { readonly version: string } },
): void {
  const find = (wanted: unknown): Trace =>
    requireFound(
      tracer.list().find(({ id }) => id === wanted),
      {
        code: 'host_trace_not_found',
        message: 'This process has no trace with that id any more. It stores the last 50.',
        status: 404,
      },
    );
  const args = { id: { type: 'string', ...argumentBounds.key, required: true } } as const;
  const permission: RouteDefinition['permission'] = ({ user }) => user.can('manage_options');
  rest.registerRoute('host/v1', '/traces', {
    summary: 'Lists the last traced requests and jobs of this process, newest first.',
    schema: { title: 'trace-summary', type: 'object', properties: summary },
    permission,
    handler: () => tracer.list().map(({ spans: _left, ...trace }) => trace),
  });
  rest.registerRoute('host/v1', '/traces/{id}', {
    ...{ summary: 'Returns a traced request or job with its spans.', args, permission },
    schema: {
      title: 'trace',
      type: 'object',
      properties: { ...summary, spans: { type: 'array', items: spanSchema } },
    },
    handler: ({ params }) => find(params.id),
  });
  rest.registerRoute('host/v1', '/traces/{id}/otlp', {
    ...{ summary: 'Returns a trace as OpenTelemetry spans (OTLP in JSON), for a collector.', args, permission },
    schema: {
      title: 'trace-otlp',
      type: 'object',
      properties: { resourceSpans: { type: 'array', items: { type: 'object' } } },
    },
    handler: ({ params }) => toOtlp(find(params.id), site),
  });
}
