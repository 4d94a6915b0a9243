import { defineModule } from '../../kit/module.ts';
import { generateRoute, type TextPorts } from './generate.route.ts';

export const textModule = defineModule<TextPorts>({
  id: 'text',
  title: 'Text',
  routes: [generateRoute],
});
