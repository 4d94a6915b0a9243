import { createHmac } from 'node:crypto';
import { isSameSecret, type Clock, type HooksApi } from '#plugin-api';

declare module '#plugin-api' {
  interface SyncFilterMap {
    /** Maximum lifetime of a nonce in seconds; the minimum is half of it. Default: 86,400. */
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
  /** Empty for visitors. */
  readonly sessionId: string;
}

/**
 * Tokens against request forgery: bound to an action, a user and a session, and reusable for 12 to 24 hours. Nothing is
 * stored, and every node accepts them.
 */
export interface Nonces {
  /** Ten characters of `A-Za-z0-9_-`. */
  create(action: string, user: { readonly id: number }, sessionId: string): string;
  /** 1: created in the current half of its lifetime, 2: in the previous one; false: invalid. */
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
      if (isSameSecret(nonce, make(bound, now))) return 1;
      return isSameSecret(nonce, make(bound, now - 1)) ? 2 : false;
    },
  };
}
