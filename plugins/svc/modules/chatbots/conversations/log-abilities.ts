import { argumentBounds } from '#plugin-api';
import { callerOf, requireScopes } from '../../../kit/caller.ts';
import type { ChatbotParts } from '../chatbots.ts';
import { findLogs, logSearchArguments } from '../logs.route.ts';

/** `svc/search-chat-logs` (D34). A key needs the route `logs`; one for some chatbots reads one of them at a time. */
export function registerLogAbilities({ host, logs }: Pick<ChatbotParts, 'host' | 'logs'>): void {
  host.abilities.register('svc/search-chat-logs', {
    label: 'Search chat logs',
    description: 'Finds saved conversations of chatbots with their messages, the one with the newest message first.',
    category: 'ai',
    inputSchema: {
      type: 'object',
      properties: {
        ...logSearchArguments,
        page: { type: 'integer', ...argumentBounds.id, minimum: 1, default: 1 },
        per_page: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
      },
      additionalProperties: false,
      default: {},
    },
    outputSchema: {
      type: 'object',
      properties: {
        total: { type: 'integer', description: 'Number of conversations that match.' },
        conversations: { type: 'array', items: { type: 'object' } },
      },
      required: ['total', 'conversations'],
    },
    permission: (_input, { user }) => user.can('manage_options'),
    async execute({ page = 1, per_page: limit = 10, ...search }, { request }) {
      if (request) requireScopes(callerOf(request), { route: 'logs', chatbot: search.bot_id ?? null });
      const { rows, total } = await findLogs(logs, search, { offset: (page - 1) * limit, limit });
      const shown = request ? await host.hooks.applyFiltersAsync('svc_logs_rows', rows, request) : rows;
      return {
        total,
        // A callback of the filter may have removed the messages.
        conversations: shown.map(({ messages, ...row }: Partial<(typeof shown)[number]>) => ({
          ...row,
          ...(messages !== undefined && { messages: JSON.parse(messages) as unknown }),
        })),
      };
    },
    meta: { annotations: { readonly: true, destructive: false, idempotent: true }, public: true },
  });
}
