import { defineModule } from '../../kit/module.ts';
import { embeddingsRoute, type EmbeddingsPorts } from './embeddings.route.ts';

export const embeddingsModule = defineModule<EmbeddingsPorts>({
  routes: [embeddingsRoute],
});
