import type { OpenApiObject, RouteDefinition, RouteSecurity } from '#plugin-api';
import { waysIn } from '../ways-in.ts';
import type { Components } from './components.ts';

type Declared = Pick<RouteDefinition, 'security' | 'authenticate' | 'permission'>;

/** OpenAPI's list of requirements, each enough by itself; the schemes go into the components. */
export function securityOf(definition: Declared, components: Components, cookie: string): OpenApiObject[] {
  return waysIn(definition).map((way) =>
    Object.fromEntries(
      schemesOf(way, cookie).map(([name, scheme]) => {
        components.refer('securitySchemes', name, scheme);
        return [name, []];
      }),
    ),
  );
}

/** Schemes that a caller needs together. */
function schemesOf(way: RouteSecurity, cookie: string): [string, OpenApiObject][] {
  if (typeof way === 'object') return [[`${way.in}_${way.name.replace(/[^\w.-]/g, '_')}`, { type: 'apiKey', ...way }]];
  switch (way) {
    case 'none':
      return [];
    case 'session':
      return [
        [
          'session',
          {
            type: 'apiKey',
            in: 'cookie',
            name: cookie,
            description: 'Cookie of a signed-in browser; counts only with the nonce.',
          },
        ],
        [
          'nonce',
          {
            type: 'apiKey',
            in: 'header',
            name: 'X-WP-Nonce',
            description: 'Nonce of the action wp_rest; answers carry a fresh one.',
          },
        ],
      ];
    case 'application_password':
      return [
        ['application_password', { type: 'http', scheme: 'basic', description: 'User name and application password.' }],
      ];
    case 'bearer':
      return [['bearer', { type: 'http', scheme: 'bearer', description: 'A key in the header Authorization.' }]];
  }
}
