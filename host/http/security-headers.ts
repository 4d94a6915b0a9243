import helmet from 'helmet';
import type { RequestHandler } from 'express';

export interface SecurityHeadersDependencies {
  /** Address of the site; https adds Strict-Transport-Security. */
  readonly siteUrl: () => string;
  /** Absolute address of the REST root, for discovery (D1). */
  readonly restRoot: () => string;
}

/** Two years, as browsers' preload lists ask for; without subdomains, which are not ours to speak for. */
const hsts = 'max-age=63072000';

/**
 * Headers of every page and asset: a policy that runs and loads only what the site itself serves (no inline script or
 * style), no framing by others, no content sniffing, and `Link: <{root}>; rel="https://api.w.org/"`.
 */
export function createSecurityHeaders({ siteUrl, restRoot }: SecurityHeadersDependencies): RequestHandler {
  const headers = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'"],
        scriptSrcAttr: ["'none'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        frameAncestors: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
      },
    },
    referrerPolicy: { policy: 'strict-origin-when-cross-origin' },
    strictTransportSecurity: false,
  });
  return (request, response, next) => {
    response.setHeader('Link', `<${restRoot()}>; rel="https://api.w.org/"`);
    if (siteUrl().startsWith('https:')) response.setHeader('Strict-Transport-Security', hsts);
    headers(request, response, next);
  };
}
