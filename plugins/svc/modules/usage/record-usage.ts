import { asRecord, currentRequest, RestError } from '#plugin-api';
import type { Clock, LogFields, Logger, SpanAttributes, TracesApi } from '#plugin-api';
import type {
  BudgetedCall,
  BudgetGuard,
  CallCost,
  CallKind,
  RecordedCall,
  RecordUsage,
  UsageCounts,
} from '../../ai/ports.ts';
import { requireScopes } from '../../kit/caller.ts';
import { currentDryRun, dryRunPassedError } from '../../kit/dry-run.ts';
import type { UsageOrigin } from '../../kit/usage-origin.ts';
import type { UsageLedger } from './ledger/usage-ledger.ts';
import type { CallPrice, UsageRecord } from './ledger/usage-record.ts';
import { findErrorCode, upstreamErrorKinds, upstreamErrorOf } from '../../kit/upstream-error.ts';

export interface RecordUsageParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly ledger: Pick<UsageLedger, 'record' | 'settle' | 'price'>;
  /** Roles of a user, none for an unknown one. Default: no user has roles. */
  readonly rolesOf?: (userId: number) => Promise<readonly string[]>;
  /** Default: nothing limits calls. */
  readonly guard?: BudgetGuard | undefined;
  /** Default: nothing is traced. */
  readonly traces?: TracesApi;
}

/** What recording a call needs besides its usage. */
interface Recording extends Pick<UsageCounts, 'attempts'> {
  /** As requested. */
  readonly model: string;
  readonly reservation: string | null;
}

const serviceOrigin: UsageOrigin = { module: 'service', route: null, botId: null };

/**
 * Runs a call and records it, a failed one by the code of its error and with a line of the log. Returns what the call
 * returned with its cost, or throws, at once: what takes time to count is recorded a little later. A call that is refused
 * before it reaches a provider is not recorded: it used nothing. That includes calls that the scopes of their key do not allow (D31).
 *
 * In a dry run (D31) the same checks end with an error instead of the call: nothing is sent, reserved or recorded.
 *
 * If a budget applies, what the call may use is reserved before it and settled when it ends: then the response waits until
 * the call is stored.
 */
export function createRecordUsage({ clock, log, ledger, rolesOf, guard, traces }: RecordUsageParts): RecordUsage {
  async function record(
    usage: UsageRecord,
    { model: requestedModel, reservation, attempts }: Recording,
  ): Promise<CallPrice> {
    const own = await ledger.price(usage, attempts);
    // Upstreams report longer names and those of deployments: no budget is bypassed because of them.
    const price =
      own.cost === null && usage.model !== requestedModel
        ? await ledger.price({ ...usage, model: requestedModel }, attempts)
        : own;
    if (reservation === null) ledger.record(usage, price);
    else await ledger.settle({ usage, price }, reservation);
    return price;
  }

  const run = async <Result extends object>(
    call: RecordedCall<Result>,
    describe: (attributes: SpanAttributes) => void,
  ): Promise<Result & CallCost> => {
    const {
      kind,
      provider,
      model,
      origin: from = serviceOrigin,
      estimate,
      limit,
      bypassedBudgetIds,
      unpricedParam,
    } = call;
    requireScopes(from.caller, { provider, model, chatbot: from.botId ?? undefined });
    const { userId = 0 } = from;
    const origin = userId > 0 ? { ...from, roles: await rolesOf?.(userId) } : from;
    const budgeted = { kind, provider, model, origin, estimate, limit, bypassedBudgetIds, unpricedParam };
    const dryRun = currentDryRun();
    if (dryRun !== undefined) {
      const allowed = await guard?.explain(budgeted);
      if (allowed !== undefined) dryRun.calls.push(allowed);
      throw dryRunPassedError();
    }
    const reservation = (await guard?.reserve(budgeted)) ?? null;
    const started = clock.now();
    // The origin last: V8 takes 8 µs to add this many members to an object that begins with a spread.
    const usageFor = (outcome: string, counts: UsageCounts): UsageRecord => ({
      kind,
      provider,
      model: counts.model,
      inputTokens: counts.inputTokens ?? 0,
      outputTokens: counts.outputTokens ?? 0,
      tokenDetails: counts.tokenDetails,
      images: counts.images ?? 0,
      seconds: counts.seconds,
      size: counts.size,
      quality: counts.quality,
      duration: clock.now() - started,
      outcome,
      ...origin,
    });
    const failed = { kind, provider, model, origin };
    let result: Result;
    try {
      result = await call.run();
    } catch (error) {
      const outcome = error instanceof RestError ? error.code : 'rest_internal_error';
      describe({ 'error.type': outcome });
      const nothing: UsageCounts = { model };
      const duration = clock.now() - started;
      const counted = Promise.resolve(call.countFailed?.() ?? nothing).catch(() => nothing);
      const isOwn = isOfRequest(error);
      if (!isOwn) logFailedCall(log, error, { ...failed, duration });
      const recorded = counted.then(async (counts) => {
        if (!isOwn || hasUsed(counts))
          await record(usageFor(outcome, counts), { model, reservation, attempts: counts.attempts });
        else if (reservation !== null) await ledger.settle(null, reservation);
      });
      if (reservation !== null) await recorded;
      throw error;
    }
    const partly = call.failedPart?.(result);
    if (partly !== undefined) logFailedCall(log, partly, { ...failed, duration: clock.now() - started });
    const counts = await call.count(result);
    const { attempts } = counts;
    describe(describeResult(counts));
    const { cost } = await record(usageFor('ok', counts), { model, reservation, attempts });
    // Onto the result itself: a copy would read vectors that are unpacked only on demand.
    return Object.assign(result, { cost: cost === null ? null : Math.round(cost) });
  };
  if (traces === undefined) return (call) => run(call, () => undefined);
  return (call) =>
    traces.span(`${operations[call.kind]} ${call.model}`, (describe) => {
      describe(describeRequest(call));
      return run(call, describe);
    });
}

/** By OpenTelemetry's semantic conventions for generative AI. */
const operations: Readonly<Record<CallKind, string>> = {
  text: 'chat',
  embedding: 'embeddings',
  image: 'generate_content',
  video: 'generate_content',
};

/** Names of the conventions where they differ from ours. */
const systems: Readonly<Record<string, string>> = {
  claude: 'anthropic',
  google: 'gcp.gemini',
  azure: 'azure.ai.openai',
  xai: 'x_ai',
};

function describeRequest({ kind, provider, model }: Pick<RecordedCall<object>, 'kind' | 'provider' | 'model'>) {
  return {
    'gen_ai.operation.name': operations[kind],
    'gen_ai.provider.name': systems[provider] ?? provider,
    'gen_ai.request.model': model,
    ...((kind === 'image' || kind === 'video') && { 'gen_ai.output.type': kind }),
  };
}

function describeResult({ model, inputTokens, outputTokens }: UsageCounts): SpanAttributes {
  return {
    'gen_ai.response.model': model,
    ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
  };
}

/**
 * Whether an error is about the request and was found before a provider was asked: an image that cannot be loaded, arguments
 * that its format does not have.
 */
function isOfRequest(error: unknown): boolean {
  if (!(error instanceof RestError) || error.status >= 429) return false;
  const { provider_status: status } = asRecord(error.data);
  return status === undefined || (status === null && error.code === 'rest_svc_provider_rejected');
}

/** Whether a call used something, so that it reached its provider. */
function hasUsed({ inputTokens = 0, outputTokens = 0, images = 0, seconds = 0, attempts = [] }: UsageCounts): boolean {
  return inputTokens + outputTokens + images + seconds + attempts.length > 0;
}

interface FailedCall extends Pick<BudgetedCall, 'kind' | 'provider' | 'model' | 'origin'> {
  /** Milliseconds. */
  readonly duration: number;
}

/** Failures that an administrator has to end: they last until a setting is changed. */
const lasting: readonly string[] = ['auth', 'internal'];

/**
 * Writes the one line of a call to a provider that failed, after its retries: with `X-Request-Id`, the key, and the cause as
 * the provider names it, without secrets. A client that closed its request is no failure of the provider, so that its line is
 * only information. Errors before the provider was called, such as a wrong address of an image, have no line.
 */
function logFailedCall(log: Logger, error: unknown, { kind: use, provider, model, origin, duration }: FailedCall) {
  const cause = error instanceof RestError ? error.cause : error;
  const upstream = upstreamErrorOf(cause, upstreamErrorKinds);
  if (upstream === null && error instanceof RestError && error.status < 500) return;
  const kind = upstream?.kind ?? 'internal';
  const fields: LogFields = {
    event: 'provider_call_failed',
    request_id: currentRequest()?.requestId || undefined,
    caller: origin.caller?.name,
    use,
    provider,
    model,
    kind,
    status: upstream?.status ?? asRecord(asRecord(error)['data'])['provider_status'] ?? null,
    cause: upstream?.message ?? (error instanceof Error ? error.message : String(error)),
    error_code: findErrorCode(cause) ?? undefined,
    code: error instanceof RestError ? error.code : undefined,
    module: origin.module,
    route: origin.route ?? undefined,
    bot: origin.botId ?? undefined,
    reference: origin.reference ?? undefined,
    duration_ms: duration,
    // What another kind of error needs to be found in the code.
    ...(upstream === null && { error: cause ?? error }),
  };
  if (kind === 'aborted') log.info('Provider call aborted', { ...fields, event: 'provider_call_aborted' });
  else if (lasting.includes(kind)) log.error('Provider call failed', fields);
  else log.warn('Provider call failed', fields);
}
