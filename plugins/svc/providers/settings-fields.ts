import type { JsonSchema } from '#plugin-api';
import { apiKeyField, urlField } from '../kit/setting-schemas.ts';
import { matchesName } from '../kit/matches-name.ts';
import type { ChatAccessOf } from './chat-completions/chat-client.ts';
import type { ParamNames } from './params.ts';
import type { ProviderSettings } from './provider.ts';

const modelTitles = {
  model: 'Text model',
  embedding_model: 'Embedding model',
  image_model: 'Image model',
  video_model: 'Video model',
} as const;

/** Default models by the name of their setting. */
export type DefaultModels = Partial<Record<keyof typeof modelTitles, string>>;

/** Fields for the default models, in the order of `models`. */
export function modelFields(models: DefaultModels): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(models).map(([name, model]) => [
      name,
      {
        type: 'string',
        title: modelTitles[name as keyof DefaultModels],
        description: 'Default model. Choose one or type any model name.',
        default: model,
      },
    ]),
  );
}

/** Names of models, for what their names do not say: of servers of one's own, or newer than this program. */
function modelNames(title: string, description: string): JsonSchema {
  return { type: 'array', title, description, items: { type: 'string' } };
}

export const visionField = modelNames(
  'Models that read images',
  'One name per line, in addition to those that are known. * matches any characters, for example my-vision-*.',
);

/** Models of servers that put `<think>` into the prompt and do not separate the reasoning. */
export const reasoningField = modelNames(
  'Models that think in their text',
  'One name per line, for models whose texts begin with their reasoning and only close it with </think>. * matches any characters.',
);

/** Whether the setting of `visionField` or `reasoningField` names a model. */
export function isListedModel(
  setting: 'vision_models' | 'reasoning_models',
  model: string,
  settings: ProviderSettings,
): boolean {
  const names = settings[setting];
  return Array.isArray(names) && names.some((name) => typeof name === 'string' && matchesName(name.trim(), model));
}

interface FieldsInit {
  /** Where the key comes from. */
  readonly key: string;
  readonly address: string;
  /** Help of the address. Default: `With the version.` */
  readonly addressHelp?: string;
  readonly models: DefaultModels;
}

/** Fields of a provider's settings form: key, address and default models. `svc provider set` writes the same names. */
export function providerFields({ key, address, addressHelp, models }: FieldsInit): Record<string, JsonSchema> {
  return {
    api_key: apiKeyField(key),
    base_url: baseUrlField(address, addressHelp ?? 'With the version.'),
    ...modelFields(models),
  };
}

export const baseUrlField = (address: string, description: string): JsonSchema =>
  urlField({ title: 'Base URL', description, address });

/** What OpenAI's chat completions call the parameters. */
export const openAiNames = {
  temperature: 'temperature',
  max_completion_tokens: 'max_completion_tokens',
  top_p: 'top_p',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  stop: 'stop',
  seed: 'seed',
  reasoning_effort: 'reasoning_effort',
} as const satisfies ParamNames;

/** The same, of services that follow an earlier version of it. */
export const compatibleNames = { ...openAiNames, max_completion_tokens: 'max_tokens' } as const satisfies ParamNames;

/** Access with the key of the settings, at their URL or else at the service's own. */
export const accessAt =
  (address: string): ChatAccessOf =>
  ({ base_url, api_key }) => ({ baseURL: base_url || address, apiKey: api_key ?? '' });
