import { randomBytes } from 'node:crypto';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { errorText, restError, type RestError } from '#plugin-api';
import type { Logger, User } from '#plugin-api';
import type { Challenges, ChallengeScope } from './challenges.ts';
import type { Passkey, PasskeyStore } from './passkey-store.ts';
import { passkeySupport, type RelyingParty } from './relying-party.ts';

/** What the browser passes to its authenticators, and the signed challenge that it sends back with their response. */
export interface PasskeyRequest {
  readonly options: unknown;
  readonly challenge: string;
}

/** The response of an authenticator as JSON text, with the signed challenge of its request. */
export interface PasskeyResponse {
  readonly credential: string;
  readonly challenge: string;
}

/** Registration of passkeys and sign-in with them (WebAuthn level 3), always with verification of the user. */
export interface Passkeys {
  /** @param session id of the session that registers. @throws RestError 400 `passkeys_unavailable`. */
  requestRegistration(user: User, session: string): Promise<PasskeyRequest>;
  /** @throws RestError 400 `passkey_not_verified` and those of `PasskeyStore.add`. */
  register(user: User, init: PasskeyResponse & { readonly session: string; readonly name: string }): Promise<Passkey>;
  /** @param pending what the passkey is for; null: a sign-in without password, by any user. */
  requestSignIn(pending: PasskeyUse | null): Promise<PasskeyRequest>;
  /** The passkey that signed the challenge; null: not verified. A challenge works once. */
  verifySignIn(response: PasskeyResponse, pending: PasskeyUse | null): Promise<Passkey | null>;
}

/** A second step of a sign-in, or the confirmation that the user of a session is present. */
export interface PasskeyUse {
  /** Of the pending sign-in or of the session. */
  readonly id: string;
  readonly userId: number;
  /** Default: a second step. */
  readonly purpose?: 'passkey-confirmation';
}

export interface PasskeysDependencies {
  readonly store: PasskeyStore;
  readonly challenges: Challenges;
  readonly siteUrl: () => string;
  readonly siteName: () => Promise<string>;
  readonly log: Logger;
}

/** Longest response of an authenticator in characters; real ones have about 2,000. */
const maxCredentialLength = 20_000;

export function createPasskeys(dependencies: PasskeysDependencies): Passkeys {
  return { ...createRegistration(dependencies), ...createSignIn(dependencies) };
}

type Registration = Pick<Passkeys, 'requestRegistration' | 'register'>;

function createRegistration({ store, challenges, siteUrl, siteName, log }: PasskeysDependencies): Registration {
  return {
    async requestRegistration(user, session) {
      const { generateRegistrationOptions } = await import('@simplewebauthn/server');
      const known = await store.list(user.id);
      const options = await generateRegistrationOptions({
        rpName: await siteName(),
        rpID: requireParty(siteUrl()).id,
        userName: user.login,
        userDisplayName: user.displayName || user.login,
        // The same for all passkeys of a user, so that an authenticator groups them. It reveals nothing about the user.
        userID: new Uint8Array(known[0] ? Buffer.from(known[0].userHandle, 'base64url') : randomBytes(32)),
        attestationType: 'none',
        excludeCredentials: known.map(({ id, transports }) => ({ id, transports: [...transports] })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
      const scope = registrationScope(session, options.user.id);
      return { options, challenge: `${options.user.id}.${challenges.sign(scope, options.challenge)}` };
    },
    async register(user, { credential, challenge: given, session, name }) {
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
      const party = requireParty(siteUrl());
      const dot = given.indexOf('.');
      const [userHandle, signed] = [given.slice(0, Math.max(0, dot)), given.slice(dot + 1)];
      const scope = registrationScope(session, userHandle);
      let signedChallenge = '';
      const result = await verifyRegistrationResponse({
        response: readCredential<RegistrationResponseJSON>(credential),
        expectedChallenge: (challenge) => {
          signedChallenge = challenge;
          return challenges.verify({ ...scope, challenge, signed });
        },
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        requireUserVerification: true,
      }).catch((error: unknown) => {
        log.warn('Passkey not verified', { event: 'passkey_not_verified', user: user.id, reason: errorText(error) });
        throw notVerified();
      });
      if (!result.verified || !(await challenges.use(signedChallenge))) throw notVerified();
      const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential;
      return store.add({ id, userId: user.id, userHandle, publicKey, counter, transports, name });
    },
  };
}

function createSignIn({ store, challenges, siteUrl, log }: PasskeysDependencies): Omit<Passkeys, keyof Registration> {
  return {
    async requestSignIn(pending) {
      const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
      const own = pending === null ? [] : await store.list(pending.userId);
      const options = await generateAuthenticationOptions({
        rpID: requireParty(siteUrl()).id,
        // For an empty list the browser offers all passkeys that it has for this site.
        allowCredentials: own.map(({ id, transports }) => ({ id, transports: [...transports] })),
        userVerification: 'required',
      });
      return { options, challenge: challenges.sign(signInScope(pending), options.challenge) };
    },
    async verifySignIn({ credential, challenge: signed }, pending) {
      const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
      const party = requireParty(siteUrl());
      const response = readCredential<AuthenticationResponseJSON>(credential);
      const passkey = await store.find(response.id);
      if (passkey === null || !belongsTo(passkey, pending, response.response.userHandle)) return null;
      let signedChallenge = '';
      const result = await verifyAuthenticationResponse({
        response,
        expectedChallenge: (challenge) => {
          signedChallenge = challenge;
          return challenges.verify({ ...signInScope(pending), challenge, signed });
        },
        expectedOrigin: party.origin,
        expectedRPID: party.id,
        credential: {
          id: passkey.id,
          publicKey: passkey.publicKey,
          counter: passkey.counter,
          transports: [...passkey.transports],
        },
        requireUserVerification: true,
      }).catch((error: unknown) => {
        log.warn('Passkey not verified', {
          event: 'passkey_not_verified',
          user: passkey.userId,
          reason: errorText(error),
        });
        return null;
      });
      if (result === null || !result.verified || !(await challenges.use(signedChallenge))) return null;
      return (await store.recordUse(passkey.id, result.authenticationInfo.newCounter)) ? passkey : null;
    },
  };
}

/** Without a password the authenticator must name the user, so that a passkey cannot be used for another account. */
function belongsTo(passkey: Passkey, pending: { readonly userId: number } | null, userHandle: unknown): boolean {
  if (pending !== null && passkey.userId !== pending.userId) return false;
  return userHandle === passkey.userHandle || (pending !== null && (userHandle ?? null) === null);
}

function registrationScope(session: string, userHandle: string) {
  return { purpose: 'passkey-registration', owner: `${session} ${userHandle}` } as const;
}

function signInScope(pending: PasskeyUse | null): ChallengeScope {
  return pending === null
    ? { purpose: 'passkey-sign-in', owner: '' }
    : { purpose: pending.purpose ?? 'passkey-second-step', owner: pending.id };
}

function requireParty(siteUrl: string): RelyingParty {
  const { party, reason } = passkeySupport(siteUrl);
  if (party === null) throw restError(400, 'passkeys_unavailable', reason);
  return party;
}

/** Checks only what this file reads; the library verifies the rest. */
function readCredential<Credential extends AuthenticationResponseJSON | RegistrationResponseJSON>(
  text: string,
): Credential {
  try {
    const read = (text.length > maxCredentialLength ? null : JSON.parse(text)) as Partial<Credential> | null;
    if (typeof read?.id === 'string' && typeof read.response === 'object') return read as Credential;
  } catch {
    // Not JSON.
  }
  throw notVerified();
}

function notVerified(): RestError {
  return restError(400, 'passkey_not_verified', 'The passkey could not be verified. Try again.');
}
