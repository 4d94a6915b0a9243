import { lazyValue } from '#plugin-api';
import { defineModule } from '../../kit/module.ts';
import { anthropicRoutes } from './anthropic.routes.ts';
import type { AnthropicParts, AnthropicPorts, Handlers } from './anthropic-ports.ts';

/** What Anthropic's SDK sends from a browser. */
const browserHeaders = [
  'X-Api-Key',
  'Anthropic-Version',
  'Anthropic-Beta',
  'Anthropic-Dangerous-Direct-Browser-Access',
] as const;

/** Anthropic-compatible routes (D41). Their code is loaded by the first call. */
export const anthropicModule = defineModule<AnthropicPorts, AnthropicParts>({
  create: (ports) => ({
    ...ports,
    handlers: lazyValue<Handlers>(async () => (await import('./handlers.ts')).createHandlers(ports)),
  }),
  routes: anthropicRoutes,
  register({ host }) {
    host.hooks.addFilter('rest_allowed_cors_headers', (names) => [...names, ...browserHeaders]);
  },
});
