import { isUtf8 } from 'node:buffer';

/** Numbers and messages of PHP's JSON errors, which WordPress sends in `rest_invalid_json`. */
const phpErrors = {
  depth: [1, 'Maximum stack depth exceeded'],
  control: [3, 'Control character error, possibly incorrectly encoded'],
  syntax: [4, 'Syntax error'],
  utf8: [5, 'Malformed UTF-8 characters, possibly incorrectly encoded'],
  surrogate: [10, 'Single unpaired high surrogate in Unicode escape'],
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
  | { readonly kind: 'refused'; readonly name: string; readonly message: string };

/** Deepest nesting accepted; deeper input would only exhaust the stack. */
const maximumDepth = 512;

/**
 * Parses a request's body. Besides malformed JSON it refuses more than 512 levels, invalid UTF-8, unpaired surrogates,
 * NUL characters (PostgreSQL cannot store them) and members named `__proto__`.
 */
export function parseJsonBody(body: Buffer): ParsedJson {
  if (!isUtf8(body)) return malformed('utf8');
  if (body.length > 2 * maximumDepth && nesting(body) > maximumDepth) return malformed('depth');
  const text = body.toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return malformed(String(error).includes('control character') ? 'control' : 'syntax');
  }
  if (!suspicious.test(text)) return { kind: 'value', value };
  return inspect(value, '') ?? { kind: 'value', value };
}

/** A cheap test whether the value needs inspection: NUL and surrogates appear only as escapes, which can spell anything. */
const suspicious = /__proto__|\\u(?:00|[dD][89a-fA-F])/;

const unpairedSurrogate = /\p{Surrogate}/u;

function malformed(kind: keyof typeof phpErrors): ParsedJson {
  const [code, message] = phpErrors[kind];
  return { kind: 'malformed', error: { code, message } };
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
  if (unpairedSurrogate.test(text)) return malformed('surrogate');
  if (!text.includes('\0')) return null;
  const shown = name === '' ? 'The body' : name;
  return { kind: 'refused', name: shown, message: `${shown} must not contain NUL characters.` };
}

const [quote, backslash, openBracket, openBrace, closeBracket, closeBrace] = [...'"\\[{]}'].map((character) =>
  character.charCodeAt(0),
);

/** Greatest depth of brackets outside strings. */
function nesting(body: Buffer): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < body.length; index += 1) {
    const byte = body[index];
    if (inString) {
      if (byte === backslash) index += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) {
      inString = true;
    } else if (byte === openBracket || byte === openBrace) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === closeBracket || byte === closeBrace) {
      depth -= 1;
    }
  }
  return deepest;
}
