import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { baseSlug, basesSlug, questionsSlug } from './pages/slugs.ts';
import { registerKnowledge, sweepHook, workHook } from './register.ts';
import { knowledgeMigration, tables } from './tables.ts';

const looks = { style: 'knowledge.css', script: 'knowledge.js' } as const;

/** Knowledge bases: what chatbots and forms answer from. */
export const knowledgeBaseModule = defineModule<ServiceContext>({
  id: 'knowledge-base',
  title: 'Knowledge Base',
  pages: [
    lazyPage({
      slug: basesSlug,
      title: 'Knowledge',
      menu: 'Knowledge',
      parent: 'svc',
      icon: 'database',
      position: 18,
      ...looks,
      body: async () => (await import('./pages/bases.page.ts')).basesPage,
    }),
    lazyPage({
      slug: baseSlug,
      title: 'Knowledge base',
      parent: basesSlug,
      uploadLimit: 25_000_000,
      ...looks,
      body: async () => (await import('./pages/base.page.ts')).basePage,
    }),
    lazyPage({
      slug: questionsSlug,
      title: 'Unanswered questions',
      parent: basesSlug,
      ...looks,
      body: async () => (await import('./pages/questions.page.ts')).questionsPage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./knowledge-commands.ts')).knowledgeCommands)],
  migrations: [knowledgeMigration],
  register: registerKnowledge,
});

/** Removed when the plugin is uninstalled. */
export const knowledgeTables: readonly string[] = Object.values(tables);

/** Cron jobs, for uninstalling. */
export const knowledgeJobs: readonly string[] = [workHook, sweepHook];
