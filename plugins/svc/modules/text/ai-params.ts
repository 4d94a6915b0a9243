import type { JsonSchema } from '#plugin-api';
import { aiParamSchemas, type AiParams } from '../../kit/ai-params.ts';

/** The argument `ai_params` (D8). Unknown keys are let through here and named as ignored in the answer. */
export const aiParamsArgument = {
  type: 'object',
  description: 'Overrides of the global AI parameters. Keys the provider or model does not take are left out and named in X-SVC-Ignored-Params.',
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

/** Sorts the keys of a checked `ai_params` into known ones, under their own names, and ignored ones. */
export function chooseAiParams(given: Readonly<Record<string, unknown>> = {}): ChosenAiParams {
  const params: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (Object.hasOwn(aiParamSchemas, key)) params[key] = value;
    else if (key === 'max_tokens' && !Object.hasOwn(given, 'max_completion_tokens')) params['max_completion_tokens'] = value;
    else ignored.push(key);
  }
  return { params, ignored };
}
