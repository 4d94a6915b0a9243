import { nearestEffort, type ParamAnswer, type ParamQuestion, type ReasoningEffort } from '../params.ts';

const notTakenByReasoning = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'stop'] as const;

/** The o-series and gpt-5 onwards think before they answer; their `-chat` variants do not. */
export function isReasoningModel(model: string): boolean {
  return /^(o\d|codex-|gpt-([5-9]|\d\d))/.test(bareName(model)) && !/-chat(-|$)/.test(bareName(model));
}

/** Without a vendor's prefix (`openai/o3`) or the one of fine-tuned models (`ft:gpt-4.1:...`). */
function bareName(model: string): string {
  return model.toLowerCase().replace(/^.*\//, '').replace(/^ft:/, '');
}

/**
 * What OpenAI's models make of the parameters. Reasoning models refuse sampling parameters and `stop`; from gpt-5.1 on
 * they take temperature and top_p while `reasoning_effort` is `none`. Other models refuse `reasoning_effort`.
 */
export function openAiParams({ params, model }: ParamQuestion): ParamAnswer {
  if (!isReasoningModel(model)) return { refused: ['reasoning_effort'] };
  const effort =
    params.reasoning_effort === undefined ? undefined : nearestEffort(params.reasoning_effort, effortsOf(model));
  const sampling =
    effort === 'none'
      ? notTakenByReasoning.filter((name) => name !== 'temperature' && name !== 'top_p')
      : notTakenByReasoning;
  return {
    refused: sampling,
    ...(effort !== undefined && { written: { reasoning_effort: { reasoning_effort: effort } } }),
  };
}

function effortsOf(model: string): readonly ReasoningEffort[] {
  const name = bareName(model);
  if (/^gpt-5($|-)/.test(name)) return ['minimal', 'low', 'medium', 'high'];
  return /^(o\d|codex-)/.test(name) ? ['low', 'medium', 'high'] : ['none', 'low', 'medium', 'high'];
}
