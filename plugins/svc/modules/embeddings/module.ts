import type { ServiceContext } from '../../wiring.ts';
import { defineModule } from '../../kit/module.ts';
import { embeddingsRoute } from './embeddings.route.ts';

export const embeddingsModule = defineModule<ServiceContext>({
  id: 'embeddings',
  title: 'Embeddings',
  routes: [embeddingsRoute],
});
