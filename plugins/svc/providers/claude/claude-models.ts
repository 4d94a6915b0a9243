import type { AiParamName } from '../../kit/ai-params.ts';
import { fitEffort, type ParamOverrides, type ParamContext, type ParamRules, type ReasoningEffort } from '../params.ts';

/** Family and version from the name of a model. */
interface ClaudeModel {
  readonly family: string;
  /** 100 x major + minor: 4.5 is 405. Null if the name has no version. */
  readonly version: number | null;
}

/** The API version with sampling parameters; later ones refuse them. */
export const samplingVersion = '2023-06-01';

const sampling = ['temperature', 'top_p', 'top_k'] as const;

// Anthropic's minimum is 1,024. Thinking counts towards max_tokens, so leave room for the text.
const budgets: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
  xhigh: 24576,
  max: 32768,
};
const smallestBudget = 1024;

/** Messages requires a length limit; this is the default. */
export const defaultMaxTokens = 4096;

/** `claude-opus-4-1-20250805` -> opus, 401; `claude-3-5-sonnet-latest` -> sonnet, 305. */
export function claudeModel(name: string): ClaudeModel {
  const newer = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(name);
  if (newer) return { family: newer[1] ?? '', version: Number(newer[2]) * 100 + Number(newer[3] ?? 0) };
  const older = /claude-(\d{1,2})(?:[-.](\d{1,2}))?-([a-z]+)/.exec(name);
  if (older) return { family: older[3] ?? '', version: Number(older[1]) * 100 + Number(older[2] ?? 0) };
  return { family: /claude-([a-z]+)/.exec(name)?.[1] ?? '', version: null };
}

/** Whether a model can be held to a JSON Schema: all from 4.5 on, and Opus 4.1. */
export function claudeEnforcesSchemas(name: string): boolean {
  const { family, version } = claudeModel(name);
  if (version === null) return family !== 'instant';
  return version >= 405 || (family === 'opus' && version === 401);
}

/** Models from 4.7 on, and newer API versions, refuse temperature, top_p and top_k. */
function refusesSampling({ family, version }: ClaudeModel, apiVersion: string): boolean {
  return (
    apiVersion > samplingVersion || family === 'mythos' || family === 'fable' || (version !== null && version >= 407)
  );
}

/**
 * Rules of Claude's models. Temperature is limited to 1, Anthropic's maximum. From 4.1 on, temperature and top_p exclude
 * each other; temperature wins. Thinking excludes temperature, top_p and top_k.
 */
function claudeParams({ params, model, settings }: ParamContext): ParamOverrides {
  const found = claudeModel(model);
  const thinking =
    params.reasoning_effort === undefined
      ? null
      : thinkingFor(params.reasoning_effort, found, params.max_completion_tokens);
  const noSampling =
    refusesSampling(found, settings.api_version || samplingVersion) || (thinking !== null && thinking.thinks);
  const both = params.temperature !== undefined && found.version !== null && found.version >= 401;
  return {
    refused: [
      ...(noSampling ? sampling : both ? (['top_p'] as const) : []),
      ...(thinking === null ? (['reasoning_effort'] as const) : []),
    ],
    changed: (params.temperature ?? 0) > 1 ? ['temperature'] : [],
    nearest: thinking?.nearest ?? [],
    written: {
      temperature: { temperature: Math.min(1, params.temperature ?? 1) },
      stop: { stop_sequences: typeof params.stop === 'string' ? [params.stop] : params.stop },
      ...(thinking !== null && { reasoning_effort: thinking.wire }),
    },
  };
}

interface Thinking {
  readonly thinks: boolean;
  readonly nearest?: readonly AiParamName[];
  readonly wire: Readonly<Record<string, unknown>>;
}

/** Null if the model does not support thinking. Without room for it below the length limit, no thinking is the nearest effort. */
function thinkingFor(
  effort: ReasoningEffort,
  { family, version }: ClaudeModel,
  limit: number | undefined,
): Thinking | null {
  const alwaysThinks = family === 'mythos' || family === 'fable' || (version !== null && version >= 505);
  if (version === null && !alwaysThinks) return null;
  if (alwaysThinks || (version ?? 0) >= 406) return adaptive(effort, alwaysThinks, version ?? 0);
  if ((version ?? 0) < 307) return null;
  if (effort === 'none') return { thinks: false, wire: {} };
  const budget = Math.min(budgets[effort], Math.floor((limit ?? budgets[effort] * 2) / 2));
  if (budget < smallestBudget) return { thinks: false, nearest: ['reasoning_effort'], wire: {} };
  const room = limit === undefined ? { max_tokens: budget + defaultMaxTokens } : {};
  return { thinks: true, wire: { thinking: { type: 'enabled', budget_tokens: budget }, ...room } };
}

/** From 4.6 on, an effort guides the model's thinking; from 5.5 on, thinking cannot be turned off. */
function adaptive(effort: ReasoningEffort, alwaysThinks: boolean, version: number): Thinking {
  if (effort === 'none' && !alwaysThinks)
    return { thinks: false, wire: version >= 500 ? { thinking: { type: 'disabled' } } : {} };
  const highest: readonly ReasoningEffort[] = alwaysThinks || version >= 407 ? ['xhigh', 'max'] : ['max'];
  const { effort: level, nearest } = fitEffort(effort, ['low', 'medium', 'high', ...highest]);
  return { thinks: true, nearest, wire: { thinking: { type: 'adaptive' }, output_config: { effort: level } } };
}

export const claudeAddress = 'https://api.anthropic.com';

export const claudeRules: ParamRules = {
  names: {
    temperature: 'temperature',
    max_completion_tokens: 'max_tokens',
    top_p: 'top_p',
    stop: 'stop_sequences',
    top_k: 'top_k',
    reasoning_effort: 'thinking',
  },
  byModel: claudeParams,
};
