import type { ChatbotParts } from '../chatbots.ts';
import { tables } from './conversation-tables.ts';

/** Updates the search index of the logs. */
export const indexHook = 'svc_logs_index';
/** Deletes conversations after the retention of their chatbot. */
export const retentionHook = 'svc_logs_retention';

/** Milliseconds after the start, so that warming up does not delay it. */
const warmUpAfter = 1000;

/** Registers the cron jobs and hooks of the logs. Their code is loaded when it is first needed. */
export async function registerLogs(parts: ChatbotParts): Promise<void> {
  const { host } = parts;
  host.hooks.addAction(indexHook, async () => {
    await parts.logs.maintain();
  });
  host.hooks.addAction(retentionHook, async () => {
    const { deleteExpiredConversations } = await import('./delete-conversations.ts');
    const conversations = await deleteExpiredConversations({ host, bots: await parts.bots.list() });
    if (conversations > 0)
      host.log.info('Expired conversations deleted', { event: 'conversations_expired', conversations });
    await parts.logs.maintain({ purge: true });
  });
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await (await import('./delete-conversations.ts')).forgetUser(host, { id, heir });
  });
  await host.cron.schedule('*/5 * * * *', indexHook);
  await host.cron.schedule('daily', retentionHook);
  warmUp(parts);
}

/** Reads the catalogue before the first search, so that the search does not wait for it. */
function warmUp(parts: ChatbotParts): void {
  const { host } = parts;
  if (host.site.role === 'worker') return;
  const cancel = host.clock.after(warmUpAfter, () => {
    void (async () => {
      if ((await host.database.knex(tables.conversations).first('id')) !== undefined) await parts.logs.warmUp();
    })().catch((error: unknown) => {
      host.log.warn('Failed to preload the chat logs; the first search will be slower', {
        event: 'chat_logs_preload_failed',
        error,
      });
    });
  });
  host.onStop(cancel);
}
