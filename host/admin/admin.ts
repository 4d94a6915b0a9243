import express, { type NextFunction, type Request, type Response, type Router } from 'express';

import type { AdminApi } from '#plugin-api';
import { createErrorResponses } from './error-responses.ts';
import type { AdminContext } from './context.ts';
import type { AdminDependencies } from './dependencies.ts';
import { toFailure } from './failure.ts';
import { createFormReader } from './form-body.ts';
import { createFlashNotices } from './notices.ts';
import { addPasswordRoutes } from './password-routes.ts';
import { createPageHandler } from './page-routes.ts';
import { createAdminRegistry } from './registry.ts';
import { requestId } from './request.ts';
import { addSecondStepRoutes } from './second-step-routes.ts';
import { addSessionRoutes } from './session-routes.ts';
import { addSetupRoutes } from './setup-routes.ts';
import { createShell } from './shell.ts';

/** Largest plugin zip in bytes. */
const zipLimit = 20 * 1_048_576;

export interface Admin {
  /** The API that plugins register with. The loader creates a scoped view for each plugin. */
  readonly api: AdminApi;
  /** Mount it at `/admin`, behind the server that sets request ids and security headers. */
  readonly router: Router;
}

/**
 * The admin: sign-in, first-run setup, dashboard, plugins page and the pages of plugins. It is stateless, so any node can
 * serve any request.
 */
export function createAdmin(dependencies: AdminDependencies): Admin {
  const registry = createAdminRegistry({ siteUrl: () => dependencies.site.url, log: dependencies.log });
  const shell = createShell(dependencies, registry);
  const context: AdminContext = {
    ...dependencies,
    registry,
    shell,
    flash: createFlashNotices(dependencies.nonces, () => dependencies.site.url.startsWith('https:')),
    errorResponses: createErrorResponses(shell),
  };
  registry.api.addPage({
    slug: '',
    title: 'Dashboard',
    menu: 'Dashboard',
    icon: 'home',
    position: 0,
    capability: 'read',
    body: async () => (await import('./dashboard.ts')).createDashboard(dependencies, registry),
  });
  registry.api.addPage({
    slug: 'plugins',
    title: 'Plugins',
    menu: 'Plugins',
    icon: 'puzzle',
    position: 80,
    capability: 'activate_plugins',
    uploadLimit: zipLimit,
    body: async () => (await import('./plugins-page.ts')).createPluginsPage(dependencies),
  });

  const router = express.Router();
  router.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.use(createFormReader(context));
  addSessionRoutes(router, context);
  addSecondStepRoutes(router, context);
  addPasswordRoutes(router, context);
  addSetupRoutes(router, context);
  router.use(createPageHandler(context));
  router.use(createErrorHandler(context));
  return { api: registry.api, router };
}

/** The last error handler. Refused forms arrive here too. */
function createErrorHandler(context: AdminContext) {
  // Express recognizes an error handler by its four parameters.
  // eslint-disable-next-line max-params
  return async (error: unknown, request: Request, response: Response, next: NextFunction): Promise<void> => {
    if (response.headersSent) {
      next(error);
      return;
    }
    const failure = toFailure(error, { log: context.log, id: requestId(response) });
    if (failure.status === 408) response.setHeader('Connection', 'close');
    if (failure.status === 503) response.setHeader('Retry-After', '5');
    await context.errorResponses.refuse({
      request,
      response,
      status: failure.status,
      text: failure.text,
      code: failure.code,
    });
  };
}
