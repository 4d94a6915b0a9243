import { RestError, type User } from '#plugin-api';
import type { AiParams } from '../kit/ai-params.ts';
import { errors } from '../kit/errors.ts';
import { asProviderError, type Provider, type TextCapability, type Usage } from '../providers/provider.ts';
import type { AiServices } from './ai-services.ts';
import { estimateUsage } from './estimate-usage.ts';
import { noteUsage } from './note-usage.ts';
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

export interface GeneratedText {
  readonly content: string;
  readonly usage: Usage;
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
 * Text from a provider: system text (D7), parameters (D8), further tries and time limit (D9), usage (D25).
 * Fails with the errors of D5 as RestError. Keeps no state: any node may serve any call.
 */
export function createGenerateText(services: AiServices): GenerateText {
  const { registry, settings, host } = services;
  return async (input) => {
    const provider = textProvider(registry.get(input.provider), input.provider);
    const [saved, defaults, limits, timezone] = await Promise.all([
      configuredSettings(provider, services),
      settings.aiParams(),
      settings.timeouts(),
      host.site.timezone(),
    ]);
    const username = input.user && input.user.id > 0 ? input.user.displayName : 'Guest';
    const conversation = splitConversation(input.messages, input.systemInstruction, { now: host.clock.now(), timezone, username });
    const request = { model: modelOf(input.model, saved.model, provider), ...conversation, params: { ...defaults, ...input.params } };

    const generate = (timeLeft: number) => provider.text.generate(request, connectionOf(services, { settings: saved, timeout: timeLeft, signal: input.signal }));
    const run = async (): Promise<GeneratedText> => {
      const result = await withRetries(generate, {
        clock: host.clock,
        random: services.random ?? Math.random,
        deadline: host.clock.now() + limits.text,
        signal: input.signal,
        onRetry: ({ kind, status }, wait) => {
          host.log.info('trying a provider again', { provider: provider.id, kind, status, wait: Math.round(wait) });
        },
      }).catch((thrown: unknown) => {
        const error = asProviderError(thrown);
        throw error === null ? thrown : providerFailure(error, provider, limits.text);
      });
      return {
        content: result.content,
        usage: result.usage ?? (await estimateUsage(request, result.content)),
        provider: provider.label,
        model: result.model,
        ignored: result.ignored,
        usageEstimated: result.usage === null,
      };
    };
    return noteUsage(services, {
      kind: 'text',
      provider: provider.id,
      model: request.model,
      origin: input.origin,
      run,
      count: ({ model, usage }) => ({ model, inputTokens: usage.input_tokens, outputTokens: usage.output_tokens }),
    });
  };
}

function textProvider(provider: Provider | undefined, id: string): Provider & { readonly text: TextCapability } {
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
