import { isUrl, outboundReason, type HttpApi, type OutboundResponse } from '#plugin-api';
import { typedInternalHost } from '../../../kit/internal-host.ts';
import type { Finding } from './finding.ts';

export interface FetchedPage {
  readonly response: OutboundResponse | null;
  readonly findings: readonly Finding[];
}

/** Bytes. The policy and the snippet come well before. */
const maxPageBytes = 5_000_000;

/**
 * Parses a URL as an administrator types it, with or without `https://`.
 *
 * @returns null if it is not a URL of a page.
 */
export function parseTypedUrl(text: string): URL | null {
  const trimmed = text.trim();
  const local = /^(localhost|\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])([:/]|$)/i.test(trimmed);
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(trimmed) ? trimmed : `${local ? 'http' : 'https'}://${trimmed}`;
  if (trimmed === '' || !isUrl(whole)) return null;
  const url = new URL(whole);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '' && url.password === ''
    ? url
    : null;
}

/**
 * Fetches the page through the outbound guard (D23). An internal address may be typed; a host name that resolves to one
 * needs `allowInternal`.
 */
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
      maxBytes: maxPageBytes,
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
    return { id: 'reached', title, verdict: 'passed', text: `The page returns status ${String(status)}.` };
  const why =
    status === 401 || status === 403
      ? 'It requires a sign-in or blocks programs. Check a public page, or let this server through.'
      : status === 404
        ? 'The page does not exist. Check the URL.'
        : 'Check the site first.';
  return { id: 'reached', title, verdict: 'failed', text: `The page returns status ${String(status)}. ${why}` };
}

function redirected(requested: URL, landed: URL): Finding[] {
  if (requested.origin === landed.origin) return [];
  return [
    {
      id: 'redirect',
      title: 'Redirect to another origin',
      verdict: 'warning',
      text:
        `${requested.origin} redirects to ${landed.origin}. The chatbot runs where visitors land, ` +
        `so the checks below are about ${landed.origin}.`,
    },
  ];
}

const reasons: Readonly<Record<string, string>> = {
  outbound_dns: 'The host name was not found. Check the spelling and the DNS records of the domain.',
  outbound_connect: 'The connection failed. The site may be down, or a firewall blocks this server.',
  outbound_tls:
    'The certificate is not valid, so browsers warn visitors too. Renew it, or check a URL with a valid one.',
  outbound_timeout: 'The site did not respond within 15 seconds.',
  outbound_redirects: 'Too many redirects: more than five, or one from https to http.',
  outbound_unreadable: 'The response could not be read.',
};

function describeFetchError(error: unknown, url: URL): string {
  const { code } = error as { code?: unknown };
  const reason = typeof code === 'string' ? reasons[code] : undefined;
  if (code === 'outbound_refused')
    return (
      `${outboundReason(error) ?? ''} To check a site in your network, tick "Allow private network addresses" ` +
      'or type its IP address instead of its name.'
    );
  if (reason === undefined) throw error;
  return `${url.host}: ${reason}`;
}
