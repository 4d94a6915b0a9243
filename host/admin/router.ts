import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { AdminContext } from './dependencies.ts';
import { inLanguage } from '#plugin-api';
import { toFailure } from './failure.ts';
import { createFormReader } from './form-body.ts';
import { createPageHandler } from './page-routes.ts';
import { adminPath, authorizePath } from './local-path.ts';
import { addPasswordRoutes } from './password-routes.ts';
import { requestId } from './request.ts';
import { addSecondStepRoutes } from './second-step-routes.ts';
import { addSessionRoutes } from './session-routes.ts';
import { addSetupRoutes } from './setup-routes.ts';
import { renderSitePage, type SiteDependencies } from './site-layout.ts';
import { addThemeRoute } from './theme.ts';

/** The routes of the admin. */
export function createAdminRouter(context: AdminContext): Router {
  const router = express.Router();
  router.use((_request, response, next) => {
    response.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.use(createFormReader(context));
  router.use(/^\/(login|setup|forgot-password|set-password)\b/, chooseLanguage(context));
  addSessionRoutes(router, context);
  addSecondStepRoutes(router, context);
  addPasswordRoutes(router, context);
  addSetupRoutes(router, context);
  addThemeRoute(router, context);
  router.get('/search-results', async (request, response) =>
    (await import('./search-page.ts')).sendSearchResults(context, request, response),
  );
  router.get('/alert-count', async (request, response) =>
    (await import('./alerts.ts')).sendAlertCount(context, request, response),
  );
  router.use(createPageHandler(context));
  router.use(createErrorHandler(context));
  return router;
}

/** Pages before the sign-in are in the language that the browser asks for, or else in that of the site. */
function chooseLanguage({ language, locales }: AdminContext) {
  return (request: Request, _response: Response, next: NextFunction): void => {
    const known = locales?.() ?? [];
    const baseOf = (name: string): string => name.toLowerCase().split(/[-_]/, 1)[0] ?? '';
    const found = request.acceptsLanguages().flatMap((tag) => {
      const isSame = (locale: string): boolean => locale.replaceAll('_', '-').toLowerCase() === tag.toLowerCase();
      return known.find(isSame) ?? known.find((locale) => baseOf(locale) === baseOf(tag)) ?? [];
    });
    inLanguage(language?.(found[0]), next);
  };
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
    await context.errorResponses.refuse({
      request,
      response,
      status: failure.status,
      text: failure.text,
      code: failure.code,
    });
  };
}

/** The public home page at `/`, and the address of one page in WordPress. Passes other requests to the next handler. */
export function createSiteRouter(dependencies: SiteDependencies): Router {
  const router = express.Router();
  // Where WordPress has it: applications find it in the REST index.
  router.get(authorizePath, (request, response) => {
    const query = request.originalUrl.split(/\?(.*)/s)[1] ?? '';
    response.redirect(302, `${adminPath('authorize-application')}${query === '' ? '' : `?${query}`}`);
  });
  router.get('/', async (_request, response) => {
    const html = await renderSitePage(dependencies, {
      title: await dependencies.site.name(),
      template: 'site/home',
      kind: 'home',
      data: {
        description: (await dependencies.description?.()) ?? '',
        restUrl: dependencies.restUrl(),
        adminUrl: adminPath(),
      },
    });
    response.set('Cache-Control', 'no-cache').type('html').send(html);
  });
  return router;
}
