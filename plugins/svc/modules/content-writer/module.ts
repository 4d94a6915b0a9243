import { loadedCommands, loadedPages, loadParts, type Loaded } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { ContentPorts, ContentWriter } from './content-writer.ts';
import {
  contentJobsMigration,
  contentMigration,
  contentTableNames,
  taskTemplatesMigration,
  contentSweepHook,
  writeTextJob,
} from './content-tables.ts';
import { registerPostMeta } from './posts/post-meta.ts';
import type { ItemWrites } from './runs/item-writes.ts';

/** Writes texts and posts from a topic, a list, CSV, a feed or pages: streamed, in batches, by commands and in automations. */
export const contentWriterModule = defineModule<ContentPorts, ContentParts>({
  create: loadParts(async () => (await import('./content-writer.ts')).createContentWriter),
  pages: loadedPages<ContentWriter>({
    slug: 'svc/content',
    title: 'Content writer',
    group: 'content',
    icon: 'pen',
    position: 30,
    uploadLimit: 2_000_000,
    script: 'content.js',
    // Opens the pages. What a user may do with a text depends on the user's other capabilities.
    capability: 'edit_others_posts',
    style: 'content.css',
    body: () => import('./pages/compose.page.ts'),
    subpages: [
      { slug: 'svc/content/runs', title: 'Texts and batches', body: () => import('./pages/runs.page.ts') },
      {
        slug: 'svc/content/batch',
        title: 'Batch of texts',
        script: 'content-batch.js',
        body: () => import('./pages/batch.page.ts'),
      },
      {
        slug: 'svc/content/templates',
        title: 'Templates',
        uploadLimit: 2_000_000,
        body: () => import('./pages/templates.page.ts'),
      },
      { slug: 'svc/content/template', title: 'Template', body: () => import('./pages/template.page.ts') },
    ],
  }),
  commands: [loadedCommands(async () => (await import('./content-commands.ts')).contentCommands)],
  migrations: [contentMigration, taskTemplatesMigration, contentJobsMigration],
  tables: Object.values(contentTableNames),
  jobs: [contentSweepHook],
  register: registerContent,
});

type ContentParts = Loaded<ContentPorts, ContentWriter>;

/** Registers post meta, the background work and the task types. Their code is loaded on first use. */
async function registerContent(ports: ContentParts): Promise<void> {
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
