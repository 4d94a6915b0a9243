import type { HostApi, RestRequest } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { readOrigin } from '../../../kit/visitors/origin.ts';
import { createPageSessions, identifyClient, ownOrigin, type PageClient } from '../../../kit/visitors/page-sessions.ts';
import type { Session, SessionTokens } from '../../../kit/visitors/session-token.ts';

export interface Visitor extends PageClient {
  /** Of the browser, whether or not a user is signed in. */
  readonly session: Session;
  /** Sets the cookie of a new session. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface Visitors {
  /** @throws RestError 403 `rest_svc_image_refused` for pages of other sites. */
  enter(request: RestRequest): Promise<Visitor>;
  /** The session of the cookie, or null. */
  sessionOf(request: RestRequest): Promise<Session | null>;
}

export interface VisitorParts {
  readonly host: Pick<HostApi, 'site' | 'rest'>;
  readonly tokens: SessionTokens;
}

export function createVisitors({ host, tokens }: VisitorParts): Visitors {
  const sessions = createPageSessions({ host, tokens, cookie: 'svc_images' });
  /** Bound to the browser, not to a user: a visitor who signs in keeps the images. */
  const pageOf = ({ headers }: RestRequest) => ({
    audience: 'images',
    userId: 0,
    origin: ownOrigin(host.site.url),
    userAgent: headers['user-agent'] ?? '',
  });
  const sessionOf = (request: RestRequest): Promise<Session | null> => sessions.read(request, pageOf(request));

  return {
    sessionOf,
    async enter(request) {
      const { origin, isOwn } = readOrigin(request.headers, host.site.url);
      const site = request.headers['sec-fetch-site'];
      if ((origin !== null && !isOwn) || (site !== undefined && site !== 'same-origin' && site !== 'none'))
        throw errors.image_refused({ values: { reason: 'Images can only be requested from pages of this site.' } });
      const page = pageOf(request);
      const { session, headers } = await sessions.ensure(await sessionOf(request), page, '/svc-widget/v1/images');
      return { ...(await identifyClient(request, page.origin)), session, headers };
    },
  };
}
