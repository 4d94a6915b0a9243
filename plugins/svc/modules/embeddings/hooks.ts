import type { RestRequest } from '#plugin-api';

/** A validated request for embeddings, before it goes to a provider. */
export interface EmbeddingsRequest {
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  /** 1 to 2,048 texts, none blank. */
  readonly input: readonly string[];
  /** Ids of tokens instead, which only the OpenAI-compatible routes take. `input` is empty then. */
  readonly tokens?: readonly (readonly number[])[];
  readonly dimensions?: number;
  readonly encoding_format?: 'float' | 'base64';
  readonly task_type?: string;
  readonly output_dimensionality?: number;
  readonly user?: string;
}

/** The response body (contract 4.4). */
export interface EmbeddingsResponse {
  /** One vector per input, in the order of the inputs. */
  readonly embeddings: readonly (readonly number[])[];
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number };
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes a request for embeddings, or refuses it by throwing a RestError. Runs after validation, before the provider is called. */
    svc_embeddings_request: (call: EmbeddingsRequest, request: RestRequest) => EmbeddingsRequest;
    /** Changes the response body. Does not run for errors. */
    svc_embeddings_response: (
      answer: EmbeddingsResponse,
      call: EmbeddingsRequest,
      request: RestRequest,
    ) => EmbeddingsResponse;
  }
}
