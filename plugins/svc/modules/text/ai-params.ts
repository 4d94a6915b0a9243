import { RestError, type JsonSchema } from '#plugin-api';
import { aiParamSchemas, type AiParams } from '../../kit/ai-params.ts';

/** The argument `ai_params` (D8). Unknown keys are let through here and named as ignored in the answer. */
export const aiParamsArgument = {
  type: 'object',
  description:
    'Overrides of the global AI parameters. Keys the provider or model does not take are left out and named in X-SVC-Ignored-Params.',
  properties: {
    ...aiParamSchemas,
    max_tokens: { ...aiParamSchemas.max_completion_tokens, description: 'Another name for max_completion_tokens.' },
  },
} as const satisfies JsonSchema;

export interface ChosenAiParams {
  readonly params: AiParams;
  /** Keys nobody knows, and the alias where its own name was given too. */
  readonly ignored: readonly string[];
}

/**
 * Sorts the keys of a checked `ai_params` into known ones, under their own names, and ignored ones.
 *
 * @throws RestError 400 `rest_invalid_param` for a list, of which the host makes an object as PHP does, its places the
 * keys. An empty one is how PHP writes an empty object.
 */
export function chooseAiParams(given: Readonly<Record<string, unknown>> = {}): ChosenAiParams {
  if (isList(given)) throw notAnObject();
  const params: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (Object.hasOwn(aiParamSchemas, key)) params[key] = value;
    else if (key === 'max_tokens' && !Object.hasOwn(given, 'max_completion_tokens'))
      params['max_completion_tokens'] = value;
    else ignored.push(key);
  }
  return { params, ignored };
}

function isList(given: object): boolean {
  const keys = Object.keys(given);
  return keys.length > 0 && keys.every((key, place) => key === String(place));
}

function notAnObject(): RestError {
  const message = 'ai_params is not of type object.';
  const details = { ai_params: { code: 'rest_invalid_type', message, data: { param: 'ai_params' } } };
  return new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: 'Invalid parameter(s): ai_params',
    data: { params: { ai_params: message }, details },
  });
}
