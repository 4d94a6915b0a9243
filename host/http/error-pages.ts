import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import type { Logger } from '#plugin-api';

/** Answers the HTML of an error page. */
export type RenderError = (status: number, requestId: string) => Promise<string>;

export interface ErrorPagesDependencies {
  readonly renderError: RenderError;
  readonly log: Logger;
}

/** The page for addresses nobody answered, and the page for handlers that threw. Neither shows a reason beyond the status; it is in the log, under the request's id. */
export function createErrorPages({ renderError, log }: ErrorPagesDependencies): {
  readonly notFound: RequestHandler;
  readonly failed: ErrorRequestHandler;
} {
  async function answer(request: Request, response: Response, status: number): Promise<void> {
    const requestId = String(request.headers['x-request-id'] ?? '');
    const page = await renderError(status, requestId).catch((error: unknown) => {
      log.error('The error page failed.', { error, requestId });
      return plainPage(status, requestId);
    });
    response.status(status).set('Cache-Control', 'no-store').type('html').send(page);
  }

  return {
    notFound: (request, response) => answer(request, response, 404),
    // express tells error handlers by their four parameters.
    // eslint-disable-next-line max-params
    failed: async (error: unknown, request, response, _next) => {
      const status = statusOf(error);
      const facts = { error, method: request.method, path: request.path, requestId: request.headers['x-request-id'] };
      if (status >= 500) log.error('A page failed.', facts);
      else log.debug('A page was refused.', facts);
      if (response.headersSent) response.destroy();
      else await answer(request, response, status);
    },
  };
}

/** Errors of body parsers and of RestError carry a status; all others are ours. */
function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : 500;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : 500;
}

function plainPage(status: number, requestId: string): string {
  return `<!doctype html><html lang="en"><title>Error ${status}</title><h1>Error ${status}</h1><p>Request ${requestId}</p></html>\n`;
}
