import type { GeneratedText, GivenRequest } from '../../../ai/generate-text.ts';
import type { ConversationMessage } from '../../../ai/system-text.ts';
import type { AiParams } from '../../../kit/ai-params.ts';
import { errors } from '../../../kit/errors.ts';
import type { Reasoning } from '../../../kit/reasoning.ts';
import type { TextExtras } from '../../../kit/tools.ts';
import type { ChosenModel } from '../../../settings/find-model.ts';
import type { AnthropicRequest } from '../anthropic-ports.ts';
import type { Reading } from './reading.ts';

/** A validated request in the words of this service. */
export interface GivenMessage {
  readonly chosen: ChosenModel;
  readonly messages: readonly ConversationMessage[];
  readonly params: AiParams;
  readonly extras: TextExtras;
  readonly native: GivenRequest;
  readonly reading: Reading;
  readonly request: AnthropicRequest;
}

/** What a message is made of: the text of a provider, or the reply of a chatbot. */
export type MessageResult = Pick<
  GeneratedText,
  | 'content'
  | 'usage'
  | 'provider'
  | 'providerId'
  | 'model'
  | 'ignored'
  | 'usageEstimated'
  | 'tokenDetails'
  | 'toolCalls'
  | 'finish'
> &
  Pick<GeneratedText, 'refusal' | 'reasoning' | 'native'>;

/** What gets the pieces of a message as they arrive. */
export interface MessagePieces {
  onText(piece: string): void;
  onReasoning(piece: Reasoning): void;
  /** After the first of these, they say all. */
  onEvent(event: Readonly<Record<string, unknown>>): void;
}

export type RunMessage = (signal: AbortSignal, pieces?: MessagePieces) => Promise<MessageResult>;

/** @returns 400 `rest_svc_parameter_not_supported` for what a chatbot cannot do */
export function notSupported(param: string, model: string) {
  return errors.parameter_not_supported({
    values: { provider: 'the chatbots', model, param },
    data: { param, model },
  });
}
