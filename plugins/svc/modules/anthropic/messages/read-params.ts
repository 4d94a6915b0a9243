import { asRecord, withoutUndefined, type Params } from '#plugin-api';
import { aiParamSchemas, type AiParams } from '../../../kit/ai-params.ts';
import type { Reading } from './reading.ts';

type Effort = NonNullable<AiParams['reasoning_effort']>;

/** The parameters of a validated request by the names of this service, without those that are null. */
export function readAiParams(params: Params, reading: Reading): AiParams {
  const stops = params['stop_sequences'];
  const read: AiParams = withoutUndefined({
    max_completion_tokens: numberOf(params['max_tokens']),
    temperature: numberOf(params['temperature']),
    top_p: numberOf(params['top_p']),
    top_k: numberOf(params['top_k']),
    stop: Array.isArray(stops) && stops.length > 0 ? (stops as string[]) : undefined,
    reasoning_effort: readEffort(params, reading),
  });
  return read;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Tokens of thinking by effort, as the service asks Claude for them. */
const budgets: readonly (readonly [effort: Effort, tokens: number])[] = [
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16384],
];

/** The effort that is nearest to a request's thinking. Undefined: the model decides. */
function readEffort(params: Params, reading: Reading): Effort | undefined {
  const { type, budget_tokens: budget } = asRecord(params['thinking']);
  if (type === 'disabled') return 'none';
  const { effort } = asRecord(params['output_config']);
  if (typeof effort === 'string') {
    const known = aiParamSchemas.reasoning_effort.enum.find((one) => one === effort);
    if (known === undefined) reading.spared.push('output_config.effort');
    return known ?? 'high';
  }
  if (type !== 'enabled' || typeof budget !== 'number') return undefined;
  const distance = (tokens: number): number => Math.abs(Math.log(tokens / Math.max(1, budget)));
  return budgets.reduce((best, next) => (distance(next[1]) < distance(best[1]) ? next : best))[0];
}
