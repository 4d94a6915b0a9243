import { lazyCommands, lazyPages } from '../../kit/lazy.ts';
import { defineModule } from '../../kit/module.ts';
import type { EmbeddingsPort, HostPort, SettingsPort, VectorStoresPort } from '../../ports.ts';
import { upsertRoute } from './upsert.route.ts';

export type VectorStoresPorts = HostPort & SettingsPort & EmbeddingsPort & VectorStoresPort;
export type Store = VectorStoresPort['knownVectorStores'][number];

/** Vector databases: the route that fills them, and the page and commands that set them up. */
export const vectorStoresModule = defineModule<VectorStoresPorts>({
  routes: [upsertRoute],
  pages: lazyPages({
    slug: 'svc/vector-stores',
    title: 'Vector stores',
    group: 'ai',
    icon: 'database',
    script: 'settings.js',
    body: () => import('./stores.page.ts'),
  }),
  commands: [lazyCommands(async () => (await import('./store-commands.ts')).storeCommands)],
});
