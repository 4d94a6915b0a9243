import { isRecord, withoutUndefined } from '#plugin-api';
import type { Rejection } from '../kit/upstream-error.ts';
import { listAt, objectAt, textAt, type JsonObject } from './json.ts';

/** Codes and types that vendors give a prompt that a filter or a moderation refused. */
const filterCodes = new Set([
  'content_filter',
  'content_policy_violation',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
]);

/** Sentences of those that have no code: Claude, xAI, OpenRouter. */
const filterSentence =
  /content filtering policy|content (?:management )?policy|usage guidelines|safety check|requires moderation/i;

/** OpenAI, Claude, Google, xAI, OpenRouter, Mistral, vLLM, llama.cpp and Ollama say it in these words. */
const lengthSentence =
  /(?:maximum|available|max) (?:context|prompt)|context (?:length|window|size)|prompt is too long|input token count|exceed_context|too large for model/i;

const missingCodes = new Set(['model_not_found', 'DeploymentNotFound', 'not_found_error']);
/** DeepSeek and OpenRouter refuse unknown models with a 400. */
const missingSentence = /\bmodel\b.{0,300}\bnot exist\b|not a valid model/is;

/**
 * Why an upstream refused a request, from the body of its error. Null: for another reason.
 *
 * @param sentence its message
 */
export function rejectionOf(status: number, body: unknown, sentence: string | null): Rejection | null {
  if (status < 400 || status === 401 || status === 429 || status >= 500) return null;
  const error = objectAt(Array.isArray(body) ? body[0] : body, 'error');
  const inner = objectAt(error, 'innererror');
  const codes = [textAt(error, 'code'), textAt(error, 'type'), textAt(error, 'status'), textAt(inner, 'code')];
  const has = (known: ReadonlySet<string>): boolean => codes.some((code) => code !== null && known.has(code));
  const said = (sentence ?? '').slice(0, 1000);
  if (has(filterCodes) || filterSentence.test(said) || listAt(objectAt(error, 'metadata'), 'reasons').length > 0)
    return {
      reason: 'content_filter',
      ...withoutUndefined({ param: textAt(error, 'param') ?? undefined, filtered: filterResults(error, inner) }),
    };
  if (status === 403) return null;
  if (codes.includes('context_length_exceeded') || lengthSentence.test(said)) return { reason: 'context_length' };
  const isMissing = status === 404 && (has(missingCodes) || /\b(?:models?|deployment)\b/i.test(said));
  if (isMissing || (status === 400 && missingSentence.test(said))) return { reason: 'model_not_found' };
  return status === 400 || status === 422 ? invalidRequest(error) : null;
}

/** Parameter and code that the vendor named, if they are names. */
function invalidRequest(error: JsonObject): Rejection | null {
  const named = (name: string): string | undefined => {
    const text = textAt(error, name);
    return text !== null && /^[\w.[\]-]{1,100}$/.test(text) ? text : undefined;
  };
  const found = withoutUndefined({ param: named('param'), vendor_code: named('code') });
  return Object.keys(found).length === 0 ? null : { reason: 'invalid_request', ...found };
}

/**
 * What Azure's filter found, by category: `{jailbreak: {filtered: true, detected: true}}`. Its values come from the vendor, so
 * few and short ones pass.
 */
function filterResults(error: JsonObject, inner: JsonObject): Rejection['filtered'] {
  const found = objectAt(inner, 'content_filter_result');
  const results = Object.entries(Object.keys(found).length > 0 ? found : objectAt(error, 'content_filter_result'))
    .filter((entry): entry is [string, JsonObject] => /^\w{1,40}$/.test(entry[0]) && isRecord(entry[1]))
    .slice(0, 20)
    .map(([category, result]) => [category, shortMembers(result)] as const);
  return results.length === 0 ? undefined : Object.fromEntries(results);
}

function shortMembers(result: JsonObject): Readonly<Record<string, string | boolean>> {
  return Object.fromEntries(
    Object.entries(result).filter(
      (entry): entry is [string, string | boolean] =>
        /^\w{1,40}$/.test(entry[0]) &&
        (typeof entry[1] === 'boolean' || (typeof entry[1] === 'string' && /^[\w -]{1,40}$/.test(entry[1]))),
    ),
  );
}
