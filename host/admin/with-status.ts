import type { Response } from 'express';
import { retryAfter } from '../database/outages.ts';

/** Sets the status of a response. With 503 it says when to try again. */
export function withStatus(response: Response, status: number): Response {
  if (status === 503) response.set('Retry-After', retryAfter);
  return response.status(status);
}
