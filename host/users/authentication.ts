import type { IncomingHttpHeaders } from 'node:http';
import {
  decodeUtf8,
  identifyCaller,
  restError,
  textError,
  type Clock,
  type HooksApi,
  type Logger,
  type User,
} from '#plugin-api';
import type { ApplicationPasswordAccess } from './application-password-access.ts';
import type { ApplicationPasswords } from './application-passwords.ts';
import { readCookie } from './cookies.ts';
import {
  applicationPasswordNotAllowed,
  freshSignInRequired,
  incorrectCurrentPassword,
  isFreshSignIn,
} from './fresh-sign-in.ts';
import { reportThrottling, type LoginLimiter } from './login-limiter.ts';
import type { Nonces } from './nonces.ts';
import { secondStepCookie } from './second-step.ts';
import type { Sessions } from './sessions.ts';
import type { CodeMethod, TwoFactor } from './two-factor/two-factor.ts';
import type { Users } from './users.ts';

/** Name of the session's cookie. With https, browsers accept the prefix only for this host, so subdomains cannot set it. */
export function sessionCookieName({ secure }: { readonly secure: boolean }): string {
  return secure ? '__Host-svc_session' : 'svc_session';
}

/** Browsers limit cookies to 400 days. The server decides when a session expires. */
const cookieMaxAgeSeconds = 400 * 24 * 3600;

/**
 * Value of `Set-Cookie` for a new session. Scripts cannot read the cookie, and requests of other sites do not include it.
 *
 * @param remember keeps the cookie after the browser is closed.
 */
function sessionCookie(
  token: string,
  { secure, remember }: { readonly secure: boolean; readonly remember: boolean },
): string {
  const maxAge = remember ? `; Max-Age=${cookieMaxAgeSeconds}` : '';
  return `${sessionCookieName({ secure })}=${token}; Path=/${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** Value of `Set-Cookie` that deletes the session cookie. */
function clearingCookie({ secure }: { readonly secure: boolean }): string {
  return `${sessionCookieName({ secure })}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

declare module '#plugin-api' {
  interface ActionMap {
    /** After a complete sign-in, before `user_signed_in`. `ip` is the address of the request. */
    wp_login: (login: string, user: User, ip: string) => void;
    /** After a sign-in with a wrong user name or password. `ip` is the address of the request. */
    wp_login_failed: (login: string, ip: string) => void;
    /** After a complete sign-in, with the method of its last step. */
    user_signed_in: (userId: number, method: SignInMethod) => void;
    /**
     * After the tenth wrong password, or the tenth wrong second step, of a user within a day: further attempts from unknown
     * networks have to wait. At most once for each until the user signs in or a day passes without attempts.
     */
    login_throttled: (user: User, details: { readonly ip: string; readonly failures: number }) => void;
    /** After a user signed out. */
    wp_logout: (userId: number) => void;
  }
}

export type SignInMethod = 'password' | 'passkey' | CodeMethod;

/** The parts of a request that authentication uses. Requests of Node and Express are compatible. */
export interface IncomingCall {
  readonly headers: IncomingHttpHeaders;
  readonly url?: string | undefined;
  readonly ip?: string | undefined;
}

/** Receives response headers. Responses of Node and Express are compatible. */
export interface ResponseHeaders {
  setHeader(name: string, value: string): unknown;
}

export interface SignedIn {
  readonly user: User;
  readonly sessionId: string;
  /** When the user last proved who they are, in milliseconds since the epoch; 0: unknown. */
  readonly authenticatedAt: number;
}

export interface LimitedSession extends SignedIn {
  /** Two-step sign-in is required only because the filter of a plugin fails, so that the user may deactivate it. */
  readonly mayDeactivate: boolean;
}

export interface OpenedSession extends SignedIn {
  /** Value of `Set-Cookie`. */
  readonly cookie: string;
}

/** The result of a right password. */
export interface LoginResult {
  readonly user: User;
  /** Null: a second step is needed, which the cookie continues. */
  readonly sessionId: string | null;
  /** Value of `Set-Cookie`. */
  readonly cookie: string;
}

export interface Visitor {
  readonly ip: string;
  readonly userAgent: string;
}

export interface AuthenticationDependencies {
  readonly users: Pick<Users, 'get' | 'find' | 'verify' | 'anonymous'>;
  readonly sessions: Sessions;
  readonly nonces: Nonces;
  readonly applicationPasswords: Pick<ApplicationPasswords, 'verify' | 'usedBy'>;
  readonly applicationPasswordAccess: ApplicationPasswordAccess;
  readonly limiter: LoginLimiter;
  readonly twoFactor: Pick<TwoFactor, 'isEnabled' | 'isRequired' | 'isRequiredByFailure' | 'pending'>;
  readonly hooks: Pick<HooksApi, 'applyFiltersAsync' | 'doActionAsync'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Cookies are `Secure` if it starts with https. */
  readonly siteUrl: () => string;
}

export interface Authentication {
  /**
   * Authenticates a REST call: by cookie and nonce (header `X-WP-Nonce` or parameter `_wpnonce`, action `wp_rest`), else by
   * application password, else as visitor. A cookie without a nonce is ignored.
   *
   * @param response receives a new nonce in `X-WP-Nonce`, as in WordPress, so that a page can stay open.
   * @throws RestError 403 `rest_cookie_invalid_nonce`, 401 `incorrect_password`.
   */
  currentUser(call: IncomingCall, response?: ResponseHeaders): Promise<User>;
  /**
   * The session of the cookie, for pages, which verify nonces separately. Null also for a user who must set up two-step
   * sign-in first.
   */
  sessionUser(call: IncomingCall): Promise<SignedIn | null>;
  /** The session of a user who must set up two-step sign-in before anything else; null for all others. */
  limitedSession(call: IncomingCall): Promise<LimitedSession | null>;
  /** Null: unknown user or wrong password; both take the same time. @throws RestError 429 after too many attempts. */
  login(
    input: { readonly login: string; readonly password: string; readonly remember: boolean } & Visitor,
  ): Promise<LoginResult | null>;
  /** Opens the session of a user who has passed all steps of sign-in, and notifies plugins. */
  completeSignIn(
    user: User,
    init: Visitor & { readonly remember: boolean; readonly method: SignInMethod },
  ): Promise<OpenedSession>;
  /** Opens a session without a password, for the administrator that setup has just created. */
  openSession(user: User, visitor: Visitor, remember?: boolean): Promise<OpenedSession>;
  /** Whether the user of the session proved who they are in the last ten minutes. */
  isFresh(session: Pick<SignedIn, 'authenticatedAt'>): boolean;
  /**
   * Verifies the password of the session's user. If it is right, the sign-in is fresh again.
   *
   * @throws RestError 429 after too many attempts.
   */
  confirmPassword(session: SignedIn, password: string, ip: string): Promise<boolean>;
  /**
   * Requires of a REST caller a session whose sign-in is fresh, or the current password.
   *
   * @param given `password`: what the caller sent as current password.
   * @throws RestError 403 `application_password_not_allowed`, `fresh_sign_in_required`, `incorrect_current_password`; 429.
   */
  requireFreshSignIn(
    call: IncomingCall,
    given: { readonly user: User; readonly password: string | undefined },
  ): Promise<void>;
  /** Ends the session on all nodes. */
  logout(session: SignedIn): Promise<{ readonly cookie: string }>;
}

/** Authenticates callers, signs them in and out. */
export function createAuthentication(given: AuthenticationDependencies): Authentication {
  const { users, sessions, nonces, applicationPasswords, limiter, twoFactor, hooks, clock, log, siteUrl } = given;
  const { applicationPasswordAccess: access } = given;
  const isSecure = (): boolean => siteUrl().startsWith('https:');

  async function findSession({ headers }: IncomingCall): Promise<SignedIn | null> {
    const token = readCookie(headers.cookie, sessionCookieName({ secure: isSecure() }));
    const session = token === null ? null : await sessions.find(token);
    const user = session && (await users.get(session.userId));
    return user ? { user, sessionId: session.id, authenticatedAt: session.authenticatedAt } : null;
  }

  const mustSetUp = async (user: User): Promise<boolean> =>
    (await twoFactor.isRequired(user)) && !(await twoFactor.isEnabled(user.id));

  async function sessionUser(call: IncomingCall): Promise<SignedIn | null> {
    const session = await findSession(call);
    return session === null || (await mustSetUp(session.user)) ? null : session;
  }

  async function applicationUser(header: string, ip: string): Promise<User> {
    const error = await access.useError(ip);
    if (error !== null) throw error;
    const credentials = readBasic(header);
    const unstorable =
      textError('Authorization', credentials?.login ?? '') ?? textError('Authorization', credentials?.password ?? '');
    if (unstorable !== null) throw restError(400, 'rest_invalid_param', unstorable);
    const user = credentials && (await applicationPasswords.verify({ ...credentials, ip }));
    if (user) {
      const userError = await access.managementError(user);
      if (userError === null) {
        identifyCaller({ userId: user.id, door: 'application password' });
        return user;
      }
      throw restError(401, userError.code, userError.message);
    }
    // Counted after the check: 139 random bits cannot be guessed, and programs behind the same address keep working.
    const account = (await users.find(credentials?.login ?? ''))?.id ?? credentials?.login ?? '';
    await limiter.spend({ secret: 'application', account, ip });
    throw restError(401, 'incorrect_password', 'Incorrect user name or application password.');
  }

  /** Verifies a password within the limits. Null: wrong, or the user is unknown. */
  async function verifyPassword(login: string, password: string, ip: string): Promise<User | null> {
    const known = await users.find(login);
    const attempt = { account: known?.id ?? login, ip };
    const { failures } = await limiter.spend(attempt);
    const user = await users.verify(login, password);
    if (user !== null) await limiter.reset(attempt);
    else if (known !== null) await reportThrottling({ log, hooks }, known, { ip, failures });
    return user;
  }

  async function openSession(user: User, visitor: Visitor, remember = true): Promise<OpenedSession> {
    const { token, session } = await sessions.create({ userId: user.id, ...visitor, remember });
    const cookie = sessionCookie(token, { secure: isSecure(), remember });
    return { user, sessionId: session.id, authenticatedAt: session.authenticatedAt, cookie };
  }

  const isFresh = (session: Pick<SignedIn, 'authenticatedAt'>): boolean => isFreshSignIn(session, clock.now());

  async function confirmPassword({ user, sessionId }: SignedIn, password: string, ip: string): Promise<boolean> {
    if ((await verifyPassword(user.login, password, ip))?.id !== user.id) {
      log.warn('Password confirmation failed', { event: 'password_confirmation_failed', user: user.id, ip });
      return false;
    }
    await sessions.confirm(sessionId);
    return true;
  }

  const completeSignIn: Authentication['completeSignIn'] = async (user, { remember, method, ...visitor }) => {
    // Codes are counted apart from passwords, so that a right password does not reset their count.
    await limiter.reset({ secret: 'code', account: user.id, ip: visitor.ip });
    const opened = await openSession(user, visitor, remember);
    log.info('User signed in', { event: 'user_signed_in', user: user.id, ip: visitor.ip, method });
    await hooks.doActionAsync('wp_login', user.login, user, visitor.ip);
    await hooks.doActionAsync('user_signed_in', user.id, method);
    return opened;
  };

  return {
    sessionUser,
    openSession,
    isFresh,
    confirmPassword,
    async requireFreshSignIn(call, { user, password }) {
      if (applicationPasswords.usedBy(user) !== null) throw applicationPasswordNotAllowed();
      const session = await sessionUser(call);
      if (session?.user.id !== user.id) throw freshSignInRequired();
      if (password === undefined) {
        if (!isFresh(session)) throw freshSignInRequired();
      } else if (!(await confirmPassword(session, password, call.ip ?? ''))) throw incorrectCurrentPassword();
    },
    completeSignIn,
    async limitedSession(call) {
      const session = await findSession(call);
      if (session === null || !(await mustSetUp(session.user))) return null;
      return { ...session, mayDeactivate: await twoFactor.isRequiredByFailure(session.user) };
    },
    async currentUser(call, response) {
      const nonce = readNonce(call);
      const basic = basicHeader(call.headers.authorization);
      if (nonce === null) return basic === null ? users.anonymous : applicationUser(basic, call.ip ?? '');
      const caller = (await sessionUser(call)) ?? { user: users.anonymous, sessionId: '' };
      if (
        nonces.verify({ nonce, action: 'wp_rest', ...caller }) !== false &&
        (caller.user.id !== 0 || basic === null)
      ) {
        identifyCaller({ userId: caller.user.id, door: 'rest' });
        response?.setHeader('X-WP-Nonce', nonces.create('wp_rest', caller.user, caller.sessionId));
        return caller.user;
      }
      if (basic !== null) return applicationUser(basic, call.ip ?? '');
      throw restError(403, 'rest_cookie_invalid_nonce', 'Cookie check failed');
    },
    async login({ login, password, remember, ip, userAgent }) {
      const user = await verifyPassword(login, password, ip);
      if (user === null) {
        log.warn('Sign-in failed', { event: 'sign_in_failed', ip });
        await hooks.doActionAsync('wp_login_failed', login, ip);
        return null;
      }
      if (!(await twoFactor.isEnabled(user.id)))
        return completeSignIn(user, { ip, userAgent, remember, method: 'password' });
      const token = await twoFactor.pending.create({ userId: user.id, remember });
      return { user, sessionId: null, cookie: secondStepCookie(token, { secure: isSecure() }) };
    },
    async logout({ user, sessionId }) {
      await sessions.destroy(sessionId);
      await hooks.doActionAsync('wp_logout', user.id);
      return { cookie: clearingCookie({ secure: isSecure() }) };
    },
  };
}

function readNonce({ headers, url = '' }: IncomingCall): string | null {
  const header = headers['x-wp-nonce'];
  if (typeof header === 'string') return header;
  const query = url.indexOf('_wpnonce=') === -1 ? '' : url.slice(url.indexOf('?') + 1);
  return query === '' ? null : new URLSearchParams(query).get('_wpnonce');
}

function basicHeader(header: string | undefined): string | null {
  return /^Basic +(\S+) *$/i.exec(header ?? '')?.[1] ?? null;
}

function readBasic(encoded: string): { login: string; password: string } | null {
  const text = decodeUtf8(Buffer.from(encoded, 'base64'));
  const colon = text.indexOf(':');
  return colon < 1 ? null : { login: text.slice(0, colon), password: text.slice(colon + 1) };
}

interface PageUserDependencies {
  readonly authentication: Pick<Authentication, 'sessionUser'>;
  readonly users: { readonly anonymous: User };
  readonly siteUrl: () => string;
}

/**
 * Returns the user of the session cookie if the browser reports a request from a page of this site: `Origin` matches, and
 * `Sec-Fetch-Site`, if present, is `same-origin`. Other callers are visitors, so other sites cannot act for a user. This works
 * without a nonce, which a cached page could not contain.
 */
export function createPageUser({
  authentication,
  users,
  siteUrl,
}: PageUserDependencies): (call: IncomingCall) => Promise<User> {
  return async (call) => {
    const { origin } = call.headers;
    const site = call.headers['sec-fetch-site'];
    if (origin !== new URL(siteUrl()).origin || (site !== undefined && site !== 'same-origin')) return users.anonymous;
    return (await authentication.sessionUser(call))?.user ?? users.anonymous;
  };
}
