import type { Request, Response } from 'express';

import type { AdminActionResult } from '#plugin-api';
import type { AdminNonces, SignedIn } from './dependencies.ts';
import { readCookie } from './request.ts';

export type Notice = NonNullable<AdminActionResult['notice']>;

const maxLength = 1_200;
const kinds: readonly string[] = ['success', 'error', 'warning', 'info'];

/**
 * A notice for the page after a redirect, in a cookie that lives for a minute. A nonce over text, user and session signs
 * it, so every node can verify it and other sites cannot forge it.
 */
export interface FlashNotices {
  write(response: Response, notice: Notice, session: SignedIn): Promise<void>;
  /** Returns the notice of the request if its signature is valid, and clears the cookie. */
  consume(request: Request, response: Response, session: SignedIn): Promise<Notice | null>;
}

export function createFlashNotices(nonces: AdminNonces, isSecure: () => boolean): FlashNotices {
  const cookieName = (): string => (isSecure() ? '__Host-svc_notice' : 'svc_notice');
  // The prefix requires this path.
  const attributes = (): string => `; Path=/; HttpOnly; SameSite=Lax${isSecure() ? '; Secure' : ''}`;
  const nonceAction = (payload: string): string => `notice:${payload}`;
  return {
    async write(response, notice, { user, sessionId }) {
      const text = notice.text.length > maxLength ? `${notice.text.slice(0, maxLength)}…` : notice.text;
      const payload = Buffer.from(
        JSON.stringify([notice.kind, text, ...(fits(notice.undo) ? [notice.undo] : [])]),
      ).toString('base64url');
      const nonce = await nonces.create(nonceAction(payload), user, sessionId);
      response.append('Set-Cookie', `${cookieName()}=${payload}.${nonce}; Max-Age=60${attributes()}`);
    },
    async consume(request, response, { user, sessionId }) {
      const value = readCookie(request, cookieName());
      if (value === null) return null;
      response.append('Set-Cookie', `${cookieName()}=; Max-Age=0${attributes()}`);
      const [payload = '', nonce = ''] = value.split('.');
      const isGenuine = await nonces.verify({ nonce, action: nonceAction(payload), user, sessionId });
      return isGenuine ? decode(payload) : null;
    },
  };
}

/** Browsers keep cookies of up to 4 KB. A longer list of fields is shown without "Undo". */
function fits(undo: Notice['undo']): boolean {
  return undo !== undefined && JSON.stringify(undo).length <= maxLength;
}

function decode(payload: string): Notice | null {
  try {
    // The nonce has shown that this site wrote it.
    const [kind, text, undo] = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as [
      unknown,
      unknown,
      Notice['undo'],
    ];
    return typeof kind === 'string' && kinds.includes(kind) && typeof text === 'string'
      ? { kind: kind as Notice['kind'], text, ...(undo && { undo }) }
      : null;
  } catch {
    return null;
  }
}
