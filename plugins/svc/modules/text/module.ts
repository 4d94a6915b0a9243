import { defineModule } from '../../kit/module.ts';
import { generateRoute, type TextPorts } from './generate.route.ts';

export const textModule = defineModule<TextPorts>({
  routes: [generateRoute],
});
