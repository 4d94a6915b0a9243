import { lazyMethods } from '../kit/lazy.ts';
import { isHint } from '../kit/text-hints.ts';
import { claudeAddress, claudeEnforcesSchemas, claudeRules, samplingVersion } from './claude/claude-models.ts';
import type { Provider } from './provider.ts';
import { isHostOf } from './responses/with-responses.ts';
import { modelFields, providerFields } from './settings-fields.ts';
import { createTextCapability } from './unsupported-params.ts';

const { listModels, ...calls } = lazyMethods(
  () => import('./claude/claude-calls.ts'),
  ['generate', 'stream', 'countTokens', 'listModels'],
);

/** Claude's Messages API (D9), using the package `@anthropic-ai/sdk`. */
export const provider: Provider = {
  id: 'claude',
  label: 'Claude',
  load: () => Promise.all([import('@anthropic-ai/sdk'), import('./claude/claude-calls.ts')]),
  required: ['api_key'],
  settings: {
    type: 'object',
    properties: {
      ...providerFields({
        key: 'From platform.claude.com, under API keys.',
        address: claudeAddress,
        addressHelp: 'Without a version.',
        models: {},
      }),
      api_version: {
        type: 'string',
        title: 'API version',
        description:
          'Value of the header anthropic-version. Versions after 2023-06-01 take no temperature, top_p and top_k.',
        default: samplingVersion,
      },
      ...modelFields({ model: 'claude-sonnet-5-5' }),
    },
  },
  text: createTextCapability({
    rules: claudeRules,
    // All models since Claude 3.
    sees: (model) => !/claude-(instant|v?[12])(?!\d)/i.test(model),
    format: () => 'messages',
    fetchesImages: ({ base_url }) => isHostOf(base_url || claudeAddress, ['api.anthropic.com']),
    supports: (feature, model) =>
      feature === 'tools.strict' || feature === 'response_format.json_schema'
        ? claudeEnforcesSchemas(model)
        : feature === 'user' ||
          (!isHint(feature) && feature !== 'response_format.json_object' && feature !== 'image_url.detail'),
    ...calls,
  }),
  listModels,
};
