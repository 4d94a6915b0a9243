import { lazyValue } from '#plugin-api';
import { defineModule } from '../../kit/module.ts';
import { openAiRoutes } from './openai.routes.ts';
import type { Handlers, OpenAiParts, OpenAiPorts } from './openai-ports.ts';

/** OpenAI-compatible routes (D33). Their code is loaded by the first call. */
export const openAiModule = defineModule<OpenAiPorts, OpenAiParts>({
  create: (ports) => ({
    ...ports,
    handlers: lazyValue<Handlers>(async () => (await import('./handlers.ts')).createHandlers(ports)),
  }),
  routes: openAiRoutes,
});
