import type { HostApi } from '#plugin-api';
import type { AiParams } from '../kit/ai-params.ts';
import type { DryRunCall } from '../kit/dry-run.ts';
import type { ImageParams } from '../kit/image-params.ts';
import type { Reasoning } from '../kit/reasoning.ts';
import type { TokenDetails } from '../kit/token-details.ts';
import type { CallTimeouts } from '../kit/time-limit.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';
import type { ProviderSettings, ReportedUsage } from '../providers/provider.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import type { UpstreamHttp } from './upstream-http.ts';
import type { Capability } from './capable-provider.ts';

/*
 * What calls to providers need of the rest of the service. `wiring.ts` connects it; without the optional parts calls are
 * made all the same.
 */

/** The settings a call needs. A change on any node applies from the next call on. */
export interface AiSettings {
  /** Saved settings of a provider, secrets in plain text; empty when nothing was saved. */
  provider(id: string): Promise<ProviderSettings>;
  /** Names of saved secrets that another key encrypted. Without them no call is made. Default: none. */
  unreadable?(id: string): Promise<readonly string[]>;
  /** Global AI parameters, the defaults of a call. */
  aiParams(): Promise<AiParams>;
  /** Limits of calls. */
  timeouts(): Promise<CallTimeouts>;
  /** Defaults of a request for images. */
  imageDefaults(): Promise<ImageParams>;
}

/** What calls to providers are made with. */
export interface AiServices {
  readonly registry: ProviderRegistry;
  readonly settings: AiSettings;
  readonly host: Pick<HostApi, 'clock' | 'documents' | 'log' | 'site'>;
  readonly upstream: UpstreamHttp;
  /** 0 up to 1, for the jitter of waits. Default Math.random. */
  readonly random?: () => number;
  /** Default: calls are not recorded, and no budget limits them. */
  readonly recordUsage?: RecordUsage;
  /** Default: a failed call returns its error. */
  readonly withFailover?: CallWrapper<Capability>;
  /** Default: a call that a budget refuses returns its error. */
  readonly withBudgetFallback?: CallWrapper<'text'>;
}

/** The provider that a call goes to: the one the caller chose, or one that takes its place. */
export interface CallTarget {
  readonly provider: string;
  /** Blank or left out takes the provider's saved one. */
  readonly model: string | undefined;
  /** The length that vectors must have. */
  readonly dimensions?: number | undefined;
  /** Ids of budgets that do not limit this call, because it is what they fell back to. */
  readonly bypassedBudgetIds: readonly string[];
}

/** What wrappers see of a call's input. */
export interface CallInput {
  readonly provider: string;
  readonly model?: string | undefined;
  /** For embeddings: the length of vectors that the caller requested. */
  readonly dimensions?: number | undefined;
  readonly outputDimensionality?: number | undefined;
  readonly origin?: UsageOrigin | undefined;
  readonly onText?: ((piece: string) => void) | undefined;
  readonly onReasoning?: ((piece: Reasoning) => void) | undefined;
  readonly onEvent?: ((event: Readonly<Record<string, unknown>>) => void) | undefined;
}

/** One call to one provider: one row in the usage ledger, one reservation with budgets. */
export type ProviderCall<Input, Result> = (input: Input, target: CallTarget) => Promise<Result>;

/** Adds a policy to a call: what to do when it fails. */
export type CallWrapper<Use extends Capability> = <Input extends CallInput, Result>(
  use: Use,
  call: ProviderCall<Input, Result>,
) => ProviderCall<Input, Result>;

export type CallKind = 'text' | 'image' | 'embedding' | 'video';

/** What a call used, or may use at most. */
export interface CallUse {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Which of the tokens are billed at prices of their own (D32). */
  readonly tokenDetails?: TokenDetails | undefined;
  readonly images: number;
  /** Length of videos. */
  readonly seconds?: number | undefined;
  /** Of images: as requested, if the model supports it. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
}

/** What a call used; `model` as the response names it. */
export interface UsageCounts extends Partial<CallUse> {
  readonly model: string;
  /** Its attempts, each of which is billed on its own: by what the provider reported as its cost, else by the price table. */
  readonly attempts?: readonly ReportedUsage[] | undefined;
}

/** A call that is about to be made. */
export interface BudgetedCall {
  readonly kind: CallKind;
  /** Id of the provider. */
  readonly provider: string;
  /** The requested model. */
  readonly model: string;
  readonly origin: UsageOrigin;
  /** Called only if a budget needs it: counting tokens takes time. */
  readonly estimate: () => Promise<CallUse>;
  /** Milliseconds the call may take. */
  readonly limit: number;
  readonly bypassedBudgetIds?: readonly string[] | undefined;
  /**
   * Returns the path of a member that multiplies the cost and has no price, such as a tool that the vendor runs (D55). Called only
   * if a budget needs it: the request may be long.
   */
  readonly unpricedParam?: (() => string | undefined) | undefined;
}

/** Limits calls to providers. */
export interface BudgetGuard {
  /**
   * Reserves what a call may use at most with every budget that applies to it. Returns the id of the reservation, or null
   * if none applies.
   *
   * @throws RestError 429 `rest_svc_budget_exhausted` with `Retry-After`; `data.is_reserved` if only running calls hold the rest.
   * @throws RestError 400 `rest_svc_budget_no_price` for a call without a price under a budget of dollars that refuses those,
   * `rest_svc_budget_unpriced_param` for one with a member that has none.
   */
  reserve(call: BudgetedCall): Promise<string | null>;
  /**
   * The same checks for a dry run (D31): reserves nothing and announces nothing.
   *
   * @throws RestError the same as `reserve`
   */
  explain(call: BudgetedCall): Promise<DryRunCall>;
}

/** A call with what the usage ledger records of it. */
export interface RecordedCall<Result> extends Omit<BudgetedCall, 'origin'> {
  /** Default: the service itself. */
  readonly origin?: UsageOrigin | undefined;
  /** The whole call, retries included; its duration is recorded. */
  readonly run: () => Promise<Result>;
  readonly count: (result: Result) => UsageCounts | Promise<UsageCounts>;
  /** The first error of a call that returned less than was requested. */
  readonly failedPart?: (result: Result) => Error | undefined;
  /** What a failed call used all the same. Default: nothing. */
  readonly countFailed?: () => UsageCounts | Promise<UsageCounts>;
}

/** What every call returns besides its content. */
export interface CallCost {
  /** Whole millionths of a US dollar by the prices when the call ended; 0 in sandbox mode, null without a known price. */
  readonly cost: number | null;
}

/** Runs a call within its key's scopes and the budgets, and records it. @throws RestError of these, before the call is made. */
/** The provider that responded to a call. */
export interface CallResult extends CallCost {
  readonly providerId: string;
  /** Display name of the provider (D6). */
  readonly provider: string;
  /** The model that responded, as the provider names it. */
  readonly model: string;
  /** Parameters that were left out, for `X-SVC-Ignored-Params` (D8). */
  readonly ignored: readonly string[];
}

export type RecordUsage = <Result extends object>(call: RecordedCall<Result>) => Promise<Result & CallCost>;

/** For services without a ledger. */
export const runUnrecorded: RecordUsage = async ({ run }) => Object.assign(await run(), { cost: null });

/** For services without a policy. */
export const unwrapped = <Input, Result>(_use: Capability, call: ProviderCall<Input, Result>) => call;

/** The target that the caller chose. */
export function requestedTarget({ provider, model }: CallInput): CallTarget {
  return { provider, model, bypassedBudgetIds: [] };
}
