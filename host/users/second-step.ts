import { restError, type RestError, type HooksApi, type Logger, type User } from '#plugin-api';
import type { Authentication, IncomingCall, OpenedSession, SignedIn, Visitor } from './authentication.ts';
import { readCookie } from './cookies.ts';
import { reportThrottling, type LoginLimiter } from './login-limiter.ts';
import type { PasskeyRequest, PasskeyResponse, PasskeyUse } from './two-factor/passkeys.ts';
import { pendingLifetime, type PendingSignIn } from './two-factor/pending-sign-ins.ts';
import type { Sessions } from './sessions.ts';
import type { TwoFactor } from './two-factor/two-factor.ts';
import type { Users } from './users.ts';

declare module '#plugin-api' {
  interface ActionMap {
    /** After a wrong code or passkey in the second step of a sign-in. */
    two_factor_failed: (userId: number) => void;
  }
}

const cookieName = 'svc_sign_in';

/**
 * Value of `Set-Cookie` that binds an open second step to the browser that entered the password.
 *
 * @param token empty: deletes the cookie.
 */
export function secondStepCookie(token: string, { secure }: { readonly secure: boolean }): string {
  const maxAge = token === '' ? 0 : pendingLifetime / 1000;
  return `${cookieName}=${token}; Path=/admin/login; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}

/** What the page of the second step offers. Recovery codes always work. */
export interface SecondStepChoice {
  readonly login: string;
  readonly hasApp: boolean;
  readonly hasPasskey: boolean;
}

export interface SecondStep {
  /** The second step that the request's cookie continues; null: none, or more than ten minutes old. */
  find(call: IncomingCall): Promise<SecondStepChoice | null>;
  /**
   * Signs in with a code of the app or a recovery code. Null: a wrong or used code.
   *
   * @throws RestError 401 `sign_in_expired`, 429 `too_many_login_attempts`.
   */
  enterCode(call: IncomingCall, init: { readonly code: string } & Visitor): Promise<OpenedSession | null>;
  /** Signs in with a passkey as second step. Null: not verified. @throws RestError as `enterCode`. */
  enterPasskey(call: IncomingCall, init: PasskeyResponse & Visitor): Promise<OpenedSession | null>;
  /** @throws RestError 401 `sign_in_expired`, 400 `passkeys_unavailable`. */
  requestPasskey(call: IncomingCall): Promise<PasskeyRequest>;
  /** Whether visitors can sign in with a passkey alone. */
  offersPasskeys(): boolean;
  /** A challenge for a sign-in without password. @throws RestError 400 `passkeys_unavailable`. */
  requestPasskeySignIn(): Promise<PasskeyRequest>;
  /** Signs in with a passkey alone. Null: not verified. @throws RestError 429 after too many attempts. */
  signInWithPasskey(init: PasskeyResponse & { readonly remember: boolean } & Visitor): Promise<OpenedSession | null>;
  /** Whether the user can confirm with a passkey, at the address of the site. */
  canConfirm(userId: number): Promise<boolean>;
  /** A challenge with which the user of a session confirms who they are. @throws RestError 400 `passkeys_unavailable`. */
  requestConfirmation(session: SignedIn): Promise<PasskeyRequest>;
  /** Makes the sign-in of a session fresh if the passkey is right. @throws RestError 429 after too many attempts. */
  confirm(session: SignedIn, init: PasskeyResponse & Pick<Visitor, 'ip'>): Promise<boolean>;
  /** Value of `Set-Cookie` that forgets the second step. */
  clearingCookie(): string;
}

export interface SecondStepDependencies {
  readonly twoFactor: TwoFactor;
  readonly users: Pick<Users, 'get'>;
  readonly authentication: Pick<Authentication, 'completeSignIn'>;
  readonly sessions: Pick<Sessions, 'confirm'>;
  readonly limiter: LoginLimiter;
  readonly hooks: Pick<HooksApi, 'doActionAsync'>;
  readonly log: Logger;
  readonly siteUrl: () => string;
}

/** The second step after a right password, and sign-in with a passkey instead of a password. */
export function createSecondStep(dependencies: SecondStepDependencies): SecondStep {
  const { twoFactor, users, authentication, limiter, hooks, log, siteUrl } = dependencies;

  async function findPending({ headers }: IncomingCall): Promise<{ pending: PendingSignIn; user: User } | null> {
    const token = readCookie(headers.cookie, cookieName);
    const pending = token === null ? null : await twoFactor.pending.find(token);
    const user = pending && (await users.get(pending.userId));
    return pending && user ? { pending, user } : null;
  }

  async function requirePending(call: IncomingCall): Promise<{ pending: PendingSignIn; user: User }> {
    const found = await findPending(call);
    if (found === null) throw expired();
    return found;
  }

  async function refuse(userId: number, ip: string): Promise<null> {
    log.warn('Second step of a sign-in failed', { event: 'two_factor_failed', user: userId, ip });
    await hooks.doActionAsync('two_factor_failed', userId);
    return null;
  }

  async function refuseStep(user: User, attempt: { readonly ip: string; readonly failures: number }): Promise<null> {
    await refuse(user.id, attempt.ip);
    await reportThrottling({ log, hooks }, user, attempt);
    return null;
  }

  return {
    async find(call) {
      const found = await findPending(call);
      if (found === null) return null;
      const { totpSince, passkeys } = await twoFactor.status(found.user);
      const hasPasskey = passkeys.length > 0 && twoFactor.passkeySupport().party !== null;
      return { login: found.user.login, hasApp: totpSince !== null, hasPasskey };
    },
    async enterCode(call, { code, ...visitor }) {
      const { pending, user } = await requirePending(call);
      const { failures } = await limiter.spend({ secret: 'code', account: user.id, ip: visitor.ip });
      const method = await twoFactor.useCode(user.id, code);
      if (method === null) return refuseStep(user, { ip: visitor.ip, failures });
      if (!(await twoFactor.pending.remove(pending.id))) throw expired();
      return authentication.completeSignIn(user, { ...visitor, remember: pending.remember, method });
    },
    async enterPasskey(call, { credential, challenge, ...visitor }) {
      const { pending, user } = await requirePending(call);
      const { failures } = await limiter.spend({ secret: 'code', account: user.id, ip: visitor.ip });
      const passkey = await twoFactor.signIn.verifySignIn({ credential, challenge }, pending);
      if (passkey === null) return refuseStep(user, { ip: visitor.ip, failures });
      if (!(await twoFactor.pending.remove(pending.id))) throw expired();
      return authentication.completeSignIn(user, { ...visitor, remember: pending.remember, method: 'passkey' });
    },
    async requestPasskey(call) {
      return twoFactor.signIn.requestSignIn((await requirePending(call)).pending);
    },
    offersPasskeys: () => twoFactor.passkeySupport().party !== null,
    requestPasskeySignIn: () => twoFactor.signIn.requestSignIn(null),
    async signInWithPasskey({ credential, challenge, remember, ...visitor }) {
      // No name is known yet: only the address is limited.
      await limiter.spend({ secret: 'passkey', account: visitor.ip, ip: visitor.ip });
      const passkey = await twoFactor.signIn.verifySignIn({ credential, challenge }, null);
      const user = passkey && (await users.get(passkey.userId));
      if (!user) return passkey === null ? null : refuse(passkey.userId, visitor.ip);
      await limiter.reset({ secret: 'passkey', account: visitor.ip, ip: visitor.ip });
      return authentication.completeSignIn(user, { ...visitor, remember, method: 'passkey' });
    },
    ...createConfirmation(dependencies, refuseStep),
    clearingCookie: () => secondStepCookie('', { secure: siteUrl().startsWith('https:') }),
  };
}

type RefuseStep = (user: User, attempt: { readonly ip: string; readonly failures: number }) => Promise<null>;

/** A passkey instead of the password where the admin asks for it. */
function createConfirmation(
  { twoFactor, limiter, sessions }: SecondStepDependencies,
  refuse: RefuseStep,
): Pick<SecondStep, 'canConfirm' | 'requestConfirmation' | 'confirm'> {
  const useOf = ({ user, sessionId }: SignedIn): PasskeyUse => {
    return { id: sessionId, userId: user.id, purpose: 'passkey-confirmation' };
  };
  return {
    canConfirm: async (userId) => twoFactor.passkeySupport().party !== null && (await twoFactor.hasPasskey(userId)),
    requestConfirmation: (session) => twoFactor.signIn.requestSignIn(useOf(session)),
    async confirm(session, { ip, ...response }) {
      const attempt = { secret: 'code', account: session.user.id, ip } as const;
      const { failures } = await limiter.spend(attempt);
      if ((await twoFactor.signIn.verifySignIn(response, useOf(session))) === null) {
        await refuse(session.user, { ip, failures });
        return false;
      }
      await limiter.reset(attempt);
      await sessions.confirm(session.sessionId);
      return true;
    },
  };
}

function expired(): RestError {
  return restError(401, 'sign_in_expired', 'Your sign-in has expired. Enter your user name and password again.');
}
