import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock, HooksApi } from '#plugin-api';

declare module '#plugin-api' {
  interface FilterMap {
    /** Seconds a nonce lives at most; it lives at least half of that. Default 86,400. */
    nonce_life: (seconds: number, action: string) => number;
  }
}

export interface NoncesDependencies {
  /** 32 bytes, the same on all nodes. */
  readonly key: () => Buffer;
  readonly clock: Pick<Clock, 'now'>;
  readonly hooks: Pick<HooksApi, 'applyFilters'>;
}

export interface NonceCheck {
  readonly nonce: string;
  readonly action: string;
  readonly user: { readonly id: number };
  /** Empty for visitors who are not signed in. */
  readonly sessionId: string;
}

/**
 * Tokens that show a request was meant: bound to an action, a user and a session, good for 12 to 24 hours, and any
 * number of times within. Nothing is stored; every node of the site agrees.
 */
export interface Nonces {
  /** Ten characters of `A-Za-z0-9_-`. */
  create(action: string, user: { readonly id: number }, sessionId: string): string;
  /** 1: made in the present half of its life, 2: in the one before; false: not good. */
  verify(check: NonceCheck): 1 | 2 | false;
}

export function createNonces({ key, clock, hooks }: NoncesDependencies): Nonces {
  function tick(action: string): number {
    const life = hooks.applyFilters('nonce_life', 86_400, action);
    return Math.ceil(clock.now() / (life * 500));
  }

  function make({ action, user, sessionId }: Omit<NonceCheck, 'nonce'>, at: number): string {
    return createHmac('sha256', key())
      .update(JSON.stringify([at, action, user.id, sessionId]))
      .digest('base64url')
      .slice(0, 10);
  }

  return {
    create: (action, user, sessionId) => make({ action, user, sessionId }, tick(action)),
    verify({ nonce, ...bound }) {
      const now = tick(bound.action);
      if (isEqual(nonce, make(bound, now))) return 1;
      return isEqual(nonce, make(bound, now - 1)) ? 2 : false;
    },
  };
}

function isEqual(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}
