import { RestError } from '#plugin-api';
import type { EmbeddingTarget, Failover, FailoverTarget, FailoverUse } from './failover.ts';
import type { AiServices } from '../../ai/ai-services.ts';
import { BudgetRefusal } from '../budgets/guard/fuse.ts';
import type { UsageOrigin } from '../../ai/usage-record.ts';

/** A call that is about to be tried elsewhere. */
export interface FailedCall {
  readonly use: FailoverUse;
  /** As it was asked for. */
  readonly provider: string;
  readonly model: string | undefined;
  readonly origin: UsageOrigin | undefined;
  readonly error: RestError;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Who is asked, in this order, when a provider failed; only while failover is on, and for REST calls only where it is on for those. */
    svc_failover_targets: (targets: readonly FailoverTarget[], call: FailedCall) => readonly FailoverTarget[];
  }
}

export interface Attempt {
  readonly provider: string;
  readonly model: string | undefined;
  /** Vectors must have so many dimensions, in place of those of the model that failed. */
  readonly dimensions?: number | undefined;
  /** Ids of budgets that fell back to this one. */
  readonly waived: readonly string[];
}

export interface AnswerInit<Result> {
  readonly use: FailoverUse;
  readonly input: {
    readonly provider: string;
    readonly model?: string | undefined;
    readonly origin?: UsageOrigin | undefined;
  };
  /** One call to one provider: its own row in the ledger, its own reservation. */
  readonly call: (attempt: Attempt) => Promise<Result>;
  /** False once the caller has seen a part of the answer: no other provider may begin anew. Default: always. */
  readonly mayGoOn?: () => boolean;
  /** For embeddings: how many dimensions the vectors must have, where the caller says so. */
  readonly dimensions?: number | undefined;
}

/** Failures that another provider may mend. What is wrong with the request itself fails there as well. */
const mendable = new Set([
  'rest_svc_provider_rate_limited',
  'rest_svc_provider_error',
  'rest_svc_provider_timeout',
  'rest_svc_provider_auth_failed',
  'rest_svc_provider_not_configured',
]);

/**
 * Makes a call, and where its provider fails asks those that the administrator named, one after the other, each with the
 * time limit of a whole call. Where all fail the first failure is thrown. A text call that a budget refuses is made with
 * the budget's cheaper model where it has one.
 */
export async function answerBy<Result>(
  services: Pick<AiServices, 'settings' | 'host'>,
  init: AnswerInit<Result>,
): Promise<Result> {
  const { provider, model } = init.input;
  try {
    return await withinBudgets(init, { provider, model, waived: [] });
  } catch (error) {
    if (!isMendable(error) || init.mayGoOn?.() === false) throw error;
    for (const target of await targetsAfter(services, init, error)) {
      services.host.log.info('Another provider is asked.', {
        use: init.use,
        failed: provider,
        provider: target.provider,
        model: target.model,
        code: error.code,
      });
      try {
        return await withinBudgets(init, { ...target, waived: [] });
      } catch (further) {
        if (init.mayGoOn?.() === false || codeOf(further) === 'rest_svc_request_aborted') throw further;
      }
    }
    throw error;
  }
}

async function withinBudgets<Result>(init: AnswerInit<Result>, attempt: Attempt): Promise<Result> {
  try {
    return await init.call(attempt);
  } catch (error) {
    const refusal = error instanceof RestError && error.cause instanceof BudgetRefusal ? error.cause : null;
    // A model for text draws no images; and vectors of another model would not compare with those there are.
    if (refusal === null || init.use !== 'text') throw error;
    const { id, at_limit, fallback_provider, fallback_model } = refusal.budget;
    if (at_limit !== 'fallback' || fallback_provider === undefined || attempt.waived.includes(id)) throw error;
    return withinBudgets(init, { provider: fallback_provider, model: fallback_model, waived: [...attempt.waived, id] });
  }
}

async function targetsAfter<Result>(
  { settings, host }: Pick<AiServices, 'settings' | 'host'>,
  { use, input, dimensions }: AnswerInit<Result>,
  error: RestError,
): Promise<readonly FailoverTarget[]> {
  const failover = await settings.failover?.get();
  if (failover === undefined || !failover.enabled) return [];
  const { provider, model, origin } = input;
  if (origin?.module === 'rest' && !failover.rest) return [];
  const others = listOf(failover, use, { provider, model, dimensions }).filter((target) => !isSame(target, input));
  return host.hooks === undefined
    ? others
    : host.hooks.applyFiltersAsync('svc_failover_targets', others, { use, provider, model, origin, error });
}

function listOf(
  failover: Failover,
  use: FailoverUse,
  asked: { readonly provider: string; readonly model: string | undefined; readonly dimensions: number | undefined },
): readonly FailoverTarget[] {
  if (use !== 'embeddings') return failover[use];
  const wanted = wantedDimensions(failover.embeddings, asked);
  return failover.embeddings.filter(({ dimensions }) => dimensions === wanted);
}

/** Those the caller asks for, or those of the model that failed where the list knows it; else nobody can tell who gives as many. */
export function wantedDimensions(
  list: readonly EmbeddingTarget[],
  {
    provider,
    model,
    dimensions,
  }: { readonly provider: string; readonly model: string | undefined; readonly dimensions: number | undefined },
): number | undefined {
  return dimensions ?? list.find((target) => isSame(target, { provider, model }))?.dimensions;
}

function isSame(
  target: FailoverTarget,
  { provider, model }: { readonly provider: string; readonly model?: string | undefined },
): boolean {
  return target.provider === provider && (!model?.trim() || target.model === model.trim());
}

function isMendable(error: unknown): error is RestError {
  return error instanceof RestError && mendable.has(error.code);
}

function codeOf(error: unknown): string {
  return error instanceof RestError ? error.code : '';
}
