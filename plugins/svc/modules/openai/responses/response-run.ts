import type { RestError } from '#plugin-api';
import type { GeneratedText, GenerateTextInput } from '../../../ai/generate-text.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import { errors } from '../../../kit/errors.ts';
import type { OpenAiRequest } from '../openai-ports.ts';
import type { LostMembers } from './read-input.ts';

export const responsesPath = '/svc-openai/v1/responses';

/** What a response is made of: the text of a provider, or the reply of a chatbot. */
export type ResponseResult = Pick<GeneratedText, 'content' | 'usage' | 'providerId' | 'model' | 'ignored'> &
  Partial<GeneratedText>;

export type ResponseListeners = Pick<GenerateTextInput, 'onText' | 'onReasoning' | 'onEvent'>;

export interface ResponseCall {
  /** As it was sent. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  run(signal: AbortSignal, listeners?: ResponseListeners): Promise<ResponseResult>;
}

/** What is read of a request. */
export interface GivenResponse {
  readonly body: Readonly<Record<string, unknown>>;
  readonly messages: readonly ConversationMessage[];
  /** What another format loses of it. */
  readonly lost: LostMembers;
  readonly request: OpenAiRequest;
}

/** @returns RestError 400 `rest_svc_parameter_not_supported` */
export function notSupported(param: string, of: { readonly provider?: string; readonly model: string }): RestError {
  return errors.parameter_not_supported({
    values: { provider: of.provider ?? 'the chatbots', model: of.model, param },
    data: { param, ...of },
  });
}
