import { RestResponse } from '#plugin-api';
import { callerOf, requireScopes } from '../../../kit/caller.ts';
import { restOrigin } from '../../../kit/usage-origin.ts';
import type { AnthropicPorts, AnthropicRequest } from '../anthropic-ports.ts';
import { readGiven } from './message-call.ts';

/** Handler of `POST messages/count_tokens`: the vendor's count, or an estimate. Costs nothing. */
export function createCountTokens(ports: AnthropicPorts) {
  return async (request: AnthropicRequest): Promise<RestResponse> => {
    const { chosen, messages, extras, native } = await readGiven(request, ports);
    if (chosen.kind === 'bot') requireScopes(callerOf(request), { chatbot: chosen.id });
    const input_tokens = await ports.countInput({
      messages,
      ...extras,
      // The instructions of a chatbot are its administrator's.
      ...(chosen.kind === 'provider' && { provider: chosen.provider, model: chosen.model, native }),
      signal: request.signal,
      origin: restOrigin(request, '/svc-anthropic/v1/messages/count_tokens'),
    });
    return new RestResponse({ body: { input_tokens } });
  };
}
