import type { ServiceContext } from '../../../wiring.ts';

interface NextStep {
  readonly text: string;
  readonly href?: string;
  readonly done?: boolean;
}

/** On the dashboard: a first chatbot, until there is one. The bots' code is loaded with the first look at it. */
export function addBotStep(context: ServiceContext): void {
  context.host.hooks.addFilter(
    'admin_next_steps',
    async (steps: readonly NextStep[]) => {
      const { chatbotsOf } = await import('../chatbots.ts');
      const bots = await chatbotsOf(context).bots.list();
      return [...steps, { text: 'Make your first chatbot.', href: 'svc/bots', done: bots.length > 0 }];
    },
    20,
  );
}
