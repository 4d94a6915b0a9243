import { mapParams, type MappedParams, type ParamRules } from '../params.ts';
import { base64Of, type ProviderSettings, type TextMessage, type TextRequest } from '../provider.ts';
import { claudeParams, defaultMaxTokens } from './claude-models.ts';

export const claudeRules: ParamRules = {
  names: {
    temperature: 'temperature',
    max_completion_tokens: 'max_tokens',
    top_p: 'top_p',
    stop: 'stop_sequences',
    top_k: 'top_k',
    reasoning_effort: 'thinking',
  },
  byModel: claudeParams,
};

/** The body of `POST /v1/messages`. Anthropic joins adjacent messages of one role. */
export function claudeRequest(
  request: TextRequest,
  settings: ProviderSettings,
): { body: Readonly<Record<string, unknown>>; ignored: MappedParams['ignored'] } {
  const { wire, ignored } = mapParams(claudeRules, { params: request.params, model: request.model, settings });
  return {
    body: {
      model: request.model,
      max_tokens: defaultMaxTokens,
      ...(request.system !== null && { system: request.system }),
      messages: startWithUser(request.messages).map(claudeMessage),
      ...wire,
    },
    ignored,
  };
}

/** Some hosts of Claude refuse a conversation that begins with the assistant, as a truncated one may. */
function startWithUser(messages: readonly TextMessage[]): readonly TextMessage[] {
  return messages[0]?.role === 'assistant' ? [{ role: 'user', content: '…' }, ...messages] : messages;
}

/** Images are blocks before the text. */
function claudeMessage({ role, content, images = [] }: TextMessage): object {
  if (images.length === 0) return { role, content };
  const seen = images.map((image) => ({
    type: 'image',
    source: { type: 'base64', media_type: image.mimeType, data: base64Of(image) },
  }));
  return { role, content: [...seen, ...(content === '' ? [] : [{ type: 'text', text: content }])] };
}
