import { RestError, restError } from '#plugin-api';
import { retryAfter } from '../database/outages.ts';
import type { JsonError } from './json-body.ts';

/** The host's own errors. Codes and messages are WordPress's where it has them (D4). */
export const hostErrors = {
  noRoute: () => restError(404, 'rest_no_route', 'No route was found matching the URL and request method.'),
  invalidHandler: () => restError(500, 'rest_invalid_handler', 'The handler for the route is invalid.'),
  forbidden: (isSignedIn: boolean) =>
    restError(isSignedIn ? 403 : 401, 'rest_forbidden', 'Sorry, you are not allowed to do that.'),
  invalidJson: ({ code, message }: JsonError) =>
    new RestError({
      code: 'rest_invalid_json',
      message: 'Invalid JSON body passed.',
      status: 400,
      data: { json_error_code: code, json_error_message: message },
    }),
  bodyTooLarge: (limit: number) =>
    new RestError({
      code: 'rest_body_too_large',
      message: `The request body is too large. Send at most ${limit} bytes.`,
      status: 413,
      data: { limit },
    }),
  anonymousBodyTooLarge: (limit: number, most: number) =>
    new RestError({
      code: 'rest_body_too_large',
      message: `The request body is too large. Send at most ${limit} bytes, or sign in to send up to ${most} bytes.`,
      status: 413,
      data: { limit },
    }),
  tooMuchText: (limit: number) =>
    new RestError({
      code: 'rest_body_too_large',
      message: `The request body is too large. Send at most ${limit} bytes besides images as data: URLs.`,
      status: 413,
      data: { limit },
    }),
  encodedBody: (encoding: string) =>
    new RestError({
      code: 'rest_unsupported_content_encoding',
      message: `The request body has the content encoding ${encoding.slice(0, 40)}. Send it without one.`,
      status: 415,
      headers: { 'Accept-Encoding': 'identity' },
    }),
  bodyTooSlow: () =>
    new RestError({
      code: 'rest_body_too_slow',
      message: 'The request body arrived too slowly. Send it again over a faster connection.',
      status: 408,
      headers: { Connection: 'close' },
    }),
  busy: () =>
    new RestError({
      code: 'rest_server_busy',
      message: 'The server is receiving too many large requests at once. Wait 5 seconds and try again.',
      status: 503,
      headers: { 'Retry-After': '5' },
    }),
  missingParameters: (names: readonly string[]) =>
    new RestError({
      code: 'rest_missing_callback_param',
      message: `Missing parameter(s): ${names.join(', ')}`,
      status: 400,
      data: { params: names },
    }),
  unavailable: (cause: unknown) =>
    new RestError({
      code: 'rest_service_unavailable',
      message: 'The site cannot use its database at the moment. Try again in a few seconds.',
      status: 503,
      headers: { 'Retry-After': retryAfter },
      cause,
    }),
  encoding: (message: string) => restError(500, 'rest_encode_error', message),
  internal: (requestId: string) =>
    new RestError({
      code: 'rest_internal_error',
      status: 500,
      data: { request_id: requestId },
      message:
        'Something went wrong on the server. Give the site’s administrator the request id: the log shows the cause.',
    }),
  batchPath: () => restError(400, 'parse_path_failed', 'Could not parse the path.'),
  batchNotAllowed: () =>
    restError(400, 'rest_batch_not_allowed', 'The requested route does not support batch requests.'),
} as const;

/** Why one parameter is invalid. Without details only the message is shown. */
export interface ParameterError {
  readonly message: string;
  readonly details?: { readonly code: string; readonly message: string; readonly data: unknown };
}

/** `rest_invalid_param` with every invalid parameter (D4). Empty details are a list, as PHP encodes them. */
export function invalidParameters(errors: ReadonlyMap<string, ParameterError>): RestError {
  const entries = [...errors];
  const details = entries.flatMap(([name, error]) =>
    error.details === undefined ? [] : [[name, error.details] as const],
  );
  return new RestError({
    code: 'rest_invalid_param',
    message: `Invalid parameter(s): ${entries.map(([name]) => name).join(', ')}`,
    status: 400,
    data: {
      params: Object.fromEntries(entries.map(([name, { message }]) => [name, message])),
      details: details.length === 0 ? [] : Object.fromEntries(details),
    },
  });
}

/** `rest_invalid_param` for one parameter that cannot be read. */
export function unreadableParameter(name: string, message: string): RestError {
  return invalidParameters(
    new Map([[name, { message, details: { code: 'rest_invalid_param', message, data: null } }]]),
  );
}
