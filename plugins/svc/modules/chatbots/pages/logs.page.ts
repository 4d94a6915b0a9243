import type { AdminPageBody } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { logsCsv, logsJsonl, readConversations } from '../conversations/export-logs.ts';
import { filterOf, readLogsQuery } from './logs-filter.ts';
import { logsView } from './logs-view.ts';

/** The page "Chat logs": conversations by filter, a chart, and their export. */
export function logsPage(parts: ChatbotParts): AdminPageBody {
  const { host } = parts;
  return {
    render: async ({ query }) => ({
      template: 'svc/logs',
      data: await logsView(parts, { logs: parts.logs, given: query }),
    }),
    actions: {
      export: async ({ form, user, log }) => {
        const logs = parts.logs;
        const filter = await filterOf(readLogsQuery(form), {
          timezone: await host.site.timezone(),
          usersLike: logs.usersLike,
        });
        const ids = await logs.all(filter);
        const conversations = readConversations(host, ids);
        log.info('Chat logs were exported.', { conversations: ids.length, by: user.id });
        return {
          download:
            form['format'] === 'jsonl'
              ? { name: 'chat-logs.jsonl', type: 'application/jsonl; charset=utf-8', content: logsJsonl(conversations) }
              : {
                  name: 'chat-logs.csv',
                  type: 'text/csv; charset=utf-8; header=present',
                  content: logsCsv(conversations),
                },
        };
      },
    },
  };
}
