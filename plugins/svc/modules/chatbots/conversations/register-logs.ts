import type { ChatbotParts } from '../chatbots.ts';
import { tables } from './conversation-tables.ts';

/** Brings the index of the logs up to date; mostly there is nothing to do. */
export const indexHook = 'svc_logs_index';
/** Deletes what is older than its chatbot keeps. */
export const retentionHook = 'svc_logs_retention';

/** Milliseconds after the start: whatever has to be quick is up by then. */
const warmUpAfter = 1000;

/** What the logs need besides their route and pages. Their code is loaded when it is first needed. */
export async function registerLogs(parts: ChatbotParts): Promise<void> {
  const { host } = parts;
  host.hooks.addAction(indexHook, async () => {
    await parts.logs.maintain();
  });
  host.hooks.addAction(retentionHook, async () => {
    const { deleteExpiredConversations } = await import('./delete-conversations.ts');
    const conversations = await deleteExpiredConversations({ host, bots: await parts.bots.list() });
    if (conversations > 0) host.log.info('Old conversations were deleted.', { conversations });
    await parts.logs.maintain({ purge: true });
  });
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await (await import('./delete-conversations.ts')).forgetUser(host, { id, heir });
  });
  await host.cron.schedule('*/5 * * * *', indexHook);
  await host.cron.schedule('daily', retentionHook);
  warmUp(parts);
}

/** The first search of a large site would wait for the catalogue to be read: it is read beforehand, unless there is nothing in it. */
function warmUp(parts: ChatbotParts): void {
  const { host } = parts;
  if (host.site.role === 'worker') return;
  const cancel = host.clock.after(warmUpAfter, () => {
    void (async () => {
      if ((await host.database.knex(tables.conversations).first('id')) !== undefined) await parts.logs.warmUp();
    })().catch((error: unknown) => {
      host.log.warn('The logs could not be read beforehand; their first search will take longer.', { error });
    });
  });
  host.onStop(cancel);
}
