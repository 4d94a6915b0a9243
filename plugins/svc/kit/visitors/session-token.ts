import { randomBytes } from 'node:crypto';
import type { Clock } from '#plugin-api';
import type { Signer } from './signer.ts';

/** What a token is bound to: with any of it different it is worth nothing. */
export interface TokenBinding {
  /** What the visitor came for: the number of a chatbot, or a text such as `form:3`. */
  readonly audience: number | string;
  /** 0: a guest. Whoever signs in or out begins a new session. */
  readonly userId: number;
  /** One of a cookie is not taken from a body, nor the other way round. */
  readonly carrier: 'cookie' | 'body';
  /** `originKey` of the page: what one site's script got is of no use to another's. */
  readonly origin: string;
  /** Header `User-Agent`; its numbers do not count, so that a browser's update ends no session. */
  readonly userAgent: string;
}

export interface Session {
  /** 22 characters of `A-Za-z0-9_-`; kept with conversations, worth nothing without its token. */
  readonly id: string;
  /** Milliseconds since the epoch: when its token was made. */
  readonly issuedAt: number;
}

export interface SessionTokens {
  begin(): Session;
  issue(session: Pick<Session, 'id'>, binding: TokenBinding): Promise<string>;
  /** The session of a token that fits and has not expired; null for all others, without a word why. */
  read(token: string, binding: TokenBinding): Promise<Session | null>;
  /** Whether it is time for a new token (sliding renewal). */
  isAging(session: Session): boolean;
}

const day = 24 * 3600_000;
export const tokenLife = 30 * day;
const renewAfter = day;

const version = 1;
const idBytes = 16;
/** Version, seconds of its making, session. */
const payloadBytes = 1 + 4 + idBytes;
const macBytes = 32;

/** Signed tokens of visitors: nothing is stored, every node of the site agrees. */
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
      // One text for each token: a second spelling of the same bytes is none.
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
