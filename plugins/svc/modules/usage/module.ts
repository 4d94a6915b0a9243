import { usageMigration } from '../../ai/usage-ledger/usage-tables.ts';
import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';
import { addSweep } from './sweep.ts';
import { usageCommands } from './usage-commands.ts';
import { usagePage } from './usage.page.ts';

/** What the service's calls cost and how they ended: the ledger's tables, page and commands. */
export const usageModule = defineModule<ServiceContext>({
  id: 'usage',
  title: 'Usage',
  pages: [usagePage],
  commands: [usageCommands],
  migrations: [usageMigration],
  register: addSweep,
});
