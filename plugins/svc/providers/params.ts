import type { AiParamName, AiParams } from '../kit/ai-params.ts';
import type { ProviderSettings } from './provider.ts';

/** Our names and the wire's, for the keys a provider takes at all (D8). */
export type ParamNames = Readonly<Partial<Record<AiParamName, string>>>;

export interface ParamQuestion {
  readonly params: AiParams;
  readonly model: string;
  readonly settings: ProviderSettings;
}

/** What one model makes of the keys its provider takes. */
export interface ParamAnswer {
  /** Keys this model does not take. */
  readonly refused?: readonly AiParamName[];
  /** Members of the request body in place of `{wire name: value}`. */
  readonly written?: Readonly<Partial<Record<AiParamName, Readonly<Record<string, unknown>>>>>;
}

export interface ParamRules {
  readonly names: ParamNames;
  readonly byModel?: (question: ParamQuestion) => ParamAnswer;
}

export interface MappedParams {
  readonly wire: Readonly<Record<string, unknown>>;
  /** Keys left out, in the order they were given. */
  readonly ignored: readonly AiParamName[];
}

/** Writes parameters under the wire's names and says which were left out. */
export function mapParams(rules: ParamRules, question: ParamQuestion): MappedParams {
  const { refused = [], written = {} } = rules.byModel?.(question) ?? {};
  const wire: Record<string, unknown> = {};
  const ignored: AiParamName[] = [];
  for (const [name, value] of Object.entries(question.params) as [AiParamName, unknown][]) {
    if (value === undefined) continue;
    const wireName = Object.hasOwn(rules.names, name) ? rules.names[name] : undefined;
    if (wireName === undefined || refused.includes(name)) ignored.push(name);
    else Object.assign(wire, written[name] ?? { [wireName]: value });
  }
  return { wire, ignored };
}

export type ReasoningEffort = NonNullable<AiParams['reasoning_effort']>;

const efforts: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high'];

/** The effort itself when the model knows it, else the next higher it knows, else its highest. */
export function nearestEffort(asked: ReasoningEffort, known: readonly ReasoningEffort[]): ReasoningEffort {
  const upwards = efforts.slice(efforts.indexOf(asked)).find((effort) => known.includes(effort));
  return upwards ?? efforts.findLast((effort) => known.includes(effort)) ?? asked;
}
