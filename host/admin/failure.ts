import type { Logger } from '#plugin-api';

/** What the browser is told of an error: its own sentence where it was made for callers, else a fixed one. */
export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly data: unknown;
  /** Sentences by form field, from `data.params`. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Maps any thrown value. A RestError, or any object with a string `code` and a status of 400..599, speaks for itself;
 * everything else is logged and answered with the request's id.
 */
export function toFailure(error: unknown, { log, id }: { readonly log: Logger; readonly id: string }): Failure {
  if (isSpeaking(error)) {
    return {
      status: error.status,
      code: error.code,
      text: error.message,
      data: error.data ?? null,
      fields: fieldsOf(error.data),
    };
  }
  log.error('An admin action failed.', { error, request: id });
  const reference = id === '' ? '' : ` (request ${id})`;
  return {
    status: 500,
    code: 'rest_internal_error',
    text: `Something went wrong; the server's log says what${reference}.`,
    data: null,
    fields: {},
  };
}

function isSpeaking(error: unknown): error is { code: string; status: number; message: string; data?: unknown } {
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

function fieldsOf(data: unknown): Record<string, string> {
  const params = typeof data === 'object' && data !== null && 'params' in data ? data.params : null;
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return {};
  return Object.fromEntries(
    Object.entries(params).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
