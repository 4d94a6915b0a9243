import type { Loaded } from '../../kit/lazy.ts';
import type { ContentPorts, ContentWriter } from './content-writer.ts';
import { registerPostMeta } from './posts/post-meta.ts';
import { contentSweepHook, writeTextJob } from './content-tables.ts';
import type { ItemWrites } from './runs/item-writes.ts';

export type ContentParts = Loaded<ContentPorts, ContentWriter>;

/** Registers post meta, the background work and the task types. Their code is loaded on first use. */
export async function registerContent(ports: ContentParts): Promise<void> {
  const { host, load } = ports;
  const { hooks, cron, jobs } = host;
  const end = async (...parts: Parameters<ItemWrites['end']>): Promise<void> =>
    (await import('./runs/item-writes.ts')).createItemWrites(host).end(...parts);

  jobs.define<{ item: number }>({
    name: writeTextJob,
    label: 'Write a text of a batch',
    concurrency: 3,
    // More than errors are retried: a process may end during any attempt.
    attempts: 6,
    backoff: [10, 60],
    timeout: 3_600,
    run: async ({ item }, job) => (await import('./runs/run-item.ts')).runItem(ports, item, job),
    postponed: ({ item }, { message }) => end(item, 'pending', message === null ? '' : `${message} Retrying.`),
    failed: ({ item }, { message, isCancelled }) =>
      isCancelled ? end(item, 'cancelled', 'Cancelled.') : end(item, 'failed', message),
  });
  registerPostMeta(host);
  hooks.addFilter('svc_automation_task_types', async (types) => [
    ...types,
    ...(await (await import('./automation/task-types.ts')).contentTaskTypes(await load())),
  ]);
  hooks.addFilter('mcp_prompts', async (prompts, user) => {
    if (!user.can('edit_others_posts')) return prompts;
    const { templatePrompts } = await import('./templates/template-prompts.ts');
    return [...prompts, ...templatePrompts(host, await (await load()).templates.list())];
  });
  hooks.addFilter('svc_personal_data_export', async (records, person) =>
    (await import('./runs/personal-data.ts')).exportTexts(host, records, person),
  );
  hooks.addFilter('svc_personal_data_erase', async (counts, person) =>
    (await import('./runs/personal-data.ts')).eraseTexts(host, counts, person),
  );
  await jobs.every('daily', {
    name: contentSweepHook,
    label: 'Delete old content batches',
    run: async () => (await import('./runs/run-store.ts')).sweepRuns(host),
  });
  // Earlier versions polled.
  await cron.unschedule('svc_content_work');
}
