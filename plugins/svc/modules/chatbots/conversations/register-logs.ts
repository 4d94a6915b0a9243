import { formatCount, type HealthResult, type HostApi } from '#plugin-api';
import type { ChatbotParts } from '../chatbots.ts';
import { unindexed } from './conversation-tables.ts';

/** Cron event of earlier versions, which indexed messages. */
const formerIndexHook = 'svc_logs_index';
/** Daily job: deletes conversations after the retention of their chatbot. */
export const retentionHook = 'svc_logs_retention';
/** Job that indexes the conversations of earlier versions. */
const indexJob = 'index-chat-logs';

/** Milliseconds, so that preparing the logs does not delay the start. */
const startDelay = 1000;

/** Registers the jobs and hooks of the logs. Their code is loaded when it is first needed. */
export async function registerLogs(parts: ChatbotParts): Promise<void> {
  const { host } = parts;
  host.jobs.define<{ compact?: boolean }>({
    name: indexJob,
    label: 'Index chat logs',
    timeout: 86_400,
    attempts: 10,
    run: async ({ compact = false }, { signal, progress }) => parts.logs.index({ signal, progress, compact }),
  });
  host.hooks.addAction('delete_user', async (id: number, heir: number | null) => {
    await (await import('./delete-conversations.ts')).forgetUser(host, { id, heir });
  });
  host.hooks.addAction('wp_abilities_api_init', async () =>
    (await import('./log-abilities.ts')).registerLogAbilities(parts),
  );
  await host.jobs.every('daily', {
    name: retentionHook,
    label: 'Delete expired conversations',
    timeout: 7_200,
    run: () => deleteExpired(parts),
  });
  // Not in commands, which end before it does.
  let cancel: (() => void) | undefined;
  const begin = (): void => {
    cancel = host.clock.after(startDelay, () => {
      void prepare(parts).catch((error: unknown) => {
        if (cancel === undefined) return;
        host.log.warn('Failed to look for chat logs to index; searches read them meanwhile', {
          event: 'chat_logs_preload_failed',
          error,
        });
      });
    });
  };
  host.hooks.addAction('host_started', begin);
  if (host.hooks.didAction('host_started') > 0) begin();
  host.onStop(() => {
    cancel?.();
    cancel = undefined;
  });
}

async function deleteExpired({ host, bots }: ChatbotParts): Promise<void> {
  const { deleteExpiredConversations } = await import('./delete-conversations.ts');
  const conversations = await deleteExpiredConversations({ host, bots: await bots.list() });
  if (conversations > 0)
    host.log.info('Expired conversations deleted', { event: 'conversations_expired', conversations });
  await (conversations > 0 ? compactIndex(host) : indexEarlier(host));
}

/** Indexes what is not indexed yet, in the background. */
async function indexEarlier({ database, jobs }: Pick<HostApi, 'database' | 'jobs'>): Promise<void> {
  if ((await unindexed(database.knex).first('id')) !== undefined) await jobs.add(indexJob, {}, { key: 'index' });
}

/** Removes the words of deleted conversations from the index file, in the background. */
export async function compactIndex({ jobs }: Pick<HostApi, 'jobs'>): Promise<void> {
  await jobs.add(indexJob, { compact: true }, { key: 'compact' });
}

/** What `doctor` says about the search in chat logs. */
export async function checkLogSearch({ database }: Pick<HostApi, 'database'>): Promise<HealthResult[]> {
  const { count } = (await unindexed(database.knex).count({ count: '*' }).first()) as { count: number };
  if (Number(count) > 0)
    return [
      {
        status: 'recommended',
        label: 'Chat logs are being indexed',
        description: `Searches read ${formatCount(Number(count), 'conversation')} until then. The page Jobs shows the progress.`,
      },
    ];
  const { findTrigramIndex } = await import('./search/conversation-texts.ts');
  if (database.dialect === 'sqlite' || (await findTrigramIndex(database.knex)) === true) return [];
  return [
    {
      status: 'recommended',
      label: 'Searches in chat logs are slow',
      description:
        'They read every message, because PostgreSQL has no index for them. Install its extension pg_trgm (the package of contributed ' +
        'modules), let an owner of the database run CREATE EXTENSION pg_trgm, then run: svc logs index.',
    },
  ];
}

async function prepare({ host }: ChatbotParts): Promise<void> {
  await host.cron.unschedule(formerIndexHook);
  await indexEarlier(host);
}
