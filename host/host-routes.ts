import { addContentRoutes } from './content/rest/content-routes.ts';
import type { Core } from './core.ts';
import { addHooksRoute } from './hooks/hooks-route.ts';
import { addSettingsRoutes } from './options/settings-routes.ts';
import { addRoutesRoute } from './rest/routes-route.ts';
import { addApplicationPasswordRoutes } from './users/application-password-routes.ts';
import { createAvatarUrl } from './users/avatars.ts';
import { addUsersRoutes } from './users/users-routes.ts';
import type { Web } from './web.ts';

/** The REST routes of the host's own parts. */
export function addHostRoutes({ core, web }: { readonly core: Core; readonly web: Web }): void {
  const { hooks, options, users, site, content } = core;
  const { rest, applicationPasswords } = web;
  addUsersRoutes(rest, {
    users,
    hooks,
    siteUrl: () => site.url,
    avatarUrl: createAvatarUrl({ hooks, siteUrl: () => site.url }),
  });
  addApplicationPasswordRoutes(rest, { users, applicationPasswords });
  addSettingsRoutes(rest, { options });
  addHooksRoute(rest, { hooks });
  addRoutesRoute(rest);
  addContentRoutes({ rest, parts: content.parts, hooks, users, site });
}
