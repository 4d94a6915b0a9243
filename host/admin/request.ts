import type { Request, Response } from 'express';

import { isUrl, type AdminRequest, type Headers, type Logger, type User } from '#plugin-api';
import { parseForm } from './form.ts';

/** Largest form in bytes (D4). */
export const formLimit = 1_048_576;

export function wantsJson(request: Request): boolean {
  return (
    /\bapplication\/json\b/.test(request.headers.accept ?? '') && !/\btext\/html\b/.test(request.headers.accept ?? '')
  );
}

/** The value of `X-Request-Id`, which the HTTP server sets on every answer. */
export function requestId(response: Response): string {
  return String(response.getHeader('x-request-id') ?? '');
}

/**
 * Whether a POST comes from the site's own pages, as far as the browser says so. Nonces guard what is signed in; this
 * guards sign-in and setup, where there is no session to bind a nonce to.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.headers['sec-fetch-site'];
  if (typeof site === 'string') return site === 'same-origin' || site === 'none';
  const origin = request.headers.origin;
  // Browsers write 'null' for their own pages under `Referrer-Policy: no-referrer`.
  if (origin === undefined || origin === 'null') return true;
  return isUrl(origin) && new URL(origin).host === request.host;
}

/** The posted form; empty for anything that is not urlencoded. */
export function readForm(request: Request): Record<string, unknown> {
  return typeof request.body === 'string' ? parseForm(request.body) : {};
}

interface AdminRequestInit {
  readonly request: Request;
  readonly response: Response;
  readonly user: User;
  readonly form: Readonly<Record<string, unknown>>;
  readonly files?: AdminRequest['files'];
  readonly log: Logger;
}

/** What pages and actions get. `_nonce` is taken out of the form: it is the host's affair. */
export function toAdminRequest({ request, response, user, form, files, log }: AdminRequestInit): AdminRequest {
  const { _nonce, ...fields } = form;
  const hangUp = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) hangUp.abort(new Error('The browser hung up.'));
  });
  const id = requestId(response);
  return {
    user,
    form: fields,
    ...(files && { files }),
    query: parseForm(new URL(request.originalUrl, 'http://local.invalid').search),
    headers: flatHeaders(request),
    signal: hangUp.signal,
    log: log.child({ request: id }),
    id,
    ip: request.ip ?? '',
  };
}

function flatHeaders(request: Request): Headers {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return headers;
}
