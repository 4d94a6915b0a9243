import { aiParamSchemas, type AiParamName, type AiParams } from '../kit/ai-params.ts';
import type { ProviderSettings } from './provider.ts';

/** Names in requests to the provider by key of `ai_params`, for the supported keys (D8). */
export type ParamNames = Readonly<Partial<Record<AiParamName, string>>>;

export interface ParamContext {
  readonly params: AiParams;
  readonly model: string;
  readonly settings: ProviderSettings;
}

/** How one model differs from the rules of its provider. */
export interface ParamOverrides {
  /** Keys that this model does not support. */
  readonly refused?: readonly AiParamName[];
  /** Keys whose value is changed to fit this model (D49). */
  readonly changed?: readonly AiParamName[];
  /** Keys whose value became the nearest one that this model has: named, and never refused (D40). */
  readonly nearest?: readonly AiParamName[];
  /** Members of the request body instead of `{wire name: value}`. */
  readonly written?: Readonly<Partial<Record<AiParamName, Readonly<Record<string, unknown>>>>>;
}

export interface ParamRules {
  readonly names: ParamNames;
  readonly byModel?: (question: ParamContext) => ParamOverrides;
}

export interface MappedParams {
  readonly wire: Readonly<Record<string, unknown>>;
  /** Keys left out or sent with a changed value, in the order they were given. */
  readonly ignored: readonly AiParamName[];
  /** Those of them that a caller who asked for no change must not lose. */
  readonly lost: readonly AiParamName[];
}

/** Maps parameters to the provider's names, and lists those left out. */
export function mapParams(rules: ParamRules, question: ParamContext): MappedParams {
  const { refused = [], changed = [], nearest = [], written = {} } = rules.byModel?.(question) ?? {};
  const wire: Record<string, unknown> = {};
  const [ignored, lost]: [AiParamName[], AiParamName[]] = [[], []];
  for (const [name, value] of Object.entries(question.params) as [AiParamName, unknown][]) {
    if (value === undefined) continue;
    const wireName = Object.hasOwn(rules.names, name) ? rules.names[name] : undefined;
    const isLeftOut = wireName === undefined || refused.includes(name);
    if (!isLeftOut) Object.assign(wire, written[name] ?? { [wireName]: value });
    if (isLeftOut || changed.includes(name)) lost.push(name);
    if (isLeftOut || changed.includes(name) || nearest.includes(name)) ignored.push(name);
  }
  return { wire, ignored, lost };
}

export type ReasoningEffort = NonNullable<AiParams['reasoning_effort']>;

const efforts: readonly ReasoningEffort[] = aiParamSchemas.reasoning_effort.enum;

/**
 * The effort itself if the model has it, else the next higher one, else its highest: what is sent, and what
 * `ParamOverrides.nearest` says of it.
 */
export function fitEffort(
  requested: ReasoningEffort,
  known: readonly ReasoningEffort[],
): { readonly effort: ReasoningEffort; readonly nearest: readonly AiParamName[] } {
  const upwards = efforts.slice(efforts.indexOf(requested)).find((effort) => known.includes(effort));
  const effort = upwards ?? efforts.findLast((each) => known.includes(each)) ?? requested;
  return { effort, nearest: effort === requested ? [] : ['reasoning_effort'] };
}
