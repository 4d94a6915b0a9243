import type { ServiceContext } from '../../context.ts';
import { defineModule } from '../../kit/module.ts';
import { upsertRoute } from './upsert.route.ts';

export const vectorStoresModule = defineModule<ServiceContext>({
  id: 'vector-stores',
  title: 'Vector stores',
  routes: [upsertRoute],
});
