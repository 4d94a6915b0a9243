import type { RestRequest } from '#plugin-api';

/** Contract 2.4. */
export interface UpsertItem {
  readonly content: string;
  readonly id?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A request to upsert with validated fields, before anything is embedded. */
export interface UpsertRequest {
  /** Id of the vector store. */
  readonly provider: string;
  readonly target_id: string;
  readonly vectors: readonly UpsertItem[];
  readonly embedding_provider: string;
  readonly embedding_model: string;
  readonly namespace?: string;
}

/** The response body (contract 4.7). */
export interface UpsertResponse {
  readonly upserted_count: number;
  readonly status: string;
}

declare module '#plugin-api' {
  interface FilterMap {
    /** Changes a request to upsert, or refuses it by throwing a RestError. */
    svc_vector_upsert_request: (call: UpsertRequest, request: RestRequest) => UpsertRequest;
    /** Changes the response body. Does not run for errors. */
    svc_vector_upsert_response: (response: UpsertResponse, call: UpsertRequest, request: RestRequest) => UpsertResponse;
  }
}
