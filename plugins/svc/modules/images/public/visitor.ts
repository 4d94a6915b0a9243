import type { HostApi, RestRequest, User, Clock } from '#plugin-api';
import { errors } from '../../../kit/errors.ts';
import { originKey, readOrigin } from '../../../kit/visitors/origin.ts';
import { tokenLife, type Session, type SessionTokens, type TokenBinding } from '../../../kit/visitors/session-token.ts';
import type { Signer } from '../../../kit/visitors/signer.ts';

/** Proves that this site recently issued a form. Not bound to a visitor, because caches may store pages. */
export interface FormTokens {
  issue(): Promise<string>;
  isValid(token: string): Promise<boolean>;
}

const day = 24 * 3600_000;
/** Long enough for pages from a cache. */
const lifetimeDays = 3;
const macBytes = 16;

export function createFormTokens({
  signer,
  clock,
}: {
  readonly signer: Signer;
  readonly clock: Pick<Clock, 'now'>;
}): FormTokens {
  const today = (): number => Math.floor(clock.now() / day);
  return {
    async issue() {
      const mac = (await signer.sign('images-form', [today()])).subarray(0, macBytes);
      return `${String(today())}.${mac.toString('base64url')}`;
    },
    async isValid(token) {
      const [, made = '', mac = ''] = /^(\d{1,6})\.([\w-]{22})$/.exec(token) ?? [];
      const age = today() - Number(made);
      return (
        made !== '' &&
        age >= 0 &&
        age < lifetimeDays &&
        signer.isSigned(Buffer.from(mac, 'base64url'), 'images-form', [Number(made)])
      );
    },
  };
}

export interface Visitor {
  /** Id 0: a guest. */
  readonly user: Pick<User, 'id' | 'roles' | 'can'>;
  /** Of the browser, whether or not a user is signed in. */
  readonly session: Session;
  readonly ip: string;
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

const cookieName = 'svc_images';
const guest: Visitor['user'] = { id: 0, roles: [], can: () => false };

export function createVisitors({ host, tokens }: VisitorParts): Visitors {
  const siteOrigin = (): string => originKey({ origin: new URL(host.site.url).origin, isOwn: true });
  /** Bound to the browser, not to a user: a visitor who signs in keeps the images. */
  const bindingOf = (request: RestRequest): TokenBinding => ({
    audience: 'images',
    userId: 0,
    carrier: 'cookie',
    origin: siteOrigin(),
    userAgent: request.headers['user-agent'] ?? '',
  });

  async function sessionOf(request: RestRequest): Promise<Session | null> {
    const cookie = cookieOf(request.headers['cookie']);
    return cookie === null ? null : tokens.read(cookie, bindingOf(request));
  }

  return {
    sessionOf,
    async enter(request) {
      const origin = readOrigin(request.headers, host.site.url);
      const site = request.headers['sec-fetch-site'];
      if (
        (origin.origin !== null && !origin.isOwn) ||
        (site !== undefined && site !== 'same-origin' && site !== 'none')
      ) {
        throw errors.image_refused({ values: { reason: 'Images can only be requested from pages of this site.' } });
      }
      const user = await request.pageUser();
      const known = await sessionOf(request);
      const session = known ?? tokens.begin();
      const isFresh = known !== null && !tokens.isAging(known);
      return {
        user: user.id > 0 ? user : guest,
        session,
        ip: request.ip,
        headers: isFresh ? {} : { 'Set-Cookie': await cookieFor(request, session) },
      };
    },
  };

  async function cookieFor(request: RestRequest, session: Session): Promise<string> {
    const token = await tokens.issue(session, bindingOf(request));
    const path = new URL(host.rest.url('/svc-widget/v1/images')).pathname;
    const secure = host.site.url.startsWith('https:') ? '; Secure' : '';
    return `${cookieName}=${token}; Path=${path}; Max-Age=${String(tokenLife / 1000)}; HttpOnly; SameSite=Lax${secure}`;
  }
}

function cookieOf(header: string | undefined): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === cookieName) return value.trim();
  }
  return null;
}
