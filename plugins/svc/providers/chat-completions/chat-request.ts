import { mapParams, type MappedParams, type ParamRules } from '../params.ts';
import type { ProviderSettings, TextRequest } from '../provider.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly [parameter: string]: unknown;
}

/** The body of `POST /chat/completions`: system text, conversation, and supported parameters. */
export function chatRequest(
  request: TextRequest,
  rules: ParamRules,
  settings: ProviderSettings,
): { body: ChatRequest; ignored: MappedParams['ignored'] } {
  const { wire, ignored } = mapParams(rules, { params: request.params, model: request.model, settings });
  const system: ChatMessage[] = request.system === null ? [] : [{ role: 'system', content: request.system }];
  return { body: { model: request.model, messages: [...system, ...request.messages], ...wire }, ignored };
}
