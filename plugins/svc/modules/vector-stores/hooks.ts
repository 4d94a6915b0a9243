import type { RestRequest } from '#plugin-api';

/** Contract 2.4. */
export interface UpsertItem {
  readonly content: string;
  readonly id?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A request to upsert, its fields checked one by one, before anything is asked or embedded. */
export interface UpsertCall {
  /** Id of the vector store. */
  readonly provider: string;
  readonly target_id: string;
  readonly vectors: readonly UpsertItem[];
  readonly embedding_provider: string;
  readonly embedding_model: string;
  readonly namespace?: string;
}

/** Body of the answer (contract 4.7). */
export interface UpsertAnswer {
  readonly upserted_count: number;
  readonly status: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes a request to upsert, or refuses it by throwing a RestError. */
    svc_vector_upsert_request: (call: UpsertCall, request: RestRequest) => UpsertCall;
    /** Changes the body of the answer. Not run for errors. */
    svc_vector_upsert_response: (answer: UpsertAnswer, call: UpsertCall, request: RestRequest) => UpsertAnswer;
  }
}
