import type { HttpApi, OutboundInit, OutboundResponse } from '#plugin-api';
import type { Finding } from './finding.ts';

export interface OwnSite {
  readonly http: HttpApi;
  /** Address of the widget's script. */
  readonly script: URL;
  /** Address of the route that the widget calls first. */
  readonly start: URL;
  /** The page's origin. */
  readonly origin: string;
}

/** Asks this site, as the visitor's browser will, from the outside: a proxy in front of it may change what it says. */
export async function checkOwnSite({ http, script, start, origin }: OwnSite): Promise<Finding[]> {
  const ask = (url: URL, init: OutboundInit): Promise<OutboundResponse | null> =>
    http
      .fetch(url.href, {
        timeout: 10_000,
        redirects: 0,
        maxBytes: 2_000_000,
        truncate: true,
        allowHost: `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`,
        ...init,
      })
      .catch(() => null);
  const preflight = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  const [file, answer] = await Promise.all([ask(script, {}), ask(start, { method: 'OPTIONS', headers: preflight })]);
  return [scriptFinding(script, file), corsFinding(start, answer, origin)];
}

function scriptFinding(script: URL, file: OutboundResponse | null): Finding {
  const finding = (verdict: Finding['verdict'], text: string): Finding => ({
    id: 'script',
    title: 'Script of the widget',
    verdict,
    text,
  });
  if (file === null)
    return finding(
      'warning',
      `This server could not reach itself at ${script.origin}. If that is the address visitors use, check that it leads here; otherwise set SITE_URL to the one they do.`,
    );
  if (file.status !== 200)
    return finding(
      'failed',
      `${script.href} answers with status ${String(file.status)}. Something in front of this site (a proxy, a firewall) keeps it from visitors, or SITE_URL is not its address.`,
    );
  if (!/javascript/i.test(file.headers['content-type'] ?? ''))
    return finding(
      'failed',
      `${script.href} answers something that is no script (${file.headers['content-type'] ?? 'no type'}). Something else answers at this address: check SITE_URL and the proxy.`,
    );
  return finding('passed', `${script.href} answers.`);
}

function corsFinding(start: URL, answer: OutboundResponse | null, origin: string): Finding {
  const finding = (verdict: Finding['verdict'], text: string): Finding => ({
    id: 'cors',
    title: 'Calls from the page (CORS)',
    verdict,
    text,
  });
  if (origin === start.origin) return finding('passed', 'The page is on this site itself: no leave is needed.');
  if (answer === null) return finding('warning', 'It could not be tried, as this server could not reach itself.');
  const allowed = answer.headers['access-control-allow-origin'];
  if (allowed === origin && answer.status < 400) return finding('passed', `This site lets ${origin} call it.`);
  if (allowed === undefined)
    return finding(
      'failed',
      `Asked by ${origin}, this site does not answer Access-Control-Allow-Origin, so browsers keep the chat from calling it. If the origin is allowed for the chatbot, a proxy in front of this site drops the header, or answers OPTIONS itself.`,
    );
  return finding(
    'failed',
    `Asked by ${origin}, this site answers Access-Control-Allow-Origin: ${allowed} with status ${String(answer.status)}. A proxy in front of it sets the header: let this site set it alone.`,
  );
}
