import { RestError, RestResponse } from '#plugin-api';
import { isPlainObject } from './schema/values.ts';

/** One error in the shape every caller sees (contract 7). */
export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly data: unknown;
  readonly additional_errors?: readonly ErrorBody[];
}

/**
 * Converts a thrown value to a RestError: a RestError, or any object with a string `code` and a `status` of 400..599.
 * Null for everything else: unexpected errors are logged and never shown to the caller.
 */
export function asRestError(thrown: unknown): RestError | null {
  if (thrown instanceof RestError) return thrown;
  if (typeof thrown !== 'object' || thrown === null) return null;
  const { code, status, message, data, headers } = thrown as Record<string, unknown>;
  if (typeof code !== 'string' || typeof status !== 'number' || !isErrorStatus(status)) return null;
  return new RestError({
    code,
    status,
    data,
    message: typeof message === 'string' ? message : code,
    ...(isPlainObject(headers) && { headers: headers as Record<string, string> }),
    cause: thrown,
  });
}

function isErrorStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 400 && status <= 599;
}

/** Every error response is built here. */
export function errorResponse(error: RestError): RestResponse {
  const response = new RestResponse({
    status: isErrorStatus(error.status) ? error.status : 500,
    headers: error.headers,
    body: errorBody(error),
  });
  errors.add(response);
  return response;
}

const errors = new WeakSet<RestResponse>();

/** Whether `errorResponse` built the response. */
export function isErrorResponse(response: RestResponse): boolean {
  return errors.has(response);
}

export function errorBody(error: RestError): ErrorBody {
  const { code, message, additional } = error;
  const body = { code, message, data: errorData(error) };
  return additional.length === 0 ? body : { ...body, additional_errors: additional.map(errorBody) };
}

/** Object members are added to the status; any other value replaces it. */
function errorData({ data, status }: RestError): unknown {
  if (data === undefined) return { status };
  return isPlainObject(data) ? { status, ...data } : data;
}
