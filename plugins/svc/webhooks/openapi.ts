import type { Catalogue } from './catalogue.ts';
import { schemaVersion } from './event.ts';

const text = { type: 'string' } as const;

/** Headers of every delivery (contract 6.3) with their meaning. */
const headers = {
  'X-SVC-Event': 'Event name.',
  'X-SVC-Event-Id': 'Unique identifier of the event envelope.',
  'X-SVC-Delivery-Id': 'Unique identifier of the delivery to this endpoint, the same for all attempts.',
  'X-SVC-Idempotency-Key': 'Stable key for de-duplicating repeated deliveries.',
  'X-SVC-Schema-Version': `Event schema version; current value ${schemaVersion}.`,
  'X-SVC-Timestamp': 'Unix timestamp used in the signature.',
  'X-SVC-Signature': 'sha256=<hex> of timestamp, period and body; only when a signing secret is set.',
  'X-SVC-Signature-Alg': 'sha256; only when a signing secret is set.',
};

/** Builds the section `webhooks` of the OpenAPI document from the schemas that validate events. */
export function openApiWebhooks(catalogue: Catalogue): Record<string, Record<string, Record<string, unknown>>> {
  return Object.fromEntries(
    catalogue.list().map(({ name, module, description, schema, example }) => [
      name,
      {
        post: {
          operationId: `event_${name.replaceAll('.', '_')}`,
          tags: [module],
          summary: description,
          parameters: Object.entries(headers).map(([header, meaning]) => ({
            name: header,
            in: 'header',
            required: !header.includes('Signature'),
            description: meaning,
            schema: text,
          })),
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: envelopeSchema(name, schema),
                example: { type: name, schema_version: schemaVersion, data: example },
              },
            },
          },
          responses: { '2XX': { description: 'Accepted. The body is not interpreted.' } },
        },
      },
    ]),
  );
}

/** Contract 6.4. */
function envelopeSchema(name: string, data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const object = (properties: Record<string, unknown>): Record<string, unknown> => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
  });
  return {
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid' },
      type: { const: name },
      schema_version: text,
      occurred_at: { type: 'string', format: 'date-time' },
      idempotency_key: text,
      site: object({ url: text, name: text }),
      plugin: object({ slug: text, version: text }),
      source: object({ module: text, origin: text }),
      resource: object({ type: text, id: text, label: text }),
      data,
      meta: { type: 'object' },
    },
    required: ['id', 'type', 'schema_version', 'occurred_at', 'idempotency_key', 'site', 'plugin', 'source', 'data'],
  };
}
