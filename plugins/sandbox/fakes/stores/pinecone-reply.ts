import { isRecord } from '#plugin-api';
import { jsonResponse, Refusal } from '../../fake.ts';
import type { FakeResponse } from '../../fake.ts';

/** An error of the control plane. */
export function controlError(status: number, code: string, message: string): FakeResponse {
  return jsonResponse(status, { error: { code, message }, status });
}

/** Codes of gRPC, which the data plane answers with. */
const codes: Readonly<Record<number, number>> = { 400: 3, 401: 16, 404: 5, 413: 11, 429: 8, 500: 13 };

/** An error of the data plane. */
export function dataError(status: number, message: string): FakeResponse {
  return jsonResponse(status, { code: codes[status] ?? 2, message, details: [] });
}

export const invalidArgument = (message: string): Refusal => new Refusal(dataError(400, message));

/** Units a read is said to cost: the same each time. */
export const usage = { readUnits: 1 };

/** @throws Refusal when the body is no object. */
export function objectBody(body: unknown): Record<string, unknown> {
  if (isRecord(body)) return body;
  throw invalidArgument('Invalid JSON: expected an object');
}
