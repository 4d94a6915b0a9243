import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Logger } from '#plugin-api';
import { isUnavailable, retryAfter } from '../database/outages.ts';
import { allowPageScripts } from './security-headers.ts';

/** Returns the HTML of an error page. */
export type RenderError = (status: number, requestId: string) => Promise<string>;

export interface ErrorPagesDependencies {
  readonly renderError: RenderError;
  readonly log: Logger;
}

/**
 * The page for unknown URLs, and the page for handlers that threw. Both show only the status;
 * the log shows the cause under the request id.
 */
export function createErrorPages({ renderError, log }: ErrorPagesDependencies): {
  readonly notFound: RequestHandler;
  readonly failed: ErrorRequestHandler;
} {
  async function sendErrorPage(request: Request, response: Response, status: number): Promise<void> {
    const requestId = String(request.headers['x-request-id'] ?? '');
    allowPageScripts(response);
    const page = await renderError(status, requestId).catch((error: unknown) => {
      log.error('Error page failed', { event: 'error_page_failed', error, request_id: requestId });
      return plainPage(status, requestId);
    });
    if (status === 503) response.set('Retry-After', retryAfter);
    response.status(status).set('Cache-Control', 'no-store').type('html').send(page);
  }

  return {
    notFound: (request, response) => sendErrorPage(request, response, 404),
    // express recognizes error handlers by their four parameters.
    // eslint-disable-next-line max-params
    failed: async (error: unknown, request, response, _next) => {
      const status = errorStatus(error);
      const { method, path, headers } = request;
      const fields = { error, method, path, request_id: headers['x-request-id'] };
      if (status === 503) log.warn('Page unavailable', { event: 'page_unavailable', ...fields });
      else if (status >= 500) log.error('Page failed', { event: 'page_failed', ...fields });
      else log.debug('Page refused', { event: 'page_refused', ...fields });
      if (response.headersSent) response.destroy();
      else await sendErrorPage(request, response, status);
    },
  };
}

/** Errors of body parsers and RestErrors carry a status; all others are outages of the database that pass, or bugs. */
function errorStatus(error: unknown): number {
  if (isUnavailable(error)) return 503;
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : 500;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500;
}

function plainPage(status: number, requestId: string): string {
  return `<!doctype html><html lang="en"><title>Error ${status}</title><h1>Error ${status}</h1><p>Request ${requestId}</p></html>\n`;
}
