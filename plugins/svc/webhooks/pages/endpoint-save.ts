import { isUrl } from '#plugin-api';
import { typedInternalHost } from '../../kit/internal-host.ts';
import { invalidFields } from '../../kit/field-errors.ts';
import type { Endpoint, EndpointInput } from '../endpoint.ts';
import type { WebhookPagesContext } from './pages-context.ts';

export interface SavedEndpoint {
  readonly endpoint: Endpoint;
  /** What an administrator should know though it was saved; null: nothing. */
  readonly warning: string | null;
}

/**
 * Adds an endpoint, or changes the one that `id` names. An address that the guard refuses is not saved, and the sentence
 * says why (D23); a name that cannot be resolved now is saved with a warning: it may be on its way.
 *
 * @throws RestError 400 with `data.params`; 404 when there is no such endpoint.
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
  // What is no address at all is refused below, with all other errors.
  const warning = isNew && isUrl(url) && /^https?:/i.test(url) ? await checkAddress(host.http, url, internal) : null;
  const endpoint = id === undefined ? await webhooks.addEndpoint(input) : await webhooks.updateEndpoint(id, input);
  return { endpoint, warning: warning ?? (isNew ? plainHttpWarning(endpoint) : null) };
}

type Check = Pick<WebhookPagesContext['host']['http'], 'check'>;

/** Answers a warning, or throws what refuses the address. */
async function checkAddress(http: Check, url: string, internal: boolean): Promise<string | null> {
  const allowHost = typedInternalHost(url);
  try {
    await http.check(url, { allowInternal: internal, ...(allowHost !== null && { allowHost }) });
    return null;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    if (code === 'outbound_dns') return `${message} Nothing can be delivered until it can.`;
    if (code !== 'outbound_refused') throw error;
    const opens = !internal && (await opensWithBox(http, url));
    throw invalidFields({
      url: opens
        ? `${message} If the receiver really is in your own network, tick “Internal network” under Advanced.`
        : message,
    });
  }
}

async function opensWithBox(http: Check, url: string): Promise<boolean> {
  return http.check(url, { allowInternal: true }).then(
    () => true,
    () => false,
  );
}

function plainHttpWarning({ url, internal }: Endpoint): string | null {
  if (!url.startsWith('http:') || internal || typedInternalHost(url) !== null) return null;
  return 'Its address is not https: events travel in plain text, and anybody on the way can read them.';
}

/** Whether an endpoint is in a private network by its own words: its box, or a private address that was typed. Asks no DNS for other names. */
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
