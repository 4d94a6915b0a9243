import { createChatProvider } from './chat-completions/chat-provider.ts';
import { fitEffort, type ParamOverrides, type ParamContext, type ParamRules } from './params.ts';
import type { Provider } from './provider.ts';
import { withResponses } from './responses/with-responses.ts';
import { accessAt, compatibleNames, providerFields } from './settings-fields.ts';

const { seed: _seed, ...unseededNames } = compatibleNames;
const address = 'https://api.deepseek.com/v1';
const access = accessAt(address);
const rules: ParamRules = { names: unseededNames, byModel: deepSeekParams };

const chatProvider = createChatProvider({
  id: 'deepseek',
  label: 'DeepSeek',
  fields: providerFields({
    key: 'From platform.deepseek.com, under API keys.',
    address,
    models: { model: 'deepseek-flash' },
  }),
  rules,
  lacks: ['tools.strict', 'parallel_tool_calls', 'response_format.json_schema', 'image_url.detail', 'user'],
  access,
  mixesReasoning: false,
});

export const provider: Provider = withResponses(chatProvider, { rules, access });

/**
 * DeepSeek's models reason by default, except the retired `deepseek-chat`. Reasoning models ignore temperature and
 * penalties, so these are left out and reported. The effort `none` turns reasoning off. DeepSeek maps `minimal` to `low`
 * and `medium` to `high`; its highest is `max`.
 */
function deepSeekParams({ params, model }: ParamContext): ParamOverrides {
  const effort = params.reasoning_effort;
  const thinks = effort === undefined ? /reasoner|flash|pro|-v[4-9]/i.test(model) : effort !== 'none';
  const fitted = effort === undefined || effort === 'none' ? null : fitEffort(effort, ['low', 'high', 'max']);
  return {
    nearest: fitted?.nearest ?? [],
    refused: thinks ? ['temperature', 'frequency_penalty', 'presence_penalty'] : [],
    written: {
      reasoning_effort: effort === 'none' ? { thinking: { type: 'disabled' } } : { reasoning_effort: fitted?.effort },
    },
  };
}
