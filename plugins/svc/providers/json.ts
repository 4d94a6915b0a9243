import { asRecord, isRecord } from '#plugin-api';
import type { Usage } from './provider.ts';

/** A JSON object with unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The member if it is an object, else an empty one, so that nested reads need no checks. */
export function objectAt(value: unknown, member: string): JsonObject {
  const found = isRecord(value) ? value[member] : undefined;
  return asRecord(found);
}

export function listAt(value: unknown, member: string): readonly unknown[] {
  const found = isRecord(value) ? value[member] : undefined;
  return Array.isArray(found) ? found : [];
}

/** The member if it is text that is not blank, else null. */
export function textAt(value: unknown, member: string): string | null {
  const found = isRecord(value) ? value[member] : undefined;
  return typeof found === 'string' && found.trim() !== '' ? found : null;
}

/** More than any model reads or writes: sums of a day stay exact, and a broken server uses up no budget with one answer. */
const highestCount = 1_000_000_000;

/** The member as a whole number from 0 to a billion, else null: what cannot be is estimated as what is missing. Digits as text count. */
export function countAt(value: unknown, member: string): number | null {
  const given = isRecord(value) ? value[member] : undefined;
  const found = typeof given === 'string' && /^\d{1,10}$/.test(given) ? Number(given) : given;
  return typeof found === 'number' && found >= 0 && found <= highestCount ? Math.trunc(found) : null;
}

/**
 * Usage that events of a stream report one after another. It only grows: members of a later event replace those of an earlier
 * one, but nothing, null or 0 replaces no value.
 */
export function laterUsage(earlier: unknown, later: unknown): JsonObject {
  const before = asRecord(earlier);
  if (!isRecord(later)) return before;
  const given = Object.entries(later).filter(([, value]) => value !== null && value !== undefined);
  return {
    ...before,
    ...Object.fromEntries(given.filter(([name, value]) => value !== 0 || before[name] === undefined)),
  };
}

/**
 * Usage as the service counts it. What is missing is taken from the total, and what the total has beyond is output; a side that
 * stays 0 is estimated where it has text. Null if nothing was reported.
 */
export function usageOf({
  input,
  output,
  total,
}: Readonly<Record<'input' | 'output' | 'total', number | null>>): Usage | null {
  if (input === null && output === null && total === null) return null;
  const inputTokens = input ?? (output === null ? 0 : Math.max(0, (total ?? 0) - output));
  const outputTokens = input === null ? (output ?? 0) : Math.max(output ?? 0, (total ?? 0) - input);
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: Math.max(total ?? 0, inputTokens + outputTokens),
  };
}

/** The usage of a response, which may be inside its error. */
export function usageIn(body: unknown, member = 'usage'): unknown {
  const usage = isRecord(body) ? body[member] : undefined;
  return isRecord(usage) ? usage : objectAt(body, 'error')[member];
}

/** The arguments of a tool call as an object; none for an empty text. Null for a text that is no JSON object, as a cut one. */
export function parseArguments(text: string): JsonObject | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** The arguments of a tool call as text: what the model wrote, an object as JSON, `{}` for none. */
export function argumentsText(given: unknown): string {
  if (typeof given === 'string') return given.trim() === '' ? '{}' : given;
  return given === undefined || given === null ? '{}' : JSON.stringify(given);
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
