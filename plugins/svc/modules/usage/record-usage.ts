import { RestError } from '#plugin-api';
import type { AiServices } from '../../ai/ai-services.ts';
import type { EstimatedUse } from '../budgets/guard/fuse.ts';
import type { CallPrice, UsageOrigin, UsageRecord } from '../../ai/usage-record.ts';

/** What a call that went well used; `model` as the answer names it. */
export type UsageCounts = Pick<UsageRecord, 'model'> &
  Partial<Pick<UsageRecord, 'inputTokens' | 'outputTokens' | 'images'>>;

export interface NotedCall<Result> {
  readonly kind: UsageRecord['kind'];
  /** Id of the provider. */
  readonly provider: string;
  /** The model asked for. */
  readonly model: string;
  /** Default: the service itself. */
  readonly origin?: UsageOrigin | undefined;
  /** Milliseconds it may take. */
  readonly limit: number;
  /** What it may use at most, for budgets; asked for only where there are any. */
  readonly estimate: () => Promise<EstimatedUse>;
  /** Ids of budgets that do not hold it back. */
  readonly waived?: readonly string[] | undefined;
  /** The whole call, further tries included; its time is the one that is kept. */
  readonly run: () => Promise<Result>;
  readonly count: (result: Result) => UsageCounts;
  /** What a call that failed used all the same. Default: nothing. */
  readonly countFailed?: () => UsageCounts | Promise<UsageCounts>;
}

const ownOrigin: UsageOrigin = { module: 'service', route: null, botId: null };
const unknownPrice: CallPrice = { cost: null, sandbox: false };

/** What every call to a provider answers besides its content. */
export interface CallCost {
  /** Whole millionths of a US dollar by the prices of the moment the call ended; 0 where the sandbox answered, null where no price is known. */
  readonly cost: number | null;
}

/**
 * Runs a call and has the ledger take note of it, of one that failed by the code of its error. Answers what the call did
 * and its cost, or throws, at once: what takes time to count is noted a little later. One that is refused before a provider
 * was asked does not belong in here: nothing was used.
 *
 * Where a budget applies, what the call may use is reserved before it, and settled when it ends: then the answer waits
 * until the call is stored.
 *
 * @throws RestError of the fuse, before the call is made.
 */
export async function noteUsage<Result extends object>(
  services: Pick<AiServices, 'ledger' | 'host' | 'fuse'>,
  call: NotedCall<Result>,
): Promise<Result & CallCost> {
  const { ledger, host, fuse } = services;
  const { kind, provider, model: asked, origin = ownOrigin, estimate, limit, waived } = call;
  const held = (await fuse?.reserve({ kind, provider, model: asked, origin, estimate, limit, waived })) ?? null;
  const started = host.clock.now();
  const recordOf = (
    outcome: string,
    { model, inputTokens = 0, outputTokens = 0, images = 0 }: UsageCounts,
  ): UsageRecord => ({
    ...origin,
    kind,
    provider,
    model,
    inputTokens,
    outputTokens,
    images,
    duration: host.clock.now() - started,
    outcome,
  });
  const note = async (record: UsageRecord): Promise<CallPrice> => {
    const own = (await ledger?.price(record)) ?? unknownPrice;
    // Far ends answer by longer names and by those of deployments: no budget is passed by because of them.
    const price =
      own.cost === null && record.model !== asked ? ((await ledger?.price({ ...record, model: asked })) ?? own) : own;
    if (held === null) ledger?.record(record, price);
    else await ledger?.settle(record, price, held);
    return price;
  };
  let result: Result;
  try {
    result = await call.run();
  } catch (error) {
    const outcome = error instanceof RestError ? error.code : 'rest_internal_error';
    const failed = Promise.resolve(call.countFailed?.() ?? { model: asked }).catch(() => ({ model: asked }));
    const noted = failed.then((counts) => note(recordOf(outcome, counts)));
    if (held !== null) await noted;
    throw error;
  }
  const { cost } = await note(recordOf('ok', call.count(result)));
  // Onto the answer itself: a copy would ask for vectors that may never be wanted.
  return Object.assign(result, { cost });
}
