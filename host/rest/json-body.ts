import { textError } from '#plugin-api';
import { isAscii, isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exceededBound, jsonBounds, type JsonBound } from './json-bounds.ts';

/** Numbers and messages of PHP's JSON errors, which WordPress sends in `rest_invalid_json`. */
const phpErrors = {
  depth: [1, 'Maximum stack depth exceeded'],
  control: [3, 'Control character error, possibly incorrectly encoded'],
  syntax: [4, 'Syntax error'],
  utf8: [5, 'Malformed UTF-8 characters, possibly incorrectly encoded'],
} as const;

export interface JsonError {
  /** PHP's number of the error. */
  readonly code: number;
  readonly message: string;
}

export type ParsedJson =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'malformed'; readonly error: JsonError }
  /** Well-formed, but with a member that must not reach a handler. */
  | { readonly kind: 'refused'; readonly name: string; readonly message: string }
  | { readonly kind: 'too_large' };

/**
 * Parses a request's body. Besides malformed JSON it refuses more than `jsonBounds`, invalid UTF-8, text that cannot be stored
 * (D54) and members named `__proto__`.
 */
export function parseJsonBody(body: Buffer): ParsedJson {
  const steps = parsing(body);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The same of a large body: other requests go on between its steps (D46). */
export async function parseLargeJsonBody(body: Buffer): Promise<ParsedJson> {
  const steps = parsing(body);
  let step = steps.next();
  while (step.done !== true) {
    await nextTurn();
    step = steps.next();
  }
  return step.value;
}

function* parsing(body: Buffer): Generator<undefined, ParsedJson> {
  if (!isUtf8(body)) return malformed('utf8');
  const bound = exceededBound(body);
  if (bound !== null) return exceeds(bound);
  yield;
  // Six times as fast for ASCII, which images as text are.
  const text = body.toString(isAscii(body) ? 'latin1' : 'utf8');
  yield;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return malformed(String(error).includes('control character') ? 'control' : 'syntax');
  }
  yield;
  if (!suspicious.test(text)) return { kind: 'value', value };
  return inspect(value, '') ?? { kind: 'value', value };
}

/** A cheap test whether the value needs inspection: NUL and surrogates appear only as escapes, which can spell anything. */
const suspicious = /__proto__|\\u(?:00|[dD][89a-fA-F])/;

function malformed(kind: keyof typeof phpErrors): ParsedJson {
  const [code, message] = phpErrors[kind];
  return { kind: 'malformed', error: { code, message } };
}

function exceeds(bound: JsonBound): ParsedJson {
  if (bound === 'depth') return malformed('depth');
  if (bound === 'bytes') return { kind: 'too_large' };
  const most = jsonBounds[bound].toLocaleString('en-US');
  const message =
    bound === 'members'
      ? `An object of the body has more than ${most} members.`
      : `The body has more than ${most} values.`;
  return { kind: 'refused', name: 'body', message };
}

function inspect(value: unknown, name: string): ParsedJson | null {
  if (typeof value === 'string') return inspectText(value, name);
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, member] of Object.entries(value)) {
    const top = name === '' ? key : name;
    if (key === '__proto__') return { kind: 'refused', name: top, message: '__proto__ is not a valid parameter name.' };
    const found = inspectText(key, 'A member’s name') ?? inspect(member, top);
    if (found !== null) return found;
  }
  return null;
}

function inspectText(text: string, name: string): ParsedJson | null {
  const shown = name === '' ? 'The body' : name;
  const message = textError(shown, text);
  return message === null ? null : { kind: 'refused', name: shown, message };
}
