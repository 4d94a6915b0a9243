import { usageMigration, usageReferenceMigration } from './ledger/usage-tables.ts';
import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { addSweep } from './sweep.ts';

/** What the service's calls cost and how they ended: the ledger's tables, page and commands. */
export const usageModule = defineModule<ServiceContext>({
  id: 'usage',
  title: 'Usage',
  pages: [
    lazyPage({
      slug: 'svc/usage',
      title: 'Usage',
      menu: 'Usage',
      parent: 'svc',
      icon: 'list',
      position: 30,
      style: 'usage.css',
      body: async () => (await import('./usage.page.ts')).usagePage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./usage-commands.ts')).usageCommands)],
  migrations: [usageMigration, usageReferenceMigration],
  register: addSweep,
});
