import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

interface SecurityHeadersDependencies {
  /** URL of the site; https adds Strict-Transport-Security. */
  readonly siteUrl: () => string;
}

/** Two years, as preload lists require; without subdomains, which may not belong to this site. */
const hsts = 'max-age=63072000';

/** Loads only from the site, without inline script or style, and allows no framing by other sites. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "script-src-attr 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "frame-ancestors 'self'",
  "base-uri 'none'",
  "form-action 'self'",
].join(';');

/**
 * Headers of every response, REST and errors included: a content security policy, no content sniffing, and https only once
 * the site uses it. A handler that sends HTML may set another policy. The policy of a script or of JSON does not
 * apply to the page that loads it, so widgets work on other sites.
 */
export function createSecurityHeaders({
  siteUrl,
}: SecurityHeadersDependencies): (response: Pick<ServerResponse, 'setHeader'>) => void {
  return (response) => {
    response.setHeader('Content-Security-Policy', contentSecurityPolicy);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (siteUrl().startsWith('https:')) response.setHeader('Strict-Transport-Security', hsts);
  };
}

interface PageHeadersDependencies {
  /** Absolute URL of the REST root, for discovery (D1). */
  readonly restRoot: () => string;
}

/**
 * Further headers of pages and assets: `Link: <{root}>; rel="https://api.w.org/"`, and those of helmet that would keep other
 * sites from using REST.
 */
export function createPageHeaders({ restRoot }: PageHeadersDependencies): RequestHandler {
  const headers = helmet({
    contentSecurityPolicy: false,
    xContentTypeOptions: false,
    strictTransportSecurity: false,
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
  });
  return (request, response, next) => {
    response.setHeader('Link', `<${restRoot()}>; rel="https://api.w.org/"`);
    headers(request, response, next);
  };
}
