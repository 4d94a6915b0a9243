import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { contentMigration, contentTableNames } from './content-tables.ts';
import { registerContent } from './register.ts';
import { contentSweepHook, contentWorkHook } from './register-names.ts';

/** Whoever edits what others write. What a text may become is for the user's own capabilities to say. */
const capability = 'edit_others_posts';
const common = { capability, parent: 'svc/content', style: 'content.css' } as const;

/** Writes texts and posts: from a topic, a list, CSV, a feed or pages; streamed, in batches, by commands and in automations. */
export const contentWriterModule = defineModule<ServiceContext>({
  id: 'content-writer',
  title: 'Content Writer',
  pages: [
    lazyPage({
      slug: 'svc/content',
      title: 'Content writer',
      menu: 'Content writer',
      icon: 'book',
      position: 14,
      uploadLimit: 2_000_000,
      script: 'content.js',
      ...common,
      parent: 'svc',
      body: async () => (await import('./pages/compose.page.ts')).composePage,
    }),
    lazyPage({
      slug: 'svc/content/runs',
      title: 'Texts and batches',
      ...common,
      body: async () => (await import('./pages/runs.page.ts')).runsPage,
    }),
    lazyPage({
      slug: 'svc/content/batch',
      title: 'Batch of texts',
      script: 'content-batch.js',
      ...common,
      body: async () => (await import('./pages/batch.page.ts')).batchPage,
    }),
    lazyPage({
      slug: 'svc/content/templates',
      title: 'Templates',
      uploadLimit: 2_000_000,
      ...common,
      body: async () => (await import('./pages/templates.page.ts')).templatesPage,
    }),
    lazyPage({
      slug: 'svc/content/template',
      title: 'Template',
      ...common,
      body: async () => (await import('./pages/template.page.ts')).templatePage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./content-commands.ts')).contentCommands)],
  migrations: [contentMigration],
  register: registerContent,
});

/** Removed when the plugin is uninstalled. */
export const contentTables: readonly string[] = Object.values(contentTableNames);

/** Cron jobs, for uninstalling. */
export const contentJobs: readonly string[] = [contentWorkHook, contentSweepHook];
