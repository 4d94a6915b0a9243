import type { RestRequest } from '#plugin-api';

/** A request for embeddings, checked, before it goes to a provider. Fields that were not given are missing. */
export interface EmbeddingsCall {
  /** Id of the provider. */
  readonly provider: string;
  readonly model: string;
  /** 1 to 2,048 texts, none blank. */
  readonly input: readonly string[];
  readonly dimensions?: number;
  readonly encoding_format?: 'float' | 'base64';
  readonly task_type?: string;
  readonly output_dimensionality?: number;
  readonly user?: string;
}

/** Body of the answer (contract 4.4). */
export interface EmbeddingsAnswer {
  /** One vector per input, in the order of the inputs. */
  readonly embeddings: readonly (readonly number[])[];
  readonly usage: { readonly input_tokens: number; readonly total_tokens: number };
  /** Display name (D6). */
  readonly provider: string;
  readonly model: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes a request for embeddings, or refuses it by throwing a RestError. Runs after all checks, before the provider is asked. */
    svc_embeddings_request: (call: EmbeddingsCall, request: RestRequest) => EmbeddingsCall;
    /** Changes the body of the answer. Not run for errors. */
    svc_embeddings_response: (answer: EmbeddingsAnswer, call: EmbeddingsCall, request: RestRequest) => EmbeddingsAnswer;
  }
}
