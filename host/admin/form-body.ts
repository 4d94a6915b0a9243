import type { RequestHandler } from 'express';
import { readBytes, RestError, restError } from '#plugin-api';
import type { AdminDependencies } from './dependencies.ts';
import { formLimit } from './request.ts';

/** Largest form in bytes of a visitor who has not signed in: sign-in and setup are far smaller. */
const visitorFormLimit = 65_536;

/**
 * Reads URL-encoded forms into `request.body` as text. Who has not signed in may send little, and large forms of all callers
 * count against the memory for request bodies.
 */
export function createFormReader({ authenticate, readBody }: Pick<AdminDependencies, 'authenticate' | 'readBody'>) {
  const handler: RequestHandler = async (request, response, next) => {
    if (!request.is('application/x-www-form-urlencoded')) return next();
    if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') throw unreadable();
    const isLarge = !(Number(request.headers['content-length']) <= visitorFormLimit);
    const isAnonymous = !isLarge || (await authenticate(request)) === null;
    const limit = isAnonymous ? visitorFormLimit : formLimit;
    let body: Buffer | null;
    try {
      body = await readBody(request, response, { limit, isAnonymous });
    } catch (error) {
      if (error instanceof RestError) throw error;
      // The caller hung up: there is no one to respond to.
      return;
    }
    if (body === null) throw tooLarge(limit);
    request.body = readBytes(body);
    next();
  };
  return handler;
}

function tooLarge(limit: number): RestError {
  return restError(
    413,
    'rest_body_too_large',
    limit === formLimit ? 'The form is larger than 1 MB.' : 'The form is larger than 64 KB. Sign in first.',
  );
}

function unreadable(): RestError {
  return restError(415, 'rest_form_unreadable', 'The form could not be read. Reload the page and try again.');
}
