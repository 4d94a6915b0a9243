import { AsyncLocalStorage } from 'node:async_hooks';
import { restError, type RestError, type RestRequest } from '#plugin-api';
import { errors } from './errors.ts';
import type { Caller } from './caller.ts';

/** What a request would be allowed, by which rule, and at what cost at most (D31): the response of a dry run. */
export interface Explanation {
  readonly dry_run: true;
  readonly allowed: boolean;
  /** The rule that decided; the README of the module keys lists them. */
  readonly rule: string;
  /** A sentence for people. */
  readonly message: string;
  /** The error that the request would get; null if it is allowed. */
  readonly error: { readonly code: string; readonly status: number; readonly data: unknown } | null;
  /** The key that was checked; null if none was found. */
  readonly key: { readonly id: number; readonly name: string } | null;
  /** Slug of the plugin that the request was checked for; null if none. */
  readonly plugin: string | null;
  /** The calls to providers that the request would make, in their order. */
  readonly calls: readonly ExplainedCall[];
  /** US dollars of all calls at most; null if the price of one is unknown. */
  readonly cost_usd: number | null;
}

export interface ExplainedCall {
  readonly kind: string;
  readonly provider: string;
  readonly model: string;
  /** Estimated at most: the counted prompt and the longest response. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly images: number;
  readonly cost_usd: number | null;
  /** `takes` and `left` in the unit: dollars, tokens or calls. */
  readonly budgets: readonly DryRunBudget[];
}

/** A call to a provider that a dry run allowed, estimated at most. */
export interface DryRunCall {
  readonly kind: string;
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly images: number;
  /** Millionths of a US dollar: 0 in sandbox mode, null without a known price. */
  readonly cost: number | null;
  /** Budgets that apply: what the call takes and what is left before it, in millionths of a US dollar, tokens or calls. */
  readonly budgets: readonly DryRunBudget[];
}

export interface DryRunBudget {
  readonly id: string;
  readonly name: string;
  readonly unit: string;
  readonly takes: number;
  readonly left: number;
}

/** Why a call goes to another provider than the requested one. */
export interface DryRunDetour {
  readonly rule: 'failover' | 'budget_fallback';
  /** Code of the error that caused it. */
  readonly code: string;
}

/**
 * A request that walks through every check of a real one (D31), but counts nothing, stores nothing and reaches no provider.
 * Whatever runs inside sees it by `currentDryRun`, so no code in between has to pass it on.
 */
export interface DryRun {
  /** Id of the named key to check; 0: the REST key. Undefined: the request has the secret. */
  readonly keyId: number | undefined;
  /** Slug of the plugin that would send the request. */
  readonly plugin: string | undefined;
  /** The key, once it was found to work. */
  caller: Caller | undefined;
  /** Whose limit per minute is being checked, or was checked last. */
  limit: 'site' | 'key';
  readonly calls: DryRunCall[];
  readonly detours: DryRunDetour[];
}

const storage = new AsyncLocalStorage<DryRun>();

/** The dry run that the running code belongs to; undefined for real requests. */
export function currentDryRun(): DryRun | undefined {
  return storage.getStore();
}

/** Runs work as a dry run. */
export async function runDry<Result>(
  init: Pick<DryRun, 'keyId' | 'plugin'>,
  work: () => Promise<Result>,
): Promise<{ readonly run: DryRun; readonly result: Result }> {
  const run: DryRun = { ...init, caller: undefined, limit: 'site', calls: [], detours: [] };
  return { run, result: await storage.run(run, work) };
}

/** Ends a dry run at the place where a real request calls the provider. */
export const dryRunPassed = 'rest_svc_dry_run_passed';

export function dryRunPassedError(): RestError {
  return restError(409, dryRunPassed, 'The dry run ends before the provider is called.');
}

/** Whether a request asks for a dry run: `?dry_run` with any value but 0 and false. */
export function asksForDryRun({ query }: Pick<RestRequest, 'query'>): boolean {
  const value = query['dry_run'];
  return value !== undefined && !['', '0', 'false'].includes(String(value));
}

/** @throws RestError 401 or 403 `rest_svc_dry_run_refused` unless an administrator sent the request */
export function requireDryRunUser({ user }: Pick<RestRequest, 'user'>): void {
  if (!user.can('manage_options')) throw errors.dry_run_refused();
}
