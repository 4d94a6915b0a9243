import { randomBytes } from 'node:crypto';
import type { Clock } from '#plugin-api';
import type { Signer } from './signer.ts';

/** What a token is bound to. A token with another binding is invalid. */
export interface TokenBinding {
  /** The id of a chatbot, or a text such as `form:3`. */
  readonly audience: number | string;
  /** 0: a guest. Signing in or out starts a new session. */
  readonly userId: number;
  /** A token from a cookie is not accepted in a body, and vice versa. */
  readonly carrier: 'cookie' | 'body';
  /** `originKey` of the page: a token of one site is invalid on another. */
  readonly origin: string;
  /** Header `User-Agent`. Its numbers are ignored, so that a browser update does not end the session. */
  readonly userAgent: string;
}

export interface Session {
  /** 22 characters of `A-Za-z0-9_-`. Stored with conversations, useless without its token. */
  readonly id: string;
  /** When its token was issued, in milliseconds since the epoch. */
  readonly issuedAt: number;
}

export interface SessionTokens {
  begin(): Session;
  issue(session: Pick<Session, 'id'>, binding: TokenBinding): Promise<string>;
  /** The session of a valid token that has not expired, otherwise null. */
  read(token: string, binding: TokenBinding): Promise<Session | null>;
  /** Whether it is time for a new token (sliding renewal). */
  isAging(session: Session): boolean;
}

const day = 24 * 3600_000;
export const tokenLife = 30 * day;
const renewAfter = day;

const version = 1;
const idBytes = 16;
/** Version, time of issue in seconds, session id. */
const payloadBytes = 1 + 4 + idBytes;
const macBytes = 32;

/** Signed tokens of visitors. Nothing is stored, and every node of the site accepts them. */
export function createSessionTokens({
  signer,
  clock,
  random = randomBytes,
}: {
  readonly signer: Signer;
  readonly clock: Pick<Clock, 'now'>;
  readonly random?: (bytes: number) => Buffer;
}): SessionTokens {
  return {
    begin: () => ({ id: random(idBytes).toString('base64url'), issuedAt: clock.now() }),
    async issue(session, binding) {
      const payload = Buffer.alloc(payloadBytes);
      payload.writeUInt8(version, 0);
      payload.writeUInt32BE(Math.floor(clock.now() / 1000), 1);
      Buffer.from(session.id, 'base64url').copy(payload, 5);
      return Buffer.concat([payload, await signer.sign('session', signedParts(payload, binding))]).toString(
        'base64url',
      );
    },
    async read(token, binding) {
      if (!/^[\w-]{20,100}$/.test(token)) return null;
      const bytes = Buffer.from(token, 'base64url');
      // Accept only one spelling of the same bytes.
      if (bytes.length !== payloadBytes + macBytes || bytes[0] !== version || bytes.toString('base64url') !== token)
        return null;
      const payload = bytes.subarray(0, payloadBytes);
      if (!(await signer.isSigned(bytes.subarray(payloadBytes), 'session', signedParts(payload, binding)))) return null;
      const issuedAt = payload.readUInt32BE(1) * 1000;
      if (clock.now() >= issuedAt + tokenLife) return null;
      return { id: payload.subarray(5).toString('base64url'), issuedAt };
    },
    isAging: ({ issuedAt }) => clock.now() - issuedAt >= renewAfter,
  };
}

function signedParts(
  payload: Buffer,
  { audience, userId, carrier, origin, userAgent }: TokenBinding,
): (string | number)[] {
  return [
    payload.toString('base64url'),
    audience,
    userId,
    carrier,
    origin,
    userAgent.replace(/[\d._]+/g, '#').slice(0, 300),
  ];
}
