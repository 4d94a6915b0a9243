import type { ServiceContext } from '../../wiring.ts';
import { lazyCommands, lazyPage } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import { upsertRoute } from './upsert.route.ts';

/** Vector databases: the route that fills them, and the page and commands that set them up. */
export const vectorStoresModule = defineModule<ServiceContext>({
  id: 'vector-stores',
  title: 'Vector stores',
  routes: [upsertRoute],
  pages: [
    lazyPage({
      slug: 'svc/vector-stores',
      title: 'Vector stores',
      menu: 'Vector stores',
      parent: 'svc',
      icon: 'database',
      script: 'settings.js',
      style: 'vector-stores.css',
      body: async () => (await import('./stores.page.ts')).storesPage,
    }),
  ],
  commands: [lazyCommands(async () => (await import('./store-commands.ts')).storeCommands)],
});
