import type { Params, RestRequest, RestResponse } from '#plugin-api';
import type { BotsPort, HostPort, ProvidersPort, SettingsPort, TextPort } from '../../ports.ts';

export type AnthropicPorts = HostPort & ProvidersPort & SettingsPort & TextPort & BotsPort;

export type AnthropicRequest = RestRequest<Params>;

/** Handlers of the routes, loaded at the first call. */
export interface Handlers {
  messages(request: AnthropicRequest): Promise<RestResponse>;
  countTokens(request: AnthropicRequest): Promise<RestResponse>;
}

export interface AnthropicParts extends AnthropicPorts {
  handlers(): Promise<Handlers>;
}

/** Below the REST root. */
export const anthropicNamespace = 'svc-anthropic/v1';
