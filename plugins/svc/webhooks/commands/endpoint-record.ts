import { checkValue, type JsonSchema } from '#plugin-api';
import { endpointSchema, type Endpoint, type EndpointInput } from '../endpoint.ts';

/** Members that the command line writes in another way. */
const names: Readonly<Record<string, string>> = { standardWebhooks: 'standard_webhooks', longTail: 'long_tail' };

/** An endpoint as the command line prints it. */
export function endpointRecord({
  id,
  held: _held,
  secret,
  headers,
  filter,
  ...settings
}: Endpoint): Record<string, unknown> {
  return { id, ...renamed(settings), filter: filter.trim() === '' ? null : JSON.parse(filter), secret, headers };
}

function renamed<Value>(members: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [names[name] ?? name, value]));
}

const recordSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    ...renamed<JsonSchema>(endpointSchema.properties),
    filter: { type: ['object', 'null'] },
    secret: { type: ['string', 'null'] },
    headers: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
  },
  additionalProperties: false,
} as const satisfies JsonSchema;

/**
 * The typed object as input. `secret: null` takes the endpoint's own secret away, `filter: null` its filter.
 *
 * @throws Error that names each member which is not known or not right.
 */
export function readEndpointObject(object: Readonly<Record<string, unknown>>): EndpointInput {
  const { errors } = checkValue(recordSchema, { name: '', ...object });
  if (Object.keys(errors).length > 0) throw new Error(Object.values(errors).join(' '));
  const { standard_webhooks: standardWebhooks, long_tail: longTail, secret, filter, ...rest } = object;
  return {
    ...rest,
    ...(filter !== undefined && { filter: filter === null ? '' : JSON.stringify(filter) }),
    ...(secret !== undefined && { secret: secret === null ? '' : String(secret) }),
    ...(standardWebhooks !== undefined && { standardWebhooks: standardWebhooks === true }),
    ...(longTail !== undefined && { longTail: longTail === true }),
  };
}
