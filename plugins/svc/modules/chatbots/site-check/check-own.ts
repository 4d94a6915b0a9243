import type { HttpApi, OutboundInit, OutboundResponse } from '#plugin-api';
import { createFinding, type Finding } from './finding.ts';

export interface OwnSite {
  readonly http: HttpApi;
  /** URL of the widget's script. */
  readonly script: URL;
  /** URL of the route that the widget calls first. */
  readonly start: URL;
  /** The page's origin. */
  readonly origin: string;
}

/** Requests this site over its public URL, as the visitor's browser does, because a proxy may change the response. */
export async function checkOwnSite({ http, script, start, origin }: OwnSite): Promise<Finding[]> {
  const request = (url: URL, init: OutboundInit): Promise<OutboundResponse | null> =>
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
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  const [file, preflightResponse] = await Promise.all([
    request(script, {}),
    request(start, { method: 'OPTIONS', headers }),
  ]);
  return [scriptFinding(script, file), corsFinding(start, preflightResponse, origin)];
}

function scriptFinding(script: URL, file: OutboundResponse | null): Finding {
  const finding = createFinding('script', 'Widget script');
  if (file === null)
    return finding(
      'warning',
      `This server could not reach itself at ${script.origin}. If visitors use this URL, check that it leads to this ` +
        'server. Otherwise set SITE_URL to the URL they use.',
    );
  if (file.status !== 200)
    return finding(
      'failed',
      `${script.href} returns status ${String(file.status)}. A proxy or a firewall blocks it, or SITE_URL is not the ` +
        'URL of this site.',
    );
  if (!/javascript/i.test(file.headers['content-type'] ?? ''))
    return finding(
      'failed',
      `${script.href} returns ${file.headers['content-type'] ?? 'no content type'} instead of a script. Another server ` +
        'responds at this URL. Check SITE_URL and the proxy.',
    );
  return finding('passed', `${script.href} is available.`);
}

function corsFinding(start: URL, response: OutboundResponse | null, origin: string): Finding {
  const finding = createFinding('cors', 'Calls from the page (CORS)');
  if (origin === start.origin) return finding('passed', 'The page is on this site, so no permission is needed.');
  if (response === null) return finding('warning', 'Not checked, because this server could not reach itself.');
  const allowed = response.headers['access-control-allow-origin'];
  if (allowed === origin && response.status < 400) return finding('passed', `This site allows calls from ${origin}.`);
  if (allowed === undefined)
    return finding(
      'failed',
      `Browsers block the chat because this site does not send Access-Control-Allow-Origin for ${origin}. If the ` +
        'chatbot allows this origin, a proxy in front of this site removes the header or responds to OPTIONS itself.',
    );
  return finding(
    'failed',
    `For ${origin}, this site sends Access-Control-Allow-Origin: ${allowed} with status ${String(response.status)}. ` +
      'A proxy in front of it sets the header. Remove it there, so that only this site sets it.',
  );
}
