import type { RestRequest } from '#plugin-api';
import type { TextExtras } from '../../kit/tools.ts';
import type { AiParams } from '../../kit/ai-params.ts';
import type { ConversationMessage } from '../../ai/system-text.ts';

/** A validated request for text, before it goes to a provider. */
export interface TextRequest extends TextExtras {
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  readonly messages: readonly ConversationMessage[];
  readonly system_instruction?: string;
  readonly ai_params: AiParams;
}

/** The response body (contract 4.2). */
export interface TextResponse {
  readonly content: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /**
     * Changes a request for text, or refuses it by throwing a RestError. Runs after validation, before the provider is called.
     * For `POST /generate` alone: chatbots have `svc_chatbot_prompt`, the content writer `svc_content_prompt`, AI forms `svc_form_prompt`.
     */
    svc_text_request: (call: TextRequest, request: RestRequest) => TextRequest;
    /** Changes the response body. Does not run for errors. */
    svc_text_response: (response: TextResponse, call: TextRequest, request: RestRequest) => TextResponse;
  }
}
