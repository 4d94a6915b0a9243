import { isUrl, invalidFields, outboundReason } from '#plugin-api';
import { typedInternalHost } from '../../kit/internal-host.ts';
import type { Endpoint, EndpointInput } from '../endpoint.ts';
import { leavesOrigin } from '../endpoint-input.ts';
import type { WebhookPagesContext } from './pages-context.ts';

export interface SavedEndpoint {
  readonly endpoint: Endpoint;
  /** A possible problem of the saved endpoint, or null. */
  readonly warning: string | null;
}

/**
 * Adds an endpoint, or changes the one with the given `id`. A URL that the guard refuses is not saved (D23). A host name that
 * cannot be resolved now is saved with a warning.
 *
 * @throws RestError 400 with `data.params`; 404 for an unknown id.
 */
export async function saveEndpoint(
  { host, webhooks }: WebhookPagesContext,
  input: EndpointInput,
): Promise<SavedEndpoint> {
  const { id } = input;
  const before =
    id === undefined ? undefined : (await webhooks.settings()).endpoints.find((endpoint) => endpoint.id === id);
  const url = (input.url ?? before?.url ?? '').trim();
  const internal = input.internal ?? before?.internal ?? false;
  const isNew = before === undefined || url !== before.url || internal !== before.internal;
  // An invalid URL is refused below, together with all other errors.
  const warning = isNew && isUrl(url) && /^https?:/i.test(url) ? await checkAddress(host.http, url, internal) : null;
  const endpoint = id === undefined ? await webhooks.addEndpoint(input) : await webhooks.updateEndpoint(id, input);
  const warnings = [
    before === undefined ? null : droppedWarning(before, endpoint, input),
    warning ?? (isNew ? plainHttpWarning(endpoint) : null),
    endpoint.events.length === 0 ? 'It receives nothing until you choose an event.' : null,
  ].filter((text) => text !== null);
  return { endpoint, warning: warnings.length === 0 ? null : warnings.join(' ') };
}

/** Which saved secrets were removed because the URL has another origin (D35), or null. */
function droppedWarning(before: Endpoint, after: Endpoint, input: EndpointInput): string | null {
  if (!leavesOrigin(before, after.url)) return null;
  const headers = Object.keys(before.headers).filter((name) => !(name in (input.headers ?? {})));
  const dropped = [...(before.secret !== null && input.secret === undefined ? ['the signing secret'] : []), ...headers];
  if (dropped.length === 0) return null;
  return `The URL now leads to another origin, so saved values were removed: ${dropped.join(', ')}. Enter them again.`;
}

type Check = Pick<WebhookPagesContext['host']['http'], 'check'>;

/** Returns a warning or null. @throws if the guard refuses the URL. */
async function checkAddress(http: Check, url: string, internal: boolean): Promise<string | null> {
  const allowHost = typedInternalHost(url);
  try {
    await http.check(url, { allowInternal: internal, ...(allowHost !== null && { allowHost }) });
    return null;
  } catch (error) {
    const { code } = error as { readonly code?: string };
    const message = outboundReason(error) ?? '';
    if (code === 'outbound_dns') return `${message} Nothing can be delivered until then.`;
    if (code !== 'outbound_refused') throw error;
    const opens = !internal && (await isAllowedAsPrivate(http, url));
    throw invalidFields({
      url: opens
        ? `${message} If the receiver is in your own network, turn on “Allow private addresses” under Advanced.`
        : message,
    });
  }
}

async function isAllowedAsPrivate(http: Check, url: string): Promise<boolean> {
  return http.check(url, { allowInternal: true }).then(
    () => true,
    () => false,
  );
}

function plainHttpWarning({ url, internal }: Endpoint): string | null {
  if (!url.startsWith('http:') || internal || typedInternalHost(url) !== null) return null;
  return 'The URL does not use https: events are sent unencrypted and can be read in transit.';
}

/** Whether the endpoint allows private addresses or its URL is a private address. Makes no DNS query for other names. */
export async function isInternal(http: Check, { url, internal }: Pick<Endpoint, 'url' | 'internal'>): Promise<boolean> {
  if (internal) return true;
  return (
    typedInternalHost(url) !== null &&
    http.check(url).then(
      () => false,
      () => true,
    )
  );
}
