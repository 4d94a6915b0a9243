import { isRecord } from '#plugin-api';
import { jsonResponse, Refusal } from '../../fake.ts';
import type { FakeResponse } from '../../fake.ts';

export const qdrantVersion = '1.18.0';

/** Seconds every answer says it took: the same each time, as all answers of the sandbox are. */
const time = 0.001;

export function ok(result: unknown): FakeResponse {
  return jsonResponse(200, { usage: null, result, status: 'ok', time });
}

export function qdrantError(
  status: number,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): FakeResponse {
  return jsonResponse(status, { status: { error }, time }, headers);
}

export const wrongInput = (message: string): Refusal => new Refusal(qdrantError(400, `Wrong input: ${message}`));

/** The body is JSON of another shape than is read. */
export const formatError = (message: string): Refusal =>
  new Refusal(qdrantError(400, `Format error in JSON body: ${message}`));

/** The body is of the right shape and holds values out of their range. */
export const validationError = (message: string): Refusal =>
  new Refusal(qdrantError(422, `Validation error in JSON body: [${message}]`));

/** @throws Refusal when the body is no object. */
export function objectBody(body: unknown): Record<string, unknown> {
  if (isRecord(body)) return body;
  throw formatError('EOF while parsing a value at line 1 column 0');
}
