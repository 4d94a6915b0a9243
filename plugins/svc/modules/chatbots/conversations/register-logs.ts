import type { ServiceContext } from '../../../wiring.ts';
import { chatbotsOf } from '../chatbots.ts';
import { tables } from './conversation-tables.ts';
import { logsOf } from './logs-of.ts';

/** Brings the index of the logs up to date; mostly there is nothing to do. */
export const indexHook = 'svc_logs_index';
/** Deletes what is older than its chatbot keeps. */
export const retentionHook = 'svc_logs_retention';

/** Milliseconds after the start: whatever has to be quick is up by then. */
const warmUpAfter = 1000;

/** What the logs need besides their route and pages. Their code is loaded when it is first needed. */
export async function registerLogs(context: ServiceContext): Promise<void> {
  const { host } = context;
  host.hooks.addAction(indexHook, async () => {
    await (await logsOf(context)).maintain();
  });
  host.hooks.addAction(retentionHook, async () => {
    const { sweepConversations } = await import('./retention.ts');
    const conversations = await sweepConversations({ host, bots: await chatbotsOf(context).bots.list() });
    if (conversations > 0) host.log.info('Old conversations were deleted.', { conversations });
    await (await logsOf(context)).maintain({ purge: true });
  });
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await (await import('./forget-user.ts')).forgetUser(host, { id, heir });
  });
  await host.cron.schedule('*/5 * * * *', indexHook);
  await host.cron.schedule('daily', retentionHook);
  warmUp(context);
}

/** The first search of a large site would wait for the catalogue to be read: it is read beforehand, unless there is nothing in it. */
function warmUp(context: ServiceContext): void {
  const { host } = context;
  if (host.site.role === 'worker') return;
  const cancel = host.clock.after(warmUpAfter, () => {
    void (async () => {
      if ((await host.database.knex(tables.conversations).first('id')) !== undefined)
        await (await logsOf(context)).warmUp();
    })().catch((error: unknown) => {
      host.log.warn('The logs could not be read beforehand; their first search will take longer.', { error });
    });
  });
  host.onStop(cancel);
}
