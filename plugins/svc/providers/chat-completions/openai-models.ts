import { memoize } from '../../kit/caches.ts';
import { fitEffort, type ParamOverrides, type ParamContext, type ReasoningEffort } from '../params.ts';

const refusedByReasoning = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'stop'] as const;

/** The o-series and gpt-5 or later reason before they answer; their `-chat` variants do not. */
export const isReasoningModel = memoize((model) => {
  const name = bareName(model);
  return /^(o\d|codex-|gpt-([5-9]|\d\d))/.test(name) && !/-chat(-|$)/.test(name);
});

/** gpt-4o, gpt-4.1, gpt-4-turbo and later, and the o-series but for its first small models. */
export function openAiSees(model: string): boolean {
  const name = bareName(model);
  if (/audio|realtime|transcribe|tts|search-api|embedding|instruct/.test(name)) return false;
  if (/^o\d/.test(name)) return !/^(o1-(mini|preview)|o3-mini)/.test(name);
  return /^(gpt-4o|chatgpt-4o|gpt-4\.|gpt-4-(turbo|vision)|gpt-([5-9]|\d\d)|codex-)/.test(name);
}

/** The name without a vendor's prefix (`openai/o3`) or that of fine-tuned models (`ft:gpt-4.1:...`). */
function bareName(model: string): string {
  return model.toLowerCase().replace(/^.*\//, '').replace(/^ft:/, '');
}

/**
 * Rules of OpenAI's models. Reasoning models refuse sampling parameters and `stop`; gpt-5.1 and later accept temperature
 * and top_p with the `reasoning_effort` `none`. Other models refuse `reasoning_effort`.
 */
export function openAiParams({ params, model }: ParamContext): ParamOverrides {
  if (!isReasoningModel(model)) return { refused: ['reasoning_effort'] };
  const { effort, nearest } =
    params.reasoning_effort === undefined
      ? { effort: undefined, nearest: [] }
      : fitEffort(params.reasoning_effort, supportedEfforts(model));
  const sampling =
    effort === 'none'
      ? refusedByReasoning.filter((name) => name !== 'temperature' && name !== 'top_p')
      : refusedByReasoning;
  return {
    refused: sampling,
    nearest,
    ...(effort !== undefined && { written: { reasoning_effort: { reasoning_effort: effort } } }),
  };
}

function supportedEfforts(model: string): readonly ReasoningEffort[] {
  const name = bareName(model);
  if (/^gpt-5($|-)/.test(name)) return ['minimal', 'low', 'medium', 'high'];
  if (/^(o\d|codex-)/.test(name)) return ['low', 'medium', 'high'];
  if (name.startsWith('gpt-5.1'))
    return ['none', 'low', 'medium', 'high', ...(name.includes('max') ? (['xhigh'] as const) : [])];
  // From 5.6 on, there is one above it.
  return ['none', 'low', 'medium', 'high', 'xhigh', ...(/^gpt-5\.[2-5](?!\d)/.test(name) ? [] : (['max'] as const))];
}
