import { isRecord } from '#plugin-api';
import { jsonResponse, Refusal } from '../../fake.ts';
import type { FakeResponse } from '../../fake.ts';

export function chromaError(status: number, error: string, message: string): FakeResponse {
  return jsonResponse(status, { error, message });
}

/** 400: the request is understood and wrong. */
export const invalidArgument = (message: string): Refusal =>
  new Refusal(chromaError(400, 'InvalidArgumentError', message));

/** 422: the body has another shape than the server reads. */
export const unreadable = (message: string): Refusal =>
  new Refusal(
    chromaError(
      422,
      'ChromaError',
      `Failed to deserialize the JSON body into the target type: ${message} at line 1 column 2`,
    ),
  );

export const notFound = (message: string): Refusal => new Refusal(chromaError(404, 'NotFoundError', message));

export const conflict = (message: string): Refusal => new Refusal(chromaError(409, 'ChromaError', message));

/** @throws Refusal when the body is no object. */
export function objectBody(body: unknown): Record<string, unknown> {
  if (isRecord(body)) return body;
  throw unreadable('expected a JSON object');
}

/** @throws Refusal when the member is missing or no string. */
export function stringMember(body: Readonly<Record<string, unknown>>, member: string): string {
  const value = body[member];
  if (typeof value === 'string') return value;
  throw unreadable(value === undefined ? `missing field \`${member}\`` : `${member}: invalid type, expected a string`);
}
