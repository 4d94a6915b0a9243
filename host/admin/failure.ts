import type { Logger } from '#plugin-api';
import { isUnavailable } from '../database/outages.ts';

/** An error as the browser sees it: its own message if it is meant for callers, otherwise a fixed one. */
export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly data: unknown;
  /** Messages by form field, from `data.params`. */
  readonly fields: Readonly<Record<string, string>>;
}

interface FailureInit {
  readonly log: Logger;
  readonly id: string;
  readonly page?: string;
  readonly owner?: string;
}

/**
 * Maps any thrown value. A RestError, or any object with a string `code` and a status of 400..599, keeps its message.
 * Everything else is logged and gets a fixed message: 503 while the database is unavailable, or one with the request id.
 *
 * @param log names the plugin of the page.
 * @param page its slug, if it could not be shown; default: one of its actions failed.
 * @param owner slug of the plugin of the page, which the message names; default: `host`.
 */
export function toFailure(error: unknown, { log, id, page, owner = 'host' }: FailureInit): Failure {
  if (isRestErrorLike(error)) {
    return {
      status: error.status,
      code: error.code,
      text: error.message,
      data: error.data ?? null,
      fields: readFieldErrors(error.data),
    };
  }
  if (isUnavailable(error)) {
    log.warn('The admin could not use the database', { event: 'admin_unavailable', page, error, request_id: id });
    return {
      status: 503,
      code: 'rest_service_unavailable',
      text: 'The site cannot use its database at the moment. Try again in a few seconds.',
      data: null,
      fields: {},
    };
  }
  if (page === undefined) log.error('Admin action failed', { event: 'admin_action_failed', error, request_id: id });
  else log.error('Failed to show an admin page', { event: 'admin_page_failed', page, error, request_id: id });
  const reference = id === '' ? '' : ` (request ${id})`;
  return {
    status: 500,
    code: 'rest_internal_error',
    text:
      owner === 'host'
        ? `Something went wrong. See the server log for details${reference}.`
        : `The plugin '${owner}' failed. See the server log for details${reference}.`,
    data: null,
    fields: {},
  };
}

function isRestErrorLike(error: unknown): error is { code: string; status: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) return false;
  const { code, status, message } = error as { code?: unknown; status?: unknown; message?: unknown };
  return (
    typeof code === 'string' &&
    typeof message === 'string' &&
    Number.isInteger(status) &&
    Number(status) >= 400 &&
    Number(status) <= 599
  );
}

function readFieldErrors(data: unknown): Record<string, string> {
  const params = typeof data === 'object' && data !== null && 'params' in data ? data.params : null;
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return {};
  return Object.fromEntries(
    Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
