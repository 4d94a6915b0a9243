import { RestError, type JsonSchema } from '#plugin-api';
import { aiParamSchemas, type AiParams } from '../../kit/ai-params.ts';

/** The argument `ai_params` (D8). Unknown keys pass validation; the response names them as ignored. */
export const aiParamsArgument = {
  type: 'object',
  description:
    'Overrides of the global AI parameters. Keys that the provider or model does not accept are dropped and named in X-SVC-Ignored-Params.',
  properties: {
    ...aiParamSchemas,
    max_tokens: { ...aiParamSchemas.max_completion_tokens, description: 'Alias of max_completion_tokens.' },
  },
} as const satisfies JsonSchema;

export interface ReadAiParams {
  readonly params: AiParams;
  /** Unknown keys, and the alias if its main name was given too. */
  readonly ignored: readonly string[];
}

/**
 * Splits the keys of a validated `ai_params` into known ones, under their main names, and ignored ones.
 *
 * @throws RestError 400 `rest_invalid_param` for a list, which the host turns into an object with its indexes as keys, as
 * PHP does. An empty list passes: PHP writes an empty object that way.
 */
export function readAiParams(given: Readonly<Record<string, unknown>> = {}): ReadAiParams {
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
  return keys.length > 0 && keys.every((key, index) => key === String(index));
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
