import type { Params, RestRequest, RestResponse } from '#plugin-api';
import type {
  BotsPort,
  EmbeddingsPort,
  HostPort,
  ImagesPort,
  ProvidersPort,
  SettingsPort,
  TextPort,
} from '../../ports.ts';

export type OpenAiPorts = HostPort & ProvidersPort & SettingsPort & TextPort & ImagesPort & EmbeddingsPort & BotsPort;

export type OpenAiRequest = RestRequest<Params>;

/** Handlers of the routes, loaded at the first call. */
export interface Handlers {
  models(request: OpenAiRequest): Promise<RestResponse>;
  model(request: OpenAiRequest): Promise<RestResponse>;
  chat(request: OpenAiRequest): Promise<RestResponse>;
  responses(request: OpenAiRequest): Promise<RestResponse>;
  embeddings(request: OpenAiRequest): Promise<RestResponse>;
  images(request: OpenAiRequest): Promise<RestResponse>;
}

export interface OpenAiParts extends OpenAiPorts {
  handlers(): Promise<Handlers>;
}

/** Below the REST root. */
export const openAiNamespace = 'svc-openai/v1';
