import type { Request, Response } from 'express';

import {
  findFieldError,
  isUrl,
  parseForm,
  restError,
  storableValue,
  type AdminRequest,
  type Headers,
  type Logger,
  type RestError,
  type User,
} from '#plugin-api';
import { localAdminPath } from './local-path.ts';

/** Largest form in bytes (D4). */
export const formLimit = 1_048_576;

export function wantsJson(request: Request): boolean {
  return (
    /\bapplication\/json\b/.test(request.headers.accept ?? '') && !/\btext\/html\b/.test(request.headers.accept ?? '')
  );
}

/** The value of `X-Request-Id`, which the HTTP server sets on every response. */
export function requestId(response: Response): string {
  return String(response.getHeader('x-request-id') ?? '');
}

/**
 * Whether the browser reports that a POST comes from a page of this site. It guards sign-in and setup, which have no
 * session to bind a nonce to.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.headers['sec-fetch-site'];
  if (typeof site === 'string') return site === 'same-origin' || site === 'none';
  const origin = request.headers.origin;
  // Callers that are not browsers send none. 'null' is what a sandboxed frame of another site sends.
  if (origin === undefined) return true;
  return isUrl(origin) && new URL(origin).host === request.host;
}

/** Whether the browser reports that a form was sent from a page of the admin. */
export function isFromAdmin(request: Request): boolean {
  const { referer = '', origin, 'sec-fetch-site': site } = request.headers;
  if ((origin ?? site) === undefined || !isSameOrigin(request) || !isUrl(referer)) return false;
  const { host, pathname } = new URL(referer);
  return host === request.host && localAdminPath(pathname) !== null;
}

/** The posted form as it was sent. Empty for a body that is not URL-encoded. */
export function readSentForm(request: Request): Record<string, unknown> {
  return typeof request.body === 'string' ? parseForm(request.body) : {};
}

/** The posted form with U+FFFD for what cannot be stored: `formError` says whether the form is to be refused. */
export function readForm(request: Request): Record<string, unknown> {
  return storableValue(readSentForm(request));
}

/** A sentence that names the field of the posted form with text that cannot be stored (D54). Null: there is none. */
export function formError(request: Request): string | null {
  return findFieldError(readSentForm(request))?.message ?? null;
}

/** The query with U+FFFD for what cannot be stored, and a sentence about the parameter that has it. */
export function readQuery(request: Request): {
  readonly query: Record<string, unknown>;
  readonly error: string | null;
} {
  const { query } = request;
  return { query: storableValue(query), error: findFieldError(query)?.message ?? null };
}

/** Value of a cookie, or null. */
export function readCookie(request: Request, name: string): string | null {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return null;
}

interface AdminRequestInit {
  readonly request: Request;
  readonly response: Response;
  readonly user: User;
  readonly form: Readonly<Record<string, unknown>>;
  readonly files?: AdminRequest['files'];
  readonly log: Logger;
  readonly isSignInFresh: boolean;
}

/** The fields of a form without the nonce, the questions, and the password or passkey that confirm it. */
export function withoutConfirmation(form: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { _nonce, _check, _question, _question_safe, _question_label, _questions, ...others } = form;
  const { _password, _credential, _challenge, ...fields } = others;
  return fields;
}

/** Without the fields that the host itself adds to forms. */
function withoutStamp(form: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { _shown, _overwrite, ...fields } = withoutConfirmation(form);
  return fields;
}

/** The request for pages and actions, without the fields that the host has already verified. */
export function toAdminRequest({ request, response, user, form, files, ...more }: AdminRequestInit): AdminRequest {
  const aborter = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) aborter.abort(new Error('The client closed the connection.'));
  });
  const id = requestId(response);
  return {
    user,
    form: withoutStamp(form),
    ...(files && { files }),
    query: readQuery(request).query,
    headers: flattenHeaders(request),
    signal: aborter.signal,
    log: more.log.child({ request_id: id }),
    id,
    ip: request.ip ?? '',
    isSignInFresh: more.isSignInFresh,
    requireFreshSignIn() {
      if (!more.isSignInFresh) throw freshSignInRequired();
    },
  };
}

/** Code of the error on which the admin asks for the password. */
export const freshSignInCode = 'fresh_sign_in_required';

function freshSignInRequired(): RestError {
  return restError(403, freshSignInCode, 'Confirm your password to do this.');
}

function flattenHeaders(request: Request): Headers {
  const headers: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(request.headers))
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  return headers;
}
