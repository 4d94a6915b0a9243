import type { TextFeature } from '../../kit/tools.ts';
import { nearestEffort, type ParamOverrides, type ParamContext, type ReasoningEffort } from '../params.ts';

// Google's token budgets for the efforts.
const budgets: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 1024,
  medium: 8192,
  high: 24576,
};
const smallestProBudget = 128;

/** `gemini-2.5-pro` or `models/gemini-2.5-pro` -> 2.5; null for other names. */
export function geminiVersion(model: string): number | null {
  const match = /gemini-(\d+(?:\.\d+)?)/.exec(model);
  return match ? Number(match[1]) : null;
}

/** Gemini calls functions and writes JSON; a JSON Schema is enforced from 2.0 on. Gemma does neither. */
export function googleSupports(feature: TextFeature, model: string): boolean {
  if (!/gemini/i.test(model)) return false;
  if (feature === 'response_format.json_schema') return (geminiVersion(model) ?? 2) >= 2;
  return feature === 'tools' || feature === 'tool_choice' || feature === 'response_format.json_object';
}

/** Rules of Gemini's models: thinking is a token budget in 2.5, a level from 3 on, and not supported before. */
export function googleParams({ params, model }: ParamContext): ParamOverrides {
  const thinking = params.reasoning_effort === undefined ? null : thinkingConfig(params.reasoning_effort, model);
  return {
    refused: thinking === null ? ['reasoning_effort'] : [],
    written: {
      stop: { stopSequences: typeof params.stop === 'string' ? [params.stop] : params.stop },
      ...(thinking !== null && { reasoning_effort: { thinkingConfig: thinking } }),
    },
  };
}

function thinkingConfig(effort: ReasoningEffort, model: string): Readonly<Record<string, unknown>> | null {
  const version = geminiVersion(model);
  if (version === null || version < 2.5) return null;
  if (version >= 3) return { thinkingLevel: nearestEffort(effort, levelsOf(model, version)).toUpperCase() };
  // Thinking of 2.5 Pro cannot be turned off.
  return { thinkingBudget: Math.max(budgets[effort], model.includes('pro') ? smallestProBudget : 0) };
}

function levelsOf(model: string, version: number): readonly ReasoningEffort[] {
  if (model.includes('pro')) return version < 3.1 ? ['low', 'high'] : ['low', 'medium', 'high'];
  return version <= 3.5 ? ['minimal', 'low', 'medium', 'high'] : ['low', 'medium', 'high'];
}
