import { asRecord, isRecord } from '#plugin-api';
import { toDollars } from '../../kit/dollars.ts';
import type { DryRun, DryRunCall, ExplainedCall, Explanation } from '../../kit/dry-run.ts';

/** The error that a real request would get. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly data?: unknown;
}

export interface DryRunFacts {
  readonly run: DryRun;
  /** Null: the request came as far as the provider. */
  readonly refusal: Refusal | null;
  readonly budgets: readonly { readonly id: string; readonly scope: string }[];
  readonly isSandbox: boolean;
}

/** The rules behind the errors of the host and of the service. Other errors are those of plugins. */
const rules: Readonly<Record<string, string>> = {
  rest_no_route: 'route_unknown',
  rest_forbidden: 'permission',
  rest_svc_invalid_api_key: 'key_unknown',
  rest_svc_key_revoked: 'key_revoked',
  rest_svc_key_expired: 'key_expired',
  rest_svc_key_replaced: 'key_replaced',
  rest_missing_callback_param: 'parameters',
  rest_invalid_json: 'parameters',
  rest_body_too_large: 'parameters',
  rest_svc_streaming_not_supported: 'parameters',
  rest_svc_invalid_messages: 'parameters',
  rest_svc_invalid_last_message: 'parameters',
  rest_svc_empty_input: 'parameters',
  rest_svc_parameter_unknown: 'parameters',
  rest_svc_conversations_not_kept: 'parameters',
  rest_svc_provider_not_configured: 'provider_not_configured',
  rest_svc_secret_unreadable: 'provider_secret',
  rest_svc_model_not_found: 'model_unknown',
  rest_svc_model_cannot_see: 'model_unsupported',
  rest_svc_parameter_not_supported: 'model_unsupported',
  rest_svc_bot_not_found: 'chatbot_unknown',
  rest_svc_budget_no_price: 'budget_no_price',
  rest_svc_budget_unpriced_param: 'budget_no_price',
};

/** Name of the rule that decided. */
export function ruleOf({ run, refusal, budgets, isSandbox }: DryRunFacts): string {
  if (refusal === null) {
    const detour = run.detours.at(-1)?.rule;
    return detour ?? (isSandbox && run.calls.length > 0 ? 'sandbox' : run.caller?.id === 0 ? 'key_rest' : 'key_named');
  }
  const { code, status } = refusal;
  const data = asRecord(refusal.data);
  if (code === 'rest_svc_key_out_of_scope') return `scope_${String(data['scope'])}`;
  if (code === 'rest_svc_rate_limited') return `${run.limit}_rate_limit`;
  if (code === 'rest_svc_budget_exhausted') {
    const scope = budgets.find(({ id }) => id === data['budget'])?.scope ?? 'all';
    return `budget_${scope === 'all' ? 'site' : scope}`;
  }
  if (code === 'rest_invalid_param')
    return isRecord(data['params']) && Object.hasOwn(data['params'], 'provider') ? 'provider_unknown' : 'parameters';
  return rules[code] ?? (status >= 500 ? 'error' : 'plugin');
}

/** A sentence for people. */
export function messageOf(facts: DryRunFacts): string {
  const { run, refusal } = facts;
  if (refusal !== null) return refusal.message;
  const call = run.calls.at(-1);
  const target = call ? `${call.provider} with ${call.model}` : '';
  const rule = ruleOf(facts);
  if (rule === 'failover') return `The requested provider cannot be used: failover takes ${target}.`;
  if (rule === 'budget_fallback') return `A budget is used up: its cheaper model takes the call, ${target}.`;
  if (rule === 'sandbox') return `The sandbox responds instead of ${target}, at no cost.`;
  const key = rule === 'key_rest' ? 'The REST key' : `The key “${run.caller?.name ?? ''}”`;
  return call ? `${key} allows the call of ${target}.` : `${key} allows this route.`;
}

/** Calls and their cost in dollars. */
export function amountsOf(calls: readonly DryRunCall[]): Pick<Explanation, 'calls' | 'cost_usd'> {
  const sum = calls.reduce<number | null>((all, { cost }) => (all === null || cost === null ? null : all + cost), 0);
  return { calls: calls.map((call) => explained(call, toDollars(call.cost))), cost_usd: toDollars(sum) };
}

function explained(call: DryRunCall, cost_usd: number | null): ExplainedCall {
  const { kind, provider, model, images } = call;
  return {
    ...{ kind, provider, model, input_tokens: call.inputTokens, output_tokens: call.outputTokens, images, cost_usd },
    budgets: call.budgets.map((budget) =>
      budget.unit === 'dollars' ? { ...budget, takes: toDollars(budget.takes), left: toDollars(budget.left) } : budget,
    ),
  };
}
