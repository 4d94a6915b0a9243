import { isUrl, type HttpApi, type OutboundResponse } from '#plugin-api';
import { typedInternalHost } from '../../../kit/internal-host.ts';
import type { Finding } from './finding.ts';

export interface FetchedPage {
  readonly response: OutboundResponse | null;
  readonly findings: readonly Finding[];
}

/** Bytes of a page that are read; a policy and the snippet stand well before. */
const longestPage = 5_000_000;

/**
 * An address as an administrator types it, with or without `https://`.
 *
 * @returns null where it is none.
 */
export function typedAddress(text: string): URL | null {
  const trimmed = text.trim();
  const local = /^(localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])([:/]|$)/i.test(trimmed);
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(trimmed) ? trimmed : `${local ? 'http' : 'https'}://${trimmed}`;
  if (trimmed === '' || !isUrl(whole)) return null;
  const url = new URL(whole);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === ''
    ? url
    : null;
}

/** Fetches the page through the guard (D23): an internal address itself may be typed, a name that leads to one needs leave. */
export async function fetchPage(
  http: HttpApi,
  url: URL,
  { allowInternal, signal }: { readonly allowInternal: boolean; readonly signal?: AbortSignal | undefined },
): Promise<FetchedPage> {
  const allowHost = typedInternalHost(url.href);
  try {
    const response = await http.fetch(url.href, {
      timeout: 15_000,
      redirects: 5,
      maxBytes: longestPage,
      truncate: true,
      allowInternal,
      headers: { accept: 'text/html,application/xhtml+xml', 'user-agent': 'Mozilla/5.0 (compatible; svc site check)' },
      ...(allowHost !== null && { allowHost }),
      ...(signal && { signal }),
    });
    return { response, findings: [reached(response), ...redirected(url, new URL(response.url))] };
  } catch (error) {
    return {
      response: null,
      findings: [{ id: 'reached', title: 'Page reached', verdict: 'failed', text: describeFetchError(error, url) }],
    };
  }
}

function reached({ status }: OutboundResponse): Finding {
  const title = 'Page reached';
  if (status < 400)
    return { id: 'reached', title, verdict: 'passed', text: `It answers with status ${String(status)}.` };
  const why =
    status === 401 || status === 403
      ? 'It asks for a sign-in or keeps programs out: check a page that everybody may see, or let this server through.'
      : status === 404
        ? 'There is no such page. Check the address.'
        : 'Check the site itself first.';
  return { id: 'reached', title, verdict: 'failed', text: `It answers with status ${String(status)}. ${why}` };
}

function redirected(asked: URL, landed: URL): Finding[] {
  if (asked.origin === landed.origin) return [];
  return [
    {
      id: 'redirect',
      title: 'Redirect to another origin',
      verdict: 'warning',
      text: `${asked.origin} sends its visitors on to ${landed.origin}. What counts for the chatbot is where they land, so everything below is about ${landed.origin}.`,
    },
  ];
}

const reasons: Readonly<Record<string, string>> = {
  outbound_dns: 'Its name could not be found. Check the spelling, and that the domain is set up.',
  outbound_connect: 'No connection could be made. The site may be down, or keep this server out by a firewall.',
  outbound_tls:
    'Its certificate is not valid, so browsers warn their visitors too. Renew it, or check an address that has one.',
  outbound_timeout: 'It did not answer within 15 seconds.',
  outbound_redirects: 'It sends its visitors on and on: more than five redirects, or one from https to http.',
  outbound_unreadable: 'Its answer could not be read.',
};

function describeFetchError(error: unknown, url: URL): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const reason = typeof code === 'string' ? reasons[code] : undefined;
  if (code === 'outbound_refused')
    return `${String(message)} To check a site of your own network, tick the box "internal network" or type its address in place of its name.`;
  if (reason === undefined) throw error;
  return `${url.host}: ${reason}`;
}
