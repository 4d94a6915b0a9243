import type { ChatbotParts } from '../chatbots.ts';

interface NextStep {
  readonly text: string;
  readonly href?: string;
  readonly done?: boolean;
}

/** On the dashboard: a first chatbot, until there is one. The bots' code is loaded with the first look at it. */
export function addBotStep(parts: ChatbotParts): void {
  parts.host.hooks.addFilter(
    'admin_next_steps',
    async (steps: readonly NextStep[]) => {
      const bots = await parts.bots.list();
      return [...steps, { text: 'Make your first chatbot.', href: 'svc/bots', done: bots.length > 0 }];
    },
    20,
  );
}
