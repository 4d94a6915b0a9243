import type { Request, Response } from 'express';

import type { AdminActionResult } from '#plugin-api';
import type { AdminNonces, SignedIn } from './dependencies.ts';

export type Notice = NonNullable<AdminActionResult['notice']>;

const cookieName = 'svc_notice';
const longest = 1_200;
const kinds: readonly string[] = ['success', 'error', 'warning', 'info'];

/**
 * A notice for the page the browser is sent to, in a cookie that lives a minute. It is signed with a nonce over its
 * text, user and session, so it holds on every node and nobody else can put words on the page.
 */
export interface FlashNotices {
  write(response: Response, notice: Notice, session: SignedIn): Promise<void>;
  /** The notice that came along, if it is genuine; the cookie is cleared. */
  take(request: Request, response: Response, session: SignedIn): Promise<Notice | null>;
}

export function createFlashNotices(nonces: AdminNonces, isSecure: () => boolean): FlashNotices {
  const attributes = (): string => `; Path=/admin; HttpOnly; SameSite=Lax${isSecure() ? '; Secure' : ''}`;
  const actionOf = (payload: string): string => `notice:${payload}`;
  return {
    async write(response, notice, { user, sessionId }) {
      const text = notice.text.length > longest ? `${notice.text.slice(0, longest)}…` : notice.text;
      const payload = Buffer.from(JSON.stringify([notice.kind, text])).toString('base64url');
      const nonce = await nonces.create(actionOf(payload), user, sessionId);
      response.append('Set-Cookie', `${cookieName}=${payload}.${nonce}; Max-Age=60${attributes()}`);
    },
    async take(request, response, { user, sessionId }) {
      const value = readCookie(request, cookieName);
      if (value === null) return null;
      response.append('Set-Cookie', `${cookieName}=; Max-Age=0${attributes()}`);
      const [payload = '', nonce = ''] = value.split('.');
      const genuine = await nonces.verify({ nonce, action: actionOf(payload), user, sessionId });
      return genuine ? decode(payload) : null;
    },
  };
}

function readCookie(request: Request, name: string): string | null {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return null;
}

function decode(payload: string): Notice | null {
  try {
    const [kind, text] = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as [unknown, unknown];
    return typeof kind === 'string' && kinds.includes(kind) && typeof text === 'string'
      ? { kind: kind as Notice['kind'], text }
      : null;
  } catch {
    return null;
  }
}
