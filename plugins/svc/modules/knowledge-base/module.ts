import { loadedCommands, loadedPages, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { KnowledgeParts, KnowledgePorts } from './knowledge.ts';
import { baseSlug, basesSlug, questionsSlug, registerKnowledge, sweepHook, type KnowledgeModule } from './register.ts';
import { knowledgeMigrations, tables } from './tables.ts';

const script = 'knowledge.js';

/** Knowledge bases: the texts that chatbots and forms answer from. */
export const knowledgeBaseModule = defineModule<KnowledgePorts, KnowledgeModule>({
  create: loadParts(async () => (await import('./knowledge.ts')).createKnowledge),
  pages: loadedPages<KnowledgeParts>({
    slug: basesSlug,
    title: 'Knowledge',
    group: 'build',
    icon: 'book',
    position: 18,
    style: 'knowledge.css',
    script,
    body: () => import('./pages/bases.page.ts'),
    subpages: [
      {
        slug: baseSlug,
        title: 'Knowledge base',
        uploadLimit: 25_000_000,
        script,
        body: () => import('./pages/base.page.ts'),
      },
      { slug: questionsSlug, title: 'Unanswered questions', script, body: () => import('./pages/questions.page.ts') },
    ],
  }),
  commands: [loadedCommands(async () => (await import('./knowledge-commands.ts')).knowledgeCommands)],
  migrations: knowledgeMigrations,
  tables: Object.values(tables),
  jobs: [sweepHook],
  register: registerKnowledge,
});
