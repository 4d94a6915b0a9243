import { azureAccess, azureDeployments, azureModel, azureVersion } from './chat-completions/azure-access.ts';
import { createChatProvider } from './chat-completions/chat-provider.ts';
import { openAiParams, openAiSees } from './chat-completions/openai-models.ts';
import { apiKeyField } from '../kit/connection-fields.ts';
import { createOpenAiEmbeddings, openAiLimits, withoutDimensions } from './embeddings/openai-embeddings.ts';
import { findImageRules } from './images/image-rules.ts';
import { openAiImageModels } from './images/openai-image-models.ts';
import { createOpenAiImages } from './images/openai-images.ts';
import type { ParamOverrides, ParamContext } from './params.ts';
import type { Provider } from './provider.ts';
import { openAiNames } from './settings-fields.ts';

const deploymentField = (title: string) => ({ type: 'string', title, description: 'Default deployment.' }) as const;

export const provider: Provider = createChatProvider({
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
  rules: { names: openAiNames, byModel: azureParams },
  access: azureAccess,
  takesOpenAiHints: true,
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
