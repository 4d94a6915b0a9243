import type { ServiceContext } from '../../wiring.ts';
import { defineModule } from '../../kit/module.ts';
import { generateRoute } from './generate.route.ts';

export const textModule = defineModule<ServiceContext>({
  id: 'text',
  title: 'Text',
  routes: [generateRoute],
});
