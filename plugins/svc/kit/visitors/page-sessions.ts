import type { HostApi, RestRequest, User } from '#plugin-api';
import { originKey, readOrigin, type RequestOrigin } from './origin.ts';
import { tokenLife, type Session, type SessionTokens, type TokenBinding } from './session-token.ts';

/** Who sends a request from a page. */
export interface PageClient {
  readonly origin: RequestOrigin;
  /** Id 0: a guest. Users are recognized only on pages of this site. */
  readonly user: User;
  readonly ip: string;
  readonly userAgent: string;
}

/** The page that a session belongs to. */
export type SessionPage = Pick<PageClient, 'origin' | 'userAgent'> & Pick<TokenBinding, 'audience' | 'userId'>;

export interface EnsuredSession {
  readonly session: Session;
  /** For a page of another site, which must send it with each request; '' where the cookie is enough. */
  readonly token: string;
  /** Sets the cookie of a new or aging session on this site. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface PageSessions {
  /**
   * The session of the cookie, of the header `X-SVC-Session`, or of the token in the body; null: none, or an expired one. The
   * first two are there before the body is read.
   */
  read(request: RestRequest, page: SessionPage, token?: string): Promise<Session | null>;
  /**
   * Starts a session unless there is one.
   *
   * @param path REST path below which the cookie is sent
   */
  ensure(session: Session | null, page: SessionPage, path: string): Promise<EnsuredSession>;
}

/** Headers of scripts, beside those of the host: a session token, and the nonce of a form that this site rendered. */
export const visitorHeaders = ['X-SVC-Session', 'X-SVC-Nonce'] as const;
/** '' without one. */
export const sentSession = ({ headers }: Pick<RestRequest, 'headers'>): string => headers['x-svc-session'] ?? '';
export const nonceHeader = 'x-svc-nonce';

const guest: User = { id: 0, login: '', email: '', displayName: '', roles: [], can: () => false };

export async function identifyClient(request: RestRequest, origin: RequestOrigin): Promise<PageClient> {
  const user = origin.isOwn ? await request.pageUser() : guest;
  return {
    origin,
    user: user.id > 0 ? user : guest,
    ip: request.ip,
    userAgent: request.headers['user-agent'] ?? '',
  };
}

/** Sessions of visitors: a cookie on pages of this site, a token on pages of others (D16). */
export function createPageSessions({
  host,
  tokens,
  cookie,
}: {
  readonly host: Pick<HostApi, 'site' | 'rest'>;
  readonly tokens: SessionTokens;
  /** Name of the cookie. */
  readonly cookie: string;
}): PageSessions {
  const bind = ({ origin, ...page }: SessionPage, carrier: TokenBinding['carrier']): TokenBinding => ({
    ...page,
    carrier,
    origin: originKey(origin),
  });
  return {
    async read(request, page, token = '') {
      // The cookie counts only on the site's own pages, because a page of a related domain could send it too.
      const sent = page.origin.isOwn ? readCookie(request.headers['cookie'], cookie) : null;
      const session = sent === null ? null : await tokens.read(sent, bind(page, 'cookie'));
      const given = sentSession(request) || token;
      return session ?? (given === '' ? null : tokens.read(given, bind(page, 'body')));
    },
    async ensure(given, page, path) {
      const session = given ?? tokens.begin();
      const { isOwn } = page.origin;
      if (isOwn && given !== null && !tokens.isAging(session)) return { session, token: '', headers: {} };
      const token = await tokens.issue(session, bind(page, isOwn ? 'cookie' : 'body'));
      if (!isOwn) return { session, token, headers: {} };
      const scope = `Path=${new URL(host.rest.url(path)).pathname}; Max-Age=${String(tokenLife / 1000)}`;
      const secure = host.site.url.startsWith('https:') ? '; Secure' : '';
      const header = `${cookie}=${token}; ${scope}; HttpOnly; SameSite=Lax${secure}`;
      return { session, token: '', headers: { 'Set-Cookie': header } };
    },
  };
}

export function ownOrigin(siteUrl: string): RequestOrigin {
  return readOrigin({ origin: new URL(siteUrl).origin }, siteUrl);
}

function readCookie(header: string | undefined, wanted: string): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === wanted) return value.trim();
  }
  return null;
}
