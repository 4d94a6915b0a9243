import { nearestEffort, type ParamAnswer, type ParamQuestion, type ReasoningEffort } from '../params.ts';

/** What the name of a model tells. */
interface ClaudeModel {
  readonly family: string;
  /** A hundred for each major version and one for each minor: 4.5 is 405. Null when the name tells none. */
  readonly version: number | null;
}

/** The interface version that knows sampling parameters; the one after it refuses them all. */
export const samplingVersion = '2023-06-01';

const sampling = ['temperature', 'top_p', 'top_k'] as const;

// Anthropic's least is 1,024. An answer needs room beside the thinking, which counts towards max_tokens.
const budgets: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16384,
};
const smallestBudget = 1024;

/** Messages must name a length limit; this one stands where the caller gives none. */
export const defaultMaxTokens = 4096;

/** `claude-opus-4-1-20250805` -> opus, 401; `claude-3-5-sonnet-latest` -> sonnet, 305. */
export function claudeModel(name: string): ClaudeModel {
  const newer = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(name);
  if (newer) return { family: newer[1] ?? '', version: Number(newer[2]) * 100 + Number(newer[3] ?? 0) };
  const older = /claude-(\d{1,2})(?:[-.](\d{1,2}))?-([a-z]+)/.exec(name);
  if (older) return { family: older[3] ?? '', version: Number(older[1]) * 100 + Number(older[2] ?? 0) };
  return { family: /claude-([a-z]+)/.exec(name)?.[1] ?? '', version: null };
}

/** Newer models, and the newer interface version, refuse temperature, top_p and top_k (from 4.7 on). */
function refusesSampling({ family, version }: ClaudeModel, apiVersion: string): boolean {
  return (
    apiVersion > samplingVersion || family === 'mythos' || family === 'fable' || (version !== null && version >= 407)
  );
}

/**
 * What Claude's models make of the parameters. Temperature is cut to 1, Anthropic's highest. From 4.1 on, temperature and
 * top_p exclude each other, and temperature stays. Thinking excludes temperature, top_p and top_k.
 */
export function claudeParams({ params, model, settings }: ParamQuestion): ParamAnswer {
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
    written: {
      temperature: { temperature: Math.min(1, params.temperature ?? 1) },
      stop: { stop_sequences: typeof params.stop === 'string' ? [params.stop] : params.stop },
      ...(thinking !== null && { reasoning_effort: thinking.wire }),
    },
  };
}

interface Thinking {
  readonly thinks: boolean;
  readonly wire: Readonly<Record<string, unknown>>;
}

/** null: the model, or the length limit, leaves no room for thinking. */
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
  if (budget < smallestBudget) return null;
  const room = limit === undefined ? { max_tokens: budget + defaultMaxTokens } : {};
  return { thinks: true, wire: { thinking: { type: 'enabled', budget_tokens: budget }, ...room } };
}

/** From 4.6 on the model decides how long it thinks, guided by an effort; from 5.5 on it cannot be kept from thinking. */
function adaptive(effort: ReasoningEffort, alwaysThinks: boolean, version: number): Thinking {
  if (effort === 'none' && !alwaysThinks)
    return { thinks: false, wire: version >= 500 ? { thinking: { type: 'disabled' } } : {} };
  const level = nearestEffort(effort, ['low', 'medium', 'high']);
  return { thinks: true, wire: { thinking: { type: 'adaptive' }, output_config: { effort: level } } };
}
