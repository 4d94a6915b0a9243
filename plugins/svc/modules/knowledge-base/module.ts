import { loadedCommands, loadedPage, loadParts } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { KnowledgeParts, KnowledgePorts } from './knowledge.ts';
import { baseSlug, basesSlug, questionsSlug, registerKnowledge, sweepHook, type KnowledgeModule } from './register.ts';
import { knowledgeMigrations, tables } from './tables.ts';

const assets = { style: 'knowledge.css', script: 'knowledge.js' } as const;

/** Knowledge bases: the texts that chatbots and forms answer from. */
export const knowledgeBaseModule = defineModule<KnowledgePorts, KnowledgeModule>({
  create: loadParts(async () => (await import('./knowledge.ts')).createKnowledge),
  pages: [
    loadedPage<KnowledgeParts>({
      slug: basesSlug,
      title: 'Knowledge',
      menu: 'Knowledge',
      group: 'build',
      icon: 'book',
      position: 18,
      ...assets,
      body: async () => (await import('./pages/bases.page.ts')).basesPage,
    }),
    loadedPage<KnowledgeParts>({
      slug: baseSlug,
      title: 'Knowledge base',
      parent: basesSlug,
      uploadLimit: 25_000_000,
      ...assets,
      body: async () => (await import('./pages/base.page.ts')).basePage,
    }),
    loadedPage<KnowledgeParts>({
      slug: questionsSlug,
      title: 'Unanswered questions',
      parent: basesSlug,
      ...assets,
      body: async () => (await import('./pages/questions.page.ts')).questionsPage,
    }),
  ],
  commands: [loadedCommands(async () => (await import('./knowledge-commands.ts')).knowledgeCommands)],
  migrations: knowledgeMigrations,
  tables: Object.values(tables),
  jobs: [sweepHook],
  register: registerKnowledge,
});
