import { RestError, type User } from '#plugin-api';
import type { AiParams } from '../kit/ai-params.ts';
import { errors } from '../kit/errors.ts';
import {
  asProviderError,
  type Provider,
  type ProviderSettings,
  type TextCapability,
  type TextRequest,
  type TextResult,
  type Usage,
} from '../providers/provider.ts';
import type { AiServices } from './ai-services.ts';
import { estimateText } from '../modules/budgets/guard/estimate-call.ts';
import { createTextAttempts, type TextAttempts } from './attempt-text.ts';
import { estimateUsage } from './estimate-usage.ts';
import { answerBy } from '../modules/failover/with-failover.ts';
import { noteUsage, type CallCost, type UsageCounts } from '../modules/usage/record-usage.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { providerFailure } from './provider-failure.ts';
import { withRetries } from './retry.ts';
import { splitConversation, type ConversationMessage } from './system-text.ts';
import type { UsageOrigin } from './usage-record.ts';

export interface GenerateTextInput {
  /** Id of a provider. */
  readonly provider: string;
  /** Model or deployment; blank or left out takes the provider's saved one. */
  readonly model?: string | undefined;
  readonly messages: readonly ConversationMessage[];
  readonly systemInstruction?: string | undefined;
  /** False: the system text has been filled in already, and holds texts of others that are to stay as they are. Default true (D7). */
  readonly placeholders?: boolean;
  /** Overrides of the global parameters, already checked (D8). */
  readonly params?: AiParams | undefined;
  /** For `[username]`; default a guest. */
  readonly user?: Pick<User, 'id' | 'displayName'> | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with each piece of the text as the far end sends it; all pieces together are the content. A far end that cannot
   * stream, and one that failed before its first piece and is tried again, are no different to the caller.
   */
  readonly onText?: ((piece: string) => void) | undefined;
  /** For the usage ledger. */
  readonly origin?: UsageOrigin | undefined;
}

export interface GeneratedText extends CallCost {
  readonly content: string;
  readonly usage: Usage;
  /** Id of the provider that answered. */
  readonly providerId: string;
  /** Display name of the provider (D6). */
  readonly provider: string;
  /** The model that answered, as the provider names it. */
  readonly model: string;
  /** Parameters that were left out, for `X-SVC-Ignored-Params` (D8). */
  readonly ignored: readonly string[];
  /** The provider reported no usage, and it was counted here (D25). */
  readonly usageEstimated: boolean;
}

export type GenerateText = (input: GenerateTextInput) => Promise<GeneratedText>;

/**
 * Text from a provider: system text (D7), parameters (D8), further tries and time limit (D9), usage (D25), and its pieces as
 * they come where they are wanted. Fails with the errors of D5 as RestError. Keeps no state: any node may serve any call.
 */
export function createGenerateText(services: AiServices): GenerateText {
  return (input) => {
    let begun = false;
    const { onText: hand } = input;
    const onText =
      hand &&
      ((piece: string): void => {
        begun = true;
        hand(piece);
      });
    return answerBy(services, {
      use: 'text',
      input,
      mayGoOn: () => !begun,
      call: ({ provider, model, waived }) => generateOnce(services, { ...input, provider, model, onText }, waived),
    });
  };
}

async function generateOnce(
  services: AiServices,
  input: GenerateTextInput,
  waived: readonly string[],
): Promise<GeneratedText> {
  const call = await prepare(services, input);
  const { provider, request, attempts } = call;
  return noteUsage(services, {
    kind: 'text',
    provider: provider.id,
    model: request.model,
    origin: input.origin,
    limit: call.limit,
    estimate: () => estimateText(request),
    waived,
    run: () => generate(services, call, input.signal),
    count: ({ model, usage }) => ({ model, inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }),
    // A text that broke off was paid for as far as it came.
    countFailed: () => (attempts.text === '' ? { model: request.model } : countPart(request, attempts.text)),
  });
}

interface PreparedCall {
  readonly provider: TextProvider;
  readonly saved: ProviderSettings;
  readonly request: TextRequest;
  /** Milliseconds. */
  readonly limit: number;
  readonly attempts: TextAttempts;
}

async function prepare(services: AiServices, input: GenerateTextInput): Promise<PreparedCall> {
  const { registry, settings, host } = services;
  const provider = textProvider(registry.get(input.provider), input.provider);
  const [saved, defaults, limits, timezone] = await Promise.all([
    configuredSettings(provider, services),
    settings.aiParams(),
    settings.timeouts(),
    host.site.timezone(),
  ]);
  const username = input.user && input.user.id > 0 ? input.user.displayName : 'Guest';
  const placeholders = input.placeholders === false ? null : { now: host.clock.now(), timezone, username };
  const conversation = splitConversation(input.messages, input.systemInstruction, placeholders);
  const request = {
    model: modelOf(input.model, saved.model, provider),
    ...conversation,
    params: { ...defaults, ...input.params },
  };
  return { provider, saved, request, limit: limits.text, attempts: createTextAttempts(provider.text, input.onText) };
}

async function generate(
  services: AiServices,
  { provider, saved, request, limit, attempts }: PreparedCall,
  signal: AbortSignal | undefined,
): Promise<Omit<GeneratedText, 'cost'>> {
  const { clock, log } = services.host;
  const attempt = (timeLeft: number): Promise<TextResult> =>
    attempts.attempt(request, connectionOf(services, { settings: saved, timeout: timeLeft, signal }));
  const result = await withRetries(attempt, {
    clock,
    random: services.random ?? Math.random,
    deadline: clock.now() + limit,
    signal,
    mayRetry: () => attempts.text === '',
    onRetry: ({ kind, status }, wait) => {
      log.info('trying a provider again', { provider: provider.id, kind, status, wait: Math.round(wait) });
    },
  }).catch((thrown: unknown) => {
    const error = asProviderError(thrown);
    throw error === null ? thrown : providerFailure(error, provider, limit);
  });
  return {
    content: result.content,
    usage: result.usage ?? (await estimateUsage(request, result.content)),
    providerId: provider.id,
    provider: provider.label,
    model: result.model,
    ignored: result.ignored,
    usageEstimated: result.usage === null,
  };
}

async function countPart(request: TextRequest, text: string): Promise<UsageCounts> {
  const { input_tokens, output_tokens } = await estimateUsage(request, text);
  return { model: request.model, inputTokens: input_tokens, outputTokens: output_tokens };
}

type TextProvider = Provider & { readonly text: TextCapability };

function textProvider(provider: Provider | undefined, id: string): TextProvider {
  if (provider?.text !== undefined) return { ...provider, text: provider.text };
  throw new RestError({
    code: 'rest_invalid_param',
    status: 400,
    message: 'Invalid parameter(s): provider',
    data: { params: { provider: `There is no text provider named ${id}.` } },
  });
}

function modelOf(asked: string | undefined, saved: string | undefined, provider: Provider): string {
  const model = asked?.trim() || saved?.trim();
  if (model) return model;
  throw errors.provider_not_configured({
    values: { provider: provider.label, missing: provider.settings.properties['model']?.title ?? 'model' },
    data: { provider: provider.id, provider_status: null },
  });
}
