import type { AnthropicPorts, Handlers } from './anthropic-ports.ts';
import { createCountTokens } from './messages/count-tokens.ts';
import { createMessages } from './messages/messages-handler.ts';

export function createHandlers(ports: AnthropicPorts): Handlers {
  return { messages: createMessages(ports), countTokens: createCountTokens(ports) };
}
