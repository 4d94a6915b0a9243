import { currentDryRun } from '../kit/dry-run.ts';
import { pickExtras } from '../kit/tools.ts';
import { asProviderError, type TextRequest } from '../providers/provider.ts';
import { capableProvider, chosenModel } from './capable-provider.ts';
import { createPromptCount } from './estimate-tokens.ts';
import type { GenerateTextInput } from './generate-text.ts';
import { loadAddresses } from './load-addresses.ts';
import type { AiServices } from './ports.ts';
import { configuredSettings, connectionOf } from './provider-connection.ts';
import { splitConversation } from './system-text.ts';
import { providerFailure } from './upstream-failure.ts';

/** A request for text whose input is counted. Without a provider it is estimated. */
export type CountedInput = Omit<GenerateTextInput, 'provider'> & Partial<Pick<GenerateTextInput, 'provider'>>;

/**
 * Tokens that the input of a request has: as its provider counts them, if it has the format of the request, else an estimate. Costs
 * nothing, and is no row in the usage ledger.
 *
 * @throws RestError as a call for text does
 */
export type CountInput = (input: CountedInput) => Promise<number>;

export function createCountInput(services: AiServices): CountInput {
  const { registry, settings, host } = services;
  return async (input) => {
    const prompt = { ...splitConversation(input.messages, input.systemInstruction, null), ...pickExtras(input) };
    const estimate = createPromptCount(prompt, host);
    if (input.provider === undefined) return estimate();
    const provider = capableProvider(registry, input.provider, 'text');
    const { origin, native, signal } = input;
    const saved = await configuredSettings(provider, services, { origin, model: input.model });
    const model = chosenModel({ requested: input.model, saved: saved.model, provider, setting: 'model' });
    const { countTokens, format } = provider.text;
    // A dry run reaches no provider.
    const isCounted = countTokens !== undefined && currentDryRun() === undefined;
    if (native === undefined || format?.(model, saved) !== native.format) return estimate();
    if (!isCounted) return createPromptCount({ ...prompt, native }, host)();
    const { text: timeout } = await settings.timeouts();
    const isFetched = provider.text.fetchesImages?.(saved) === true;
    const body = isFetched ? native.body : await loadAddresses(native, { ...native, signal });
    const request: TextRequest = { ...prompt, model, params: input.params ?? {}, native: { ...native, body } };
    return countTokens(request, connectionOf(services, { settings: saved, timeout, signal })).catch(
      (thrown: unknown) => {
        const error = asProviderError(thrown);
        throw error === null ? thrown : providerFailure(error, provider, timeout);
      },
    );
  };
}
