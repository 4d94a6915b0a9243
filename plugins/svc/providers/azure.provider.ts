import { createChatProvider } from './chat-completions/chat-provider.ts';
import { isReasoningModel, openAiParams, openAiSees } from './chat-completions/openai-models.ts';
import { apiKeyField } from '../kit/setting-schemas.ts';
import { createOpenAiEmbeddings, openAiLimits, withoutDimensions } from './embeddings/openai-embeddings.ts';
import { findImageRules } from './images/image-rules.ts';
import { createOpenAiImages, openAiImageModels } from './images/openai-image-models.ts';
import type { ParamOverrides, ParamContext, ParamRules } from './params.ts';
import type { Provider, ModelInfo, ProviderSettings } from './provider.ts';
import { isHostOf, withResponses } from './responses/with-responses.ts';
import { openAiNames } from './settings-fields.ts';
import { trimTrailingSlashes } from '#plugin-api';
import type { ChatAccess } from './chat-completions/chat-client.ts';

/** The endpoint of a resource without `/openai`, `/openai/v1` and a trailing slash. */
function azureEndpoint(baseUrl: string): string {
  return trimTrailingSlashes(baseUrl.trim()).replace(/\/openai(\/v1)?$/, '');
}

/** `v1` (the default) is the undated API; a date such as `2024-10-21` is the classic one with deployments in the URL. */
function azureVersion(settings: ProviderSettings): string {
  return settings.api_version?.trim() || 'v1';
}

function azureAccess(settings: ProviderSettings, model: string | null): ChatAccess {
  const apiKey = settings.api_key ?? '';
  const openai = `${azureEndpoint(settings.base_url ?? '')}/openai`;
  const apiVersion = azureVersion(settings);
  // v1 accepts the bearer token that the SDK sends; gateways in front of a resource expect `api-key`.
  if (apiVersion === 'v1') return { baseURL: `${openai}/v1`, apiKey, headers: { 'api-key': apiKey } };
  return { baseURL: openai, apiKey, classicAzure: { deployment: model, apiVersion } };
}

/** Lines of the setting `deployments`: `name`, or `name = model` if the name differs from the model. */
function deployments(settings: ProviderSettings): { name: string; model: string }[] {
  const lines = settings['deployments'];
  if (!Array.isArray(lines)) return [];
  return lines
    .filter((line): line is string => typeof line === 'string' && line.trim() !== '')
    .map((line) => line.split('=').map((part) => part.trim()))
    .map(([name = '', model]) => ({ name, model: model || name }));
}

/** The model of a deployment by the settings, else the name of the deployment. */
function azureModel(settings: ProviderSettings, deployment: string): string {
  return deployments(settings).find(({ name }) => name === deployment)?.model ?? deployment;
}

function azureDeployments(settings: ProviderSettings): ModelInfo[] {
  return deployments(settings).map(({ name, model }) =>
    model === name ? { id: name } : { id: name, label: `${name} (${model})` },
  );
}

const deploymentField = (title: string) => ({ type: 'string', title, description: 'Default deployment.' }) as const;

const rules: ParamRules = { names: openAiNames, byModel: azureParams };

const chatProvider = createChatProvider({
  id: 'azure',
  label: 'Azure',
  required: ['api_key', 'base_url'],
  fields: {
    api_key: apiKeyField('From the resource in the Azure portal, under Keys and Endpoint.'),
    base_url: {
      type: 'string',
      title: 'Endpoint',
      description: 'URL of the resource, for example https://example.openai.azure.com',
    },
    api_version: {
      type: 'string',
      title: 'API version',
      description: 'v1, or a date such as 2024-10-21 for the classic API.',
      default: 'v1',
    },
    deployments: {
      type: 'array',
      title: 'Deployments',
      description:
        'One per line: the name, or "name = model" if the name differs from the model. Shown in lists of models.',
      items: { type: 'string' },
    },
    model: deploymentField('Text deployment'),
    embedding_model: deploymentField('Embedding deployment'),
    image_model: deploymentField('Image deployment'),
  },
  rules,
  access: azureAccess,
  takesOpenAiHints: true,
  fetchesImages: isOwn,
  // It returns none in this API, and refuses that of others.
  lacks: ['messages.reasoning'],
  mixesReasoning: false,
  sees: (model, settings) => openAiSees(azureModel(settings, model)),
  // The classic API supports it since 2024-09-01-preview.
  countsStreams: (settings) => azureVersion(settings) === 'v1' || azureVersion(settings) >= '2024-09-01',
  ownModels: azureDeployments,
  images: createOpenAiImages({
    access: azureAccess,
    rules: (model, settings) => findImageRules(openAiImageModels, azureModel(settings, model)),
    edits: true,
  }),
  // Contract 4.4 does not let callers choose the encoding here.
  embeddings: createOpenAiEmbeddings({
    access: azureAccess,
    takes: ['dimensions', 'user'],
    limits: openAiLimits,
    refusedBy: (model, settings) => withoutDimensions(azureModel(settings, model)),
  }),
});

export const provider: Provider = withResponses(chatProvider, {
  rules,
  access: azureAccess,
  isOwn,
  // The classic API has it only in previews.
  hasResponses: (settings) => azureVersion(settings) === 'v1',
  leastTokens: 16,
  encryptsReasoning: (model, settings) => isReasoningModel(azureModel(settings, model)),
});

function isOwn({ base_url }: ProviderSettings): boolean {
  return isHostOf(base_url ?? '', ['openai.azure.com', 'services.ai.azure.com']);
}

/** The classic API supports `max_completion_tokens` since September 2024. */
function azureParams(question: ParamContext): ParamOverrides {
  const { params, model, settings } = question;
  const overrides = openAiParams({ ...question, model: azureModel(settings, model) });
  const version = azureVersion(settings);
  if (version === 'v1' || version >= '2024-09-01') return overrides;
  return {
    ...overrides,
    written: { ...overrides.written, max_completion_tokens: { max_tokens: params.max_completion_tokens } },
  };
}
