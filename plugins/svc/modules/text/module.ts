import { defineModule } from '../../kit/module.ts';
import { generateRoute, type TextPorts } from './generate.route.ts';

export const textModule = defineModule<TextPorts>({
  routes: [generateRoute],
  register(ports) {
    const { hooks, abilities } = ports.host;
    hooks.addAction('wp_abilities_api_categories_init', () => {
      abilities.registerCategory('ai', { label: 'AI', description: 'Abilities of the AI service.' });
    });
    hooks.addAction('wp_abilities_api_init', async () =>
      (await import('./text-abilities.ts')).registerTextAbilities(abilities, ports),
    );
  },
});
