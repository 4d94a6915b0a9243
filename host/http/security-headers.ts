import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { currentRequest, type RequestContext } from '#plugin-api';
import type { RequestHandler } from 'express';

interface SecurityHeadersDependencies {
  /** URL of the site; https adds Strict-Transport-Security. */
  readonly siteUrl: () => string;
}

/** Two years, as preload lists require; without subdomains, which may not belong to this site. */
const hsts = 'max-age=63072000';

/** Loads only from the site, without inline script or style, and allows no framing by other sites. */
function policyWith({ scripts, frames }: { readonly scripts: string; readonly frames: string }): string {
  return [
    "default-src 'self'",
    `script-src ${scripts}`,
    "script-src-attr 'none'",
    "style-src 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    `frame-ancestors ${frames}`,
    "base-uri 'none'",
    "form-action 'self'",
  ].join(';');
}

/** Responses that are no pages run no script where a browser shows them. */
const contentSecurityPolicy = policyWith({ scripts: "'none'", frames: "'self'" });

/** Pages of the admin show no HTML of users; they are never in a frame, not even of the site's own pages. */
const adminPolicy = policyWith({ scripts: "'self'", frames: "'none'" });

/**
 * Headers of every response, REST and errors included: a content security policy without scripts, no content sniffing, and
 * https only once the site uses it. A handler that sends HTML may set another policy. The policy of a script or of JSON does
 * not apply to the page that loads it, so widgets work on other sites.
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
 * The policy of a public page: it runs the scripts with its nonce, which are those of its templates, of shortcodes and of
 * plugins. Scripts in the HTML of a post do not run, not even files of the site: they would act for the reader. Sites may frame
 * their own public pages.
 */
export function allowPageScripts(response: Pick<ServerResponse, 'setHeader'>): void {
  const context = currentRequest();
  if (!context) return;
  context.scriptNonce = randomBytes(16).toString('base64');
  const policy = policyWith({ scripts: `'nonce-${context.scriptNonce}'`, frames: "'self'" });
  response.setHeader('Content-Security-Policy', policy);
}

/** Headers of the pages of the admin. */
export const adminHeaders: RequestHandler = (_request, response, next) => {
  const context = currentRequest();
  if (context) Object.assign(context, { door: 'admin', scriptNonce: '' } satisfies Partial<RequestContext>);
  response.setHeader('Content-Security-Policy', adminPolicy);
  response.setHeader('X-Frame-Options', 'DENY');
  next();
};

/** Headers of pages and assets that would keep other sites from using REST. */
const pageHeaders: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'X-DNS-Prefetch-Control': 'off',
  'X-Download-Options': 'noopen',
  'X-Frame-Options': 'SAMEORIGIN',
  'X-Permitted-Cross-Domain-Policies': 'none',
  'X-XSS-Protection': '0',
};

/** Further headers of pages and assets, with `Link: <{root}>; rel="https://api.w.org/"`. */
export function createPageHeaders({ restRoot }: PageHeadersDependencies): RequestHandler {
  return (_request, response, next) => {
    response.setHeader('Link', `<${restRoot()}>; rel="https://api.w.org/"`);
    allowPageScripts(response);
    for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value);
    next();
  };
}
