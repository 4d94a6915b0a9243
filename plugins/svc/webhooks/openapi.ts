import type { Catalogue } from './catalogue.ts';
import type { EventDefinition } from '../kit/define-event.ts';
import { schemaVersion, type Envelope } from './event.ts';

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

/** The signature as a security scheme, which deliveries have if a signing secret is set (contract 6.6). */
export const signatureScheme = {
  webhook_signature: {
    type: 'apiKey',
    in: 'header',
    name: 'X-SVC-Signature',
    description: headers['X-SVC-Signature'],
  },
} as const;

/** Builds the section `webhooks` of the OpenAPI document from the schemas that validate events. */
export function openApiWebhooks(
  catalogue: Pick<Catalogue, 'list' | 'find'>,
): Record<string, Record<string, Record<string, unknown>>> {
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
                // Events of plugins may have none.
                ...(Object.keys(example).length > 0 && { example: envelopeExample(catalogue.find(name), example) }),
              },
            },
          },
          security: [{ webhook_signature: [] }, {}],
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

/** A whole envelope, as a receiver gets it. */
function envelopeExample(event: EventDefinition | undefined, data: Envelope['data']): Envelope {
  const { name = '', module = '', origins = [], plugin = { slug: 'svc', version: '1.0.0' } } = event ?? {};
  const described = event?.describe?.(data as never) ?? null;
  return {
    id: '5f0c2a52-6c1d-4f0e-9a1f-2b9d7c1e4a10',
    type: name,
    schema_version: schemaVersion,
    occurred_at: '2026-11-20T10:00:52+00:00',
    idempotency_key: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    site: { url: 'https://example.com', name: 'Example' },
    plugin,
    source: { module, origin: origins[0] ?? module },
    ...(described !== null && {
      resource: {
        type: described.type ?? event?.resource ?? '',
        id: String(described.id),
        label: described.label ?? '',
      },
    }),
    data,
  };
}
