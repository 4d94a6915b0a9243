import { lazyMethods } from '../../kit/lazy.ts';
import { choice } from '../../kit/setting-schemas.ts';
import type { ChatAccessOf } from '../chat-completions/chat-client.ts';
import type { ParamRules } from '../params.ts';
import type { TextFormat } from '../../kit/reasoning.ts';
import type { Provider, ProviderSettings, TextCapability, TextRequest } from '../provider.ts';
import { createTextCapability } from '../unsupported-params.ts';
import { responsesNames, type ResponsesTraits } from './responses-request.ts';

interface ResponsesInit extends ResponsesTraits {
  /** The rules of its Chat Completions: the same models are behind both APIs. */
  readonly rules: ParamRules;
  readonly access: ChatAccessOf;
  /** Whether the settings name a server of the vendor itself, where `auto` is this API. Omitted: there is no `auto`. */
  readonly isOwn?: (settings: ProviderSettings) => boolean;
  /** Whether the settings allow the API at all. Default: they do. */
  readonly hasResponses?: (settings: ProviderSettings) => boolean;
  /** Models that the vendor offers in Chat Completions alone. */
  readonly chatModels?: RegExp;
  /** The least output in tokens that it accepts. Default: 1. */
  readonly leastTokens?: number;
}

/** A provider with both APIs of OpenAI: the setting `api` decides which one its texts take (D40). */
export function withResponses(provider: Provider, init: ResponsesInit): Provider {
  const { text: chat, load, settings } = provider;
  if (chat === undefined) return provider;
  const rules = responsesRules(init);
  const calls = lazyMethods(
    async () => (await import('./responses-calls.ts')).createResponsesCalls({ ...init, rules, traits: init }),
    ['generate', 'stream'],
  );
  const responses = createTextCapability({ rules, ...calls, supports: supportsAs(chat) });
  const choose = (model: string, saved: ProviderSettings): TextCapability =>
    usesResponses(init, model, saved) ? responses : chat;
  // The vendor has both: what was sent in one of them goes there, unless the settings name the other (D55).
  const isChat = (model: string, saved: ProviderSettings, sent?: TextFormat): boolean =>
    !usesResponses(init, model, saved) || (sent === 'chat' && saved['api'] !== 'responses');
  const capabilityFor = ({ model, native }: TextRequest, saved: ProviderSettings): TextCapability =>
    isChat(model, saved, native?.format) ? chat : responses;
  return {
    ...provider,
    load: () => Promise.all([load?.(), import('./responses-calls.ts')]),
    settings: { ...settings, properties: { ...settings.properties, api: init.isOwn ? autoField : chosenField } },
    text: {
      ...chat,
      format: (model, saved, sent) => (isChat(model, saved, sent) ? 'chat' : 'responses'),
      supports: (feature, model, saved) => choose(model, saved).supports?.(feature, model, saved) === true,
      unsupportedParams: (given) =>
        // A length below the least one is raised, not refused.
        (choose(given.model, given.settings).unsupportedParams?.(given) ?? []).filter(
          (name) => name !== 'max_completion_tokens',
        ),
      generate: (request, connection) => capabilityFor(request, connection.settings).generate(request, connection),
      stream(request, connection, onText) {
        const { generate, stream } = capabilityFor(request, connection.settings);
        return stream?.(request, connection, onText) ?? generate(request, connection);
      },
    },
  };
}

const autoField = choice(
  {
    title: 'API for texts',
    description: 'auto uses the Responses API at the address of the vendor itself, and Chat Completions at any other.',
  },
  ['auto', 'responses', 'chat'],
);

const chosenField = choice(
  { title: 'API for texts', description: 'chat is Chat Completions, responses the Responses API.' },
  ['chat', 'responses'],
);

function usesResponses(
  { isOwn = () => false, hasResponses = () => true, chatModels }: ResponsesInit,
  model: string,
  settings: ProviderSettings,
): boolean {
  const { api: chosen } = settings;
  if (chosen === 'chat' || !hasResponses(settings)) return false;
  return chosen === 'responses' || (isOwn(settings) && chatModels?.test(model) !== true);
}

/** Messages have no names there, and the reasoning that it returned before. */
const supportsAs =
  (chat: TextCapability): NonNullable<TextCapability['supports']> =>
  (feature, model, settings) =>
    feature === 'messages.reasoning' ||
    (feature !== 'messages.name' && chat.supports?.(feature, model, settings) === true);

/** What the models refuse in Chat Completions they refuse here, and take the same efforts. */
function responsesRules({ rules, leastTokens = 1 }: ResponsesInit): ParamRules {
  return {
    names: responsesNames,
    byModel(question) {
      const { refused = [], nearest = [], written } = rules.byModel?.(question) ?? {};
      const { reasoning_effort, max_completion_tokens: limit } = question.params;
      const effort = written?.reasoning_effort?.['reasoning_effort'] ?? reasoning_effort;
      const isRaised = limit !== undefined && limit < leastTokens;
      return {
        refused,
        nearest,
        ...(isRaised && { changed: ['max_completion_tokens'] }),
        written: {
          reasoning_effort: { reasoning: { effort } },
          ...(isRaised && { max_completion_tokens: { max_output_tokens: leastTokens } }),
        },
      };
    },
  };
}

/** Whether the address is one of these hosts, or below one. A port and a path do not matter. */
export function isHostOf(address: string, hosts: readonly string[]): boolean {
  const host = URL.parse(address)?.hostname;
  return host !== undefined && hosts.some((own) => host === own || host.endsWith(`.${own}`));
}
