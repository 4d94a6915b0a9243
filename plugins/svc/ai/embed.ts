import { withoutUndefined } from '#plugin-api';
import {
  asProviderError,
  ProviderError,
  type EmbeddingInput,
  type EmbeddingRequest,
  type EmbeddingResult,
  type ProviderSettings,
  type EmbeddingCapability,
} from '../providers/provider.ts';
import { checkVectors, resultVectors } from '../providers/embeddings/check-embeddings.ts';
import { capableProvider, chosenModel, type Capable } from './capable-provider.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { errors } from '../kit/errors.ts';
import { inParallel } from './in-parallel.ts';
import { requestedTarget, runUnrecorded, unwrapped } from './ports.ts';
import { billedUsage } from './billed-attempt.ts';
import type { AiServices, CallResult, CallTarget, ProviderCall } from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { providerFailure } from './upstream-failure.ts';
import { withRetries } from './retry.ts';
import type { UsageOrigin } from '../kit/usage-origin.ts';

export interface EmbedInput {
  /** Id of a provider. */
  readonly provider: string;
  /** Model or deployment; blank or left out takes the provider's saved embedding model. */
  readonly model?: string | undefined;
  /** Any number of texts, none blank; split into as many calls as needed. Ids of tokens only for providers that take them. */
  readonly input: readonly EmbeddingInput[];
  readonly dimensions?: number | undefined;
  /** Encoding requested from the provider; the result contains numbers either way (D11). Default `float`. */
  readonly encodingFormat?: 'float' | 'base64' | undefined;
  readonly taskType?: string | undefined;
  readonly outputDimensionality?: number | undefined;
  readonly user?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For the usage ledger. */
  readonly origin?: UsageOrigin | undefined;
}

export interface Embedded extends CallResult {
  /** One per input, in the order of the inputs, all of one length. */
  readonly embeddings: readonly (readonly number[])[];
  /** The same vectors as 32-bit floats, if all of them came so; `embeddings` then creates its arrays on first access. */
  readonly packed?: readonly Float32Array[];
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number };
  /** The provider did not report the usage of all calls, so tokens were counted locally (D25). */
  readonly usageEstimated: boolean;
}

export type Embed = (input: EmbedInput) => Promise<Embedded>;

/** Concurrent calls to a provider per request: fast, and well below the rate limits of accounts. */
const maxConcurrentCalls = 4;

/**
 * Vectors of texts from a provider (contract 4.4, D11): split into calls within the provider's limits, several at a time,
 * each with retries (D9), all within one time limit; usage summed (D25). If a call fails after its retries, the whole fails
 * with the errors of D5 as RestError, and the others are aborted. Keeps no state: any node may serve any call.
 */
export function createEmbed(services: AiServices): Embed {
  const { withFailover = unwrapped } = services;
  const call: ProviderCall<EmbedInput, Embedded> = (input, target) => embedOnce(services, input, target);
  const embed = withFailover('embeddings', call);
  return (input) => embed(input, requestedTarget(input));
}

async function embedOnce(services: AiServices, input: EmbedInput, target: CallTarget): Promise<Embedded> {
  const { registry, settings, host, recordUsage = runUnrecorded } = services;
  const provider = capableProvider(registry, target.provider, 'embeddings');
  const [saved, limits] = await Promise.all([
    configuredSettings(provider, services, { origin: input.origin, model: target.model }),
    settings.timeouts(),
  ]);
  const model = chosenModel({
    requested: target.model,
    saved: saved.embedding_model,
    provider,
    setting: 'embedding_model',
  });
  if (provider.embeddings.takesTokens !== true && input.input.some((one) => typeof one !== 'string'))
    throw errors.tokens_not_supported({
      values: { provider: provider.label, model },
      data: { param: 'input', provider: provider.id, model },
    });
  const job: Job = {
    provider,
    saved,
    model,
    fields: requestFields(input),
    deadline: host.clock.now() + limits.embeddings,
    used: new Map(),
  };
  const run = async (): Promise<Omit<Embedded, 'cost'>> => {
    const batches = embedBatches(input.input, provider.embeddings.limits);
    try {
      const results = await inParallel(batches, maxConcurrentCalls, {
        task: (batch, signal) => embedBatch(services, job, { batch, signal }),
        signal: input.signal,
      });
      const result = Object.assign(await joinResults(batches, results, host), {
        providerId: provider.id,
        provider: provider.label,
        model: results[0]?.model ?? model,
      });
      requireDimensions(results[0], target.dimensions ?? requestedSize(input, results[0]));
      return result;
    } catch (thrown) {
      const error = asProviderError(thrown);
      throw error === null ? thrown : providerFailure(error, provider, limits.embeddings);
    }
  };
  return recordUsage({
    kind: 'embedding',
    provider: provider.id,
    model,
    origin: input.origin,
    limit: limits.embeddings,
    estimate: async () => ({ inputTokens: await countInputs(input.input, host), outputTokens: 0, images: 0 }),
    run,
    count: async (embedded) => ({
      model: embedded.model,
      inputTokens: embedded.usage.input_tokens + (await countTokens([...job.used.values()].filter(isLost), host)),
    }),
    countFailed: async () => ({ model, inputTokens: await countTokens([...job.used.values()], host) }),
  });
}

interface Job {
  readonly provider: Capable<'embeddings'>;
  readonly saved: ProviderSettings;
  readonly model: string;
  readonly fields: Omit<EmbeddingRequest, 'model' | 'input'>;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** The attempts that may be paid for, although they or others failed. */
  readonly used: Map<object, UsedAttempt>;
}

interface UsedAttempt {
  readonly batch: readonly EmbeddingInput[];
  /** Of the input; null if they have to be estimated. */
  readonly tokens: number | null;
  /** Whether its vectors are not in the result. */
  readonly isLost: boolean;
}

const isLost = (attempt: UsedAttempt): boolean => attempt.isLost;

function embedBatch(
  services: AiServices,
  { provider, saved, model, fields, deadline, used }: Job,
  { batch, signal }: { readonly batch: readonly EmbeddingInput[]; readonly signal: AbortSignal },
): Promise<EmbeddingResult> {
  const { registry } = services;
  return withRetries(
    async (timeout) => {
      const isSent = !signal.aborted;
      const attempt = {};
      // A batch that is still running when another one fails is aborted, and may be paid for.
      if (isSent) used.set(attempt, { batch, tokens: null, isLost: true });
      try {
        const result = await provider.embeddings.embed(
          { model, input: batch, ...fields },
          connectionOf(services, { settings: saved, timeout, signal }),
        );
        used.set(attempt, { batch, tokens: reportedTokens(result), isLost: false });
        // Providers of other plugins must follow the contract too.
        if (!registry.isOwn(provider)) checkVectors(result.packed ?? result.embeddings, batch.length);
        return result;
      } catch (thrown) {
        if (used.get(attempt)?.isLost !== true) throw thrown;
        const billed = billedUsage(thrown, { isSent });
        if (billed === null) used.delete(attempt);
        else used.set(attempt, { batch, tokens: reportedTokens(billed), isLost: true });
        throw thrown;
      }
    },
    { services, provider: provider.id, deadline, signal },
  );
}

/** Tokens of the input. Null if they have to be estimated: inputs always have some, so a report of 0 is none (D51). */
function reportedTokens({ usage }: Pick<EmbeddingResult, 'usage'>): number | null {
  return usage === null || usage.input_tokens === 0 ? null : usage.input_tokens;
}

async function countTokens(attempts: readonly UsedAttempt[], host: AiServices['host']): Promise<number> {
  let sum = 0;
  for (const { batch, tokens } of attempts) sum += tokens ?? (await countInputs(batch, host));
  return sum;
}

/** Tokens of inputs: counted locally for texts. */
async function countInputs(inputs: readonly EmbeddingInput[], host: AiServices['host']): Promise<number> {
  const texts = inputs.filter((input) => typeof input === 'string');
  const ids = inputs.reduce((sum, input) => sum + (typeof input === 'string' ? 0 : input.length), 0);
  return ids + (texts.length === 0 ? 0 : await estimateTokens(texts, host));
}

/** The size that the request names and the provider was asked for (D49). */
function requestedSize(
  { dimensions, outputDimensionality }: EmbedInput,
  result: EmbeddingResult | undefined,
): number | undefined {
  const isAsked = (name: string): boolean => result !== undefined && !result.ignored.includes(name);
  if (dimensions !== undefined && isAsked('dimensions')) return dimensions;
  return isAsked('output_dimensionality') ? outputDimensionality : undefined;
}

function requireDimensions(result: EmbeddingResult | undefined, expected: number | undefined): void {
  const given = (result?.packed ?? result?.embeddings)?.[0]?.length;
  if (expected === undefined || given === undefined || given === expected) return;
  throw new ProviderError({
    kind: 'unreadable',
    status: 200,
    message: `its vectors have ${String(given)} dimensions instead of ${String(expected)}.`,
  });
}

function requestFields({
  dimensions,
  encodingFormat,
  taskType,
  outputDimensionality,
  user,
}: EmbedInput): Omit<EmbeddingRequest, 'model' | 'input'> {
  return withoutUndefined({ dimensions, encodingFormat, taskType, outputDimensionality, user });
}

/** Joins the results of all calls. Estimates only what the provider did not count. */
async function joinResults(
  batches: readonly (readonly EmbeddingInput[])[],
  results: readonly EmbeddingResult[],
  host: AiServices['host'],
): Promise<Omit<Embedded, 'providerId' | 'provider' | 'model' | 'cost'>> {
  const vectors = results.flatMap<readonly number[] | Float32Array>((result) => result.packed ?? result.embeddings);
  const length = vectors[0]?.length;
  if (vectors.some((vector) => vector.length !== length)) {
    throw new ProviderError({
      kind: 'unreadable',
      status: 200,
      message: 'its response contains vectors of several lengths.',
    });
  }
  const usage = { input_tokens: 0, total_tokens: 0 };
  for (const [index, result] of results.entries()) {
    const reported = reportedTokens(result);
    const tokens = reported ?? (await countInputs(batches[index] ?? [], host));
    usage.input_tokens += tokens;
    usage.total_tokens += reported === null ? tokens : (result.usage?.total_tokens ?? tokens);
  }
  return Object.assign(resultVectors(vectors), {
    usage,
    ignored: [...new Set(results.flatMap(({ ignored }) => ignored))],
    usageEstimated: results.some((result) => reportedTokens(result) === null),
  });
}

/**
 * Splits inputs into calls within the limits, in order. Tokens are not counted: each token of a byte-level tokenizer has at
 * least one byte of UTF-8, so bytes are an upper bound that costs nothing. Most text has four bytes per token, so its calls
 * stay at a quarter of the limit, with smaller and faster responses. An input above the limit is sent alone, and
 * the provider may refuse it.
 */
export function embedBatches(
  input: readonly EmbeddingInput[],
  { inputs, tokens = Number.POSITIVE_INFINITY }: EmbeddingCapability['limits'],
): EmbeddingInput[][] {
  const batches: EmbeddingInput[][] = [];
  let batch: EmbeddingInput[] = [];
  let bytes = 0;
  for (const text of input) {
    const size = typeof text === 'string' ? Buffer.byteLength(text) : text.length;
    if (batch.length > 0 && (batch.length >= inputs || bytes + size > tokens)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(text);
    bytes += size;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
