import type { Endpoint, EndpointInput } from '../endpoint.ts';

/** An endpoint as the command line prints it. */
export function endpointRecord({
  id,
  name,
  url,
  enabled,
  events,
  internal,
  secret,
  headers,
  standardWebhooks,
  redirects,
  longTail,
  ordered,
}: Endpoint): Record<string, unknown> {
  return {
    id,
    name,
    url,
    enabled,
    events,
    internal,
    secret,
    headers,
    standard_webhooks: standardWebhooks,
    redirects,
    long_tail: longTail,
    ordered,
  };
}

/** Members of an endpoint in JSON and how to check them. */
const members: Readonly<Record<string, (value: unknown) => boolean>> = {
  id: isText,
  name: isText,
  url: isText,
  enabled: isFlag,
  events: (value) => Array.isArray(value) && value.every(isText),
  internal: isFlag,
  secret: (value) => isText(value) || value === null,
  headers: (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => isText(one) || one === null),
  standard_webhooks: isFlag,
  redirects: (value) => typeof value === 'number',
  long_tail: isFlag,
  ordered: isFlag,
};

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
}

/**
 * The typed object as input. `secret: null` takes the endpoint's own secret away.
 *
 * @throws Error that names a member which is not known or not right.
 */
export function readEndpointObject(object: Readonly<Record<string, unknown>>): EndpointInput {
  for (const [name, value] of Object.entries(object)) {
    const fits = Object.hasOwn(members, name) ? members[name] : undefined;
    if (!fits) throw new Error(`An endpoint has no member "${name}". Use ${Object.keys(members).join(', ')}.`);
    if (!fits(value)) throw new Error(`"${name}" of the endpoint is invalid: ${JSON.stringify(value)}.`);
  }
  const { standard_webhooks: standardWebhooks, long_tail: longTail, secret, ...rest } = object;
  return {
    ...rest,
    ...(secret !== undefined && { secret: secret === null ? '' : String(secret) }),
    ...(standardWebhooks !== undefined && { standardWebhooks: standardWebhooks === true }),
    ...(longTail !== undefined && { longTail: longTail === true }),
  };
}
