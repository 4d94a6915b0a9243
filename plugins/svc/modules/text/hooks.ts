import type { RestRequest } from '#plugin-api';
import type { AiParams } from '../../kit/ai-params.ts';
import type { Message } from './messages.ts';

/** A request for text, checked, before it goes to a provider. */
export interface TextCall {
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  readonly messages: readonly Message[];
  readonly system_instruction?: string;
  readonly ai_params: AiParams;
}

/** Body of the answer (contract 4.2). */
export interface TextAnswer {
  readonly content: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes a request for text, or refuses it by throwing a RestError. Runs after all checks, before the provider is asked. */
    svc_text_request: (call: TextCall, request: RestRequest) => TextCall;
    /** Changes the body of the answer. Not run for errors. */
    svc_text_response: (answer: TextAnswer, call: TextCall, request: RestRequest) => TextAnswer;
  }
}
