import { loadedCommands, loadedPage, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { ContentPorts, ContentWriter } from './content-writer.ts';
import { contentJobsMigration, contentMigration, contentTableNames, taskTemplatesMigration } from './content-tables.ts';
import { registerContent, type ContentParts } from './register.ts';
import { contentSweepHook } from './content-tables.ts';

/** Opens the pages. What a user may do with a text depends on the user's other capabilities. */
const capability = 'edit_others_posts';
const common = { capability, parent: 'svc/content', style: 'content.css' } as const;

/** Writes texts and posts from a topic, a list, CSV, a feed or pages: streamed, in batches, by commands and in automations. */
export const contentWriterModule = defineModule<ContentPorts, ContentParts>({
  create: loadParts(async () => (await import('./content-writer.ts')).createContentWriter),
  pages: [
    loadedPage<ContentWriter>({
      slug: 'svc/content',
      title: 'Content writer',
      menu: 'Content writer',
      group: 'content',
      icon: 'pen',
      position: 30,
      uploadLimit: 2_000_000,
      script: 'content.js',
      ...common,
      body: async () => (await import('./pages/compose.page.ts')).composePage,
    }),
    loadedPage<ContentWriter>({
      slug: 'svc/content/runs',
      title: 'Texts and batches',
      ...common,
      body: async () => (await import('./pages/runs.page.ts')).runsPage,
    }),
    loadedPage<ContentWriter>({
      slug: 'svc/content/batch',
      title: 'Batch of texts',
      script: 'content-batch.js',
      ...common,
      body: async () => (await import('./pages/batch.page.ts')).batchPage,
    }),
    loadedPage<ContentWriter>({
      slug: 'svc/content/templates',
      title: 'Templates',
      uploadLimit: 2_000_000,
      ...common,
      body: async () => (await import('./pages/templates.page.ts')).templatesPage,
    }),
    loadedPage<ContentWriter>({
      slug: 'svc/content/template',
      title: 'Template',
      ...common,
      body: async () => (await import('./pages/template.page.ts')).templatePage,
    }),
  ],
  commands: [loadedCommands(async () => (await import('./content-commands.ts')).contentCommands)],
  migrations: [contentMigration, taskTemplatesMigration, contentJobsMigration],
  tables: Object.values(contentTableNames),
  jobs: [contentSweepHook],
  register: registerContent,
});
