import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';
import { storeCommands } from './store-commands.ts';
import { storesPage } from './stores.page.ts';
import { upsertRoute } from './upsert.route.ts';

/** Vector databases: the route that fills them, and the page and commands that set them up. */
export const vectorStoresModule = defineModule<ServiceContext>({
  id: 'vector-stores',
  title: 'Vector stores',
  routes: [upsertRoute],
  pages: [storesPage],
  commands: [storeCommands],
});
