import { RestError } from '#plugin-api';
import type { AiServices } from './ai-services.ts';
import type { UsageOrigin, UsageRecord } from './usage-record.ts';

/** What a call that went well used; `model` as the answer names it. */
export type UsageCounts = Pick<UsageRecord, 'model'> & Partial<Pick<UsageRecord, 'inputTokens' | 'outputTokens' | 'images'>>;

export interface NotedCall<Result> {
  readonly kind: UsageRecord['kind'];
  /** Id of the provider. */
  readonly provider: string;
  /** The model asked for. */
  readonly model: string;
  /** Default: the service itself. */
  readonly origin?: UsageOrigin | undefined;
  /** The whole call, further tries included; its time is the one that is kept. */
  readonly run: () => Promise<Result>;
  readonly count: (result: Result) => UsageCounts;
  /** What a call that failed used all the same. Default: nothing. */
  readonly countFailed?: () => UsageCounts | Promise<UsageCounts>;
}

const ownOrigin: UsageOrigin = { module: 'service', route: null, botId: null };

/** What every call to a provider answers besides its content. */
export interface CallCost {
  /** Whole millionths of a US dollar by the prices of the moment the call ended; 0 where the sandbox answered, null where no price is known. */
  readonly cost: number | null;
}

/**
 * Runs a call and has the ledger take note of it, of one that failed by the code of its error. Answers what the call did
 * and its cost, or throws, at once: what takes time to count is noted a little later. One that is refused before a provider was asked does not belong in here: nothing was used.
 */
export async function noteUsage<Result extends object>({ ledger, host }: Pick<AiServices, 'ledger' | 'host'>, call: NotedCall<Result>): Promise<Result & CallCost> {
  const { kind, provider, origin = ownOrigin } = call;
  const started = host.clock.now();
  const recordOf = (outcome: string, { model, inputTokens = 0, outputTokens = 0, images = 0 }: UsageCounts): UsageRecord => (
    { ...origin, kind, provider, model, inputTokens, outputTokens, images, duration: host.clock.now() - started, outcome }
  );
  const note = (outcome: string, counts: UsageCounts): void => ledger?.record(recordOf(outcome, counts));
  let result: Result;
  try {
    result = await call.run();
  } catch (error) {
    const outcome = error instanceof RestError ? error.code : 'rest_internal_error';
    const counts = call.countFailed?.() ?? { model: call.model };
    if (counts instanceof Promise) void counts.catch(() => ({ model: call.model })).then((counted) => note(outcome, counted));
    else note(outcome, counts);
    throw error;
  }
  const record = recordOf('ok', call.count(result));
  const price = await ledger?.price(record);
  ledger?.record(record, price);
  // Onto the answer itself: a copy would ask for vectors that may never be wanted.
  return Object.assign(result, { cost: price?.cost ?? null });
}
