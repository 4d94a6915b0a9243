import { lazyMethods } from '../../kit/lazy.ts';
import { isOpenAiHint } from '../../kit/text-hints.ts';
import type { TextFeature } from '../../kit/tools.ts';
import type { ParamRules } from '../params.ts';
import type { ModelInfo, Provider, ProviderConnection, ProviderSettings, TextCapability } from '../provider.ts';
import { isListedModel, reasoningField, visionField } from '../settings-fields.ts';
import { createTextCapability } from '../unsupported-params.ts';
import type { ChatAccessOf } from './chat-client.ts';

export interface ChatProviderInit extends Pick<Provider, 'id' | 'label' | 'images' | 'embeddings'> {
  /** Names of the required settings; default: the key. */
  readonly required?: Provider['required'];
  /** The settings by name. */
  readonly fields: Provider['settings']['properties'];
  readonly rules: ParamRules;
  readonly access: ChatAccessOf;
  readonly sees?: NonNullable<TextCapability['sees']>;
  readonly reportsCost?: boolean;
  /** Whether texts may begin with reasoning without an opening tag, or whether a server may be anyone's. Default: it may. */
  readonly mixesReasoning?: boolean | ((settings: ProviderSettings) => boolean);
  /** Features that the upstream does not have. Default: it has all. */
  readonly lacks?: readonly TextFeature[];
  /** Whether it fetches images that are named by address. Default: it does not. */
  readonly fetchesImages?: NonNullable<TextCapability['fetchesImages']>;
  /** Whether it has the members that OpenAI alone has, such as `prompt_cache_key`. Default: false. */
  readonly takesOpenAiHints?: boolean;
  /** Whether the upstream supports `stream_options` for the usage of a stream. Default: true. */
  readonly countsStreams?: (settings: ProviderConnection['settings']) => boolean;
  /** Path of the model list below the base URL; default `/models`. */
  readonly modelsPath?: string;
  /** Runs before models are listed, for an upstream whose list is public. */
  readonly checkKey?: (get: (path: string) => Promise<Response>) => Promise<void>;
  /** Models from the settings, which replace the listed ones. */
  readonly ownModels?: (settings: ProviderConnection['settings']) => readonly ModelInfo[];
}

/** A provider with OpenAI's Chat Completions API (D9), using the `openai` package. */
export function createChatProvider(init: ChatProviderInit): Provider {
  const { listModels, ...calls } = lazyMethods(
    async () => (await import('./chat-calls.ts')).createChatCalls(init),
    ['generate', 'stream', 'listModels'],
  );
  const { id, label, fields, required = ['api_key'], rules, images, embeddings, sees, reportsCost, lacks = [] } = init;
  const supports = (feature: TextFeature): boolean =>
    !lacks.includes(feature) && (init.takesOpenAiHints === true || !isOpenAiHint(feature));
  return {
    id,
    label,
    load: () => Promise.all([import('openai'), import('./chat-calls.ts')]),
    settings: {
      type: 'object',
      properties: { ...fields, vision_models: visionField, reasoning_models: reasoningField },
    },
    required,
    text: createTextCapability({
      rules,
      ...calls,
      supports,
      format: () => 'chat',
      ...(init.fetchesImages && { fetchesImages: init.fetchesImages }),
      sees: (model, settings) => sees?.(model, settings) === true || isListedModel('vision_models', model, settings),
      ...(reportsCost && { reportsCost }),
    }),
    ...(images && { images }),
    ...(embeddings && { embeddings }),
    listModels,
  };
}
