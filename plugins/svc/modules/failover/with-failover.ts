import { asRecord, RestError, type HostApi } from '#plugin-api';
import type { CallInput, CallTarget, CallWrapper } from '../../ai/ports.ts';
import type { Capability } from '../../ai/capable-provider.ts';
import { currentDryRun, dryRunPassed } from '../../kit/dry-run.ts';
import type { Reasoning } from '../../kit/reasoning.ts';
import type { UsageOrigin } from '../../kit/usage-origin.ts';
import { createProviderOutages } from './provider-outages.ts';
import type { FailoverStore } from './failover-store.ts';
import type { EmbeddingTarget, Failover, FailoverTarget } from './failover.ts';

/** A failed call that another provider may take. */
export interface FailedCall {
  readonly use: Capability;
  /** As requested. */
  readonly provider: string;
  readonly model: string | undefined;
  readonly origin: UsageOrigin | undefined;
  readonly error: RestError;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** The providers to try, in this order, after one failed; only while failover is on, and for REST calls only if it is on for those. */
    svc_failover_targets: (targets: readonly FailoverTarget[], call: FailedCall) => readonly FailoverTarget[];
  }
}

export interface FailoverParts {
  readonly host: Pick<HostApi, 'clock' | 'hooks' | 'log'>;
  readonly failover: Pick<FailoverStore, 'get'>;
}

/** Errors that another provider may not have. An error in the request itself would fail there as well. */
const failoverCodes = new Set([
  'rest_svc_provider_rate_limited',
  'rest_svc_provider_error',
  'rest_svc_provider_timeout',
  'rest_svc_provider_auth_failed',
  'rest_svc_provider_not_configured',
]);

/**
 * If a call fails, the providers that the administrator listed are tried one after the other, each with the time limit of
 * a whole call. A model that had several outages in a row, or whose provider was not reached, is tried last for a while. If all
 * fail, the first error is thrown. Once the caller has seen a part of the text, no provider follows.
 */
export function createWithFailover(parts: FailoverParts): CallWrapper<Capability> {
  const { host } = parts;
  const outages = createProviderOutages(host);

  return (use, call) => async (input, requested) => {
    let hasStarted = false;
    const { onText, onReasoning, onEvent, provider } = input;
    const watched = onText && {
      ...input,
      onText(piece: string): void {
        hasStarted = true;
        onText(piece);
      },
      onReasoning:
        onReasoning &&
        ((piece: Reasoning): void => {
          hasStarted = true;
          onReasoning(piece);
        }),
      onEvent:
        onEvent &&
        ((event: Readonly<Record<string, unknown>>): void => {
          hasStarted = true;
          onEvent(event);
        }),
    };
    const dryRun = currentDryRun();
    const attempt = (target: CallTarget) => {
      const made = () => call(watched ?? input, target);
      return dryRun === undefined ? outages.watch(use, target, made) : made();
    };
    const outage = dryRun === undefined ? outages.skipped(use, input) : null;
    const others = outage === null ? [] : await findTargets(parts, { use, input, error: outage });
    let failure = outage;
    let targets = [...others, requested];
    if (failure === null || others.length === 0)
      try {
        return await attempt(requested);
      } catch (error) {
        if (!isFailoverable(error) || hasStarted) throw error;
        failure = error;
        targets = [...(await findTargets(parts, { use, input, error }))];
      }
    const isSkipped = (target: CallTarget): number => (outages.skipped(use, target) === null ? 0 : 1);
    for (const target of targets.toSorted((one, other) => isSkipped(one) - isSkipped(other))) {
      dryRun?.detours.push({ rule: 'failover', code: failure.code });
      if (dryRun === undefined && target !== requested)
        host.log.info('Trying another provider', {
          event: 'failover_attempted',
          use,
          failed: provider,
          provider: target.provider,
          model: target.model,
          code: failure.code,
        });
      try {
        return await attempt(target);
      } catch (next) {
        if (hasStarted || (next instanceof RestError && next.code === 'rest_svc_request_aborted')) throw next;
        if (next instanceof RestError && next.code === dryRunPassed) throw next;
        if (target === requested) throw next;
      }
    }
    throw failure;
  };
}

/** The providers to try, in order. */
async function findTargets(
  { host, failover }: FailoverParts,
  { use, input, error }: { readonly use: Capability; readonly input: CallInput; readonly error: RestError },
): Promise<readonly CallTarget[]> {
  const settings = await failover.get();
  const { provider, model, origin } = input;
  if (!settings.enabled || (origin?.module === 'rest' && !settings.rest)) return [];
  const targets = listedTargets(settings, use, input).filter((target) => !isSame(target, input));
  const call = { use, provider, model, origin, error };
  const chosen = await host.hooks.applyFiltersAsync('svc_failover_targets', targets, call);
  return chosen.map((target) => ({ ...target, bypassedBudgetIds: [] }));
}

function listedTargets(failover: Failover, use: Capability, input: CallInput): readonly FailoverTarget[] {
  if (use !== 'embeddings') return failover[use];
  const required = requiredDimensions(failover.embeddings, input);
  return failover.embeddings.filter(({ dimensions }) => dimensions === required);
}

/** The dimensions the caller requested, or those of the failed model if the list has it; otherwise unknown. */
export function requiredDimensions(list: readonly EmbeddingTarget[], input: CallInput): number | undefined {
  return input.dimensions ?? input.outputDimensionality ?? list.find((target) => isSame(target, input))?.dimensions;
}

function isSame(target: FailoverTarget, { provider, model }: CallInput): boolean {
  return target.provider === provider && (!model?.trim() || target.model === model.trim());
}

/** A model that a provider retired is a refusal there, but not elsewhere. */
function isFailoverable(error: unknown): error is RestError {
  if (!(error instanceof RestError)) return false;
  const { provider_status: status, reason } = asRecord(error.data);
  const isRetired = error.code === 'rest_svc_provider_rejected' && (status === 404 || reason === 'model_not_found');
  return isRetired || failoverCodes.has(error.code);
}
