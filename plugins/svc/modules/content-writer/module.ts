import { loadedCommands, loadedPages, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { ContentPorts, ContentWriter } from './content-writer.ts';
import { contentJobsMigration, contentMigration, contentTableNames, taskTemplatesMigration } from './content-tables.ts';
import { registerContent, type ContentParts } from './register.ts';
import { contentSweepHook } from './content-tables.ts';

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
