import type { OutboundInit, OutboundResponse } from '#plugin-api';
import { Answer } from './outbound-answer.ts';
import { OutboundError } from './outbound-errors.ts';
import type { OutboundCode } from './outbound-errors.ts';

/**
 * What main thread and sending thread hand each other: many requests or answers in one message, as one flat list of plain
 * values and one block of bytes, since every object and every block of its own costs more to hand over than it takes to send.
 */
export interface Batch {
  readonly values: readonly (string | number | boolean | null | undefined)[];
  /** All bodies, one behind the other. */
  readonly bytes: Uint8Array;
}

/** What is handed over of a request: bytes to send, no signal, nothing but text in its headers. */
export interface BulkRequest {
  readonly url: string;
  readonly init: OutboundInit;
  readonly names: string;
  readonly values: string;
  readonly body: Uint8Array;
}

export interface NumberedRequest {
  readonly id: number;
  readonly url: string;
  readonly init: OutboundInit;
}

export type NumberedAnswer = { readonly id: number; readonly answer: OutboundResponse } | { readonly id: number; readonly error: unknown };

/** Names and values are joined by it: neither can hold it. */
const between = '\n';

/** The request in the form in which it can be handed over; null: it cannot, and has to be sent where it is. */
export function toBulk(url: string, init: OutboundInit): BulkRequest | null {
  const { body, signal, headers = {} } = init;
  if (!(body instanceof Uint8Array) || signal !== undefined) return null;
  let names = '';
  let values = '';
  for (const name in headers) {
    const value: unknown = headers[name];
    if (typeof value !== 'string' || value.includes(between) || name.includes(between)) return null;
    names += names === '' ? name : between + name;
    values += values === '' && names === name ? value : between + value;
  }
  return { url, init, names, values, body };
}

const fieldsOfRequest = 12;

export function packRequests(requests: readonly (BulkRequest & { readonly id: number })[]): Batch {
  const values: (string | number | boolean | null | undefined)[] = [];
  const bodies: Uint8Array[] = [];
  for (const { id, url, init, names, values: given, body } of requests) {
    values.push(id, url, names, given, body.length, init.method, init.timeout, init.redirects, init.maxBytes, init.truncate, init.allowInternal, init.allowHost);
    bodies.push(body);
  }
  return { values, bytes: joined(bodies) };
}

export function unpackRequests({ values, bytes }: Batch): NumberedRequest[] {
  const requests: NumberedRequest[] = [];
  let start = 0;
  for (let at = 0; at < values.length; at += fieldsOfRequest) {
    const body = bytes.subarray(start, (start += values[at + 4] as number));
    const given = { method: values[at + 5], timeout: values[at + 6], redirects: values[at + 7], maxBytes: values[at + 8], truncate: values[at + 9], allowInternal: values[at + 10], allowHost: values[at + 11] } as Required<OutboundInit>;
    requests.push({ id: values[at] as number, url: values[at + 1] as string, init: { ...given, headers: headersOf(values[at + 2] as string, values[at + 3] as string), body } });
  }
  return requests;
}

const fieldsOfAnswer = 7;

/** An error is told apart by having no address that answered. */
export function packAnswers(answers: readonly NumberedAnswer[]): Batch {
  const values: (string | number | boolean | null | undefined)[] = [];
  const bodies: Uint8Array[] = [];
  for (const given of answers) {
    if ('answer' in given) {
      const { status, headers, url, body } = given.answer;
      values.push(given.id, url, status, Object.keys(headers).join(between), Object.values(headers).join(between), body.length, null);
      bodies.push(body);
    } else values.push(given.id, null, ...errorFields(given.error));
  }
  return { values, bytes: joined(bodies) };
}

export function unpackAnswers({ values, bytes }: Batch): NumberedAnswer[] {
  const answers: NumberedAnswer[] = [];
  let start = 0;
  for (let at = 0; at < values.length; at += fieldsOfAnswer) {
    const id = values[at] as number;
    const url = values[at + 1];
    if (url === null) answers.push({ id, error: errorOf(values.slice(at + 2, at + fieldsOfAnswer)) });
    else {
      const body = bytes.subarray(start, (start += values[at + 5] as number));
      answers.push({ id, answer: new Answer({ status: values[at + 2] as number, headers: headersOf(values[at + 3] as string, values[at + 4] as string), url: url as string, body }) });
    }
  }
  return answers;
}

/** The same few lists of names come over and over. */
const splitNames = new Map<string, readonly string[]>();
const mostNames = 500;

function namesOf(text: string): readonly string[] {
  const known = splitNames.get(text);
  if (known) return known;
  if (splitNames.size >= mostNames) splitNames.clear();
  const names = text.split(between);
  splitNames.set(text, names);
  return names;
}

function headersOf(names: string, values: string): Record<string, string> {
  const headers: Record<string, string> = {};
  if (names === '') return headers;
  const given = values.split(between);
  const list = namesOf(names);
  for (let index = 0; index < list.length; index += 1) headers[list[index] as string] = given[index] ?? '';
  return headers;
}

/** In memory of its own, so that it can be handed over instead of being copied. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Errors lose what they are on their way between threads: what callers look at is handed over by itself. */
function errorFields(thrown: unknown): (string | number | null)[] {
  const { code = null, status = null, message = '', cause = null } = (thrown ?? {}) as { code?: string | null; status?: number | null; message?: string; cause?: unknown };
  const { code: causeCode = null, syscall = null } = (cause ?? {}) as { code?: string | null; syscall?: string | null };
  return [code, message, status, typeof causeCode === 'string' ? causeCode : null, typeof syscall === 'string' ? syscall : null];
}

function errorOf([code, message, status, causeCode, syscall]: readonly unknown[]): Error {
  const cause = causeCode === null ? undefined : Object.assign(new Error(String(causeCode)), { code: causeCode, ...(syscall !== null && { syscall }) });
  return new OutboundError((code ?? 'outbound_connect') as OutboundCode, String(message), { ...(cause && { cause }), ...(typeof status === 'number' && { status }) });
}
