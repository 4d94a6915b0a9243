import { fileURLToPath } from 'node:url';
import { createAdmin } from './admin/admin.ts';
import type { AdminPlugins } from './admin/dependencies.ts';
import { createAllowedOrigins } from './allowed-origins.ts';
import { createAnonymousLimit } from './rest-access.ts';
import { createErrorPage, createSiteRouter, renderSitePage } from './admin/site-layout.ts';
import { createUploadsHandler } from './content/media/serve-uploads.ts';
import { createLazySite, createLazyTheme } from './content/site/lazy-site.ts';
import type { Core } from './core.ts';
import { createAssets } from './http/assets.ts';
import { createPublicPages } from './content/site/public-pages.ts';
import { createMetrics } from './http/metrics.ts';
import { createHttpServer } from './http/server.ts';
import type { ReadinessCheck } from './http/health.ts';
import { createRestHandler } from './rest/express-adapter.ts';
import { createRest } from './rest/rest.ts';
import { createApplicationPasswords } from './users/application-passwords.ts';
import { createAuthentication } from './users/authentication.ts';
import { avatarsHandler } from './users/avatars.ts';
import { sessionCookieName } from './users/authentication.ts';
import { createLoginLimiter } from './users/login-limiter.ts';
import { createNonces } from './users/nonces.ts';
import { createPageUser } from './users/authentication.ts';
import { createSessions } from './users/sessions.ts';
import { createSetup } from './users/setup.ts';
import { createViews } from './views/views.ts';

export interface WebDependencies {
  readonly core: Core;
  /** Known only once the plugins are found; asked at each page. */
  readonly plugins: AdminPlugins;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
}

/** Everything between a request and the plugins: REST, sign-in, admin, pages, the server. */
export function createWeb({ core, plugins, checks }: WebDependencies) {
  const { config, clock, log, hooks, options, secrets, database, users, site } = core;
  const restUrl = (): string => site.restRoot();
  const siteUrl = (): string => site.url;
  const origins = createAllowedOrigins({ options, hooks, database });
  const anonymousLimit = createAnonymousLimit({ options, hooks, database, clock });
  const rest = createRest({
    hooks,
    log,
    clock,
    siteUrl,
    prefix: config.restPrefix,
    site,
    isAllowedOrigin: origins.isAllowed,
    sessionCookie: sessionCookieName,
  });
  const nonces = createNonces({ key: () => secrets.deriveKey('nonces'), clock, hooks });
  const sessions = createSessions({ database, clock });
  const applicationPasswords = createApplicationPasswords({ database, users, clock });
  const limiter = createLoginLimiter({ database, clock });
  const authentication = createAuthentication({
    users,
    sessions,
    nonces,
    applicationPasswords,
    limiter,
    hooks,
    log,
    siteUrl,
  });
  const setup = createSetup({ users, options, database, key: () => secrets.deriveKey('setup'), siteUrl });
  const { assets, views } = createPages(core);
  const admin = createAdmin({
    views,
    assetUrl: (slug, file) => assets.url(slug, file),
    authenticate: (request) => authentication.sessionUser(request),
    login: (input) => authentication.login(input),
    openSession: (user, visitor) => authentication.openSession(user, visitor),
    logout: (session) => authentication.logout(session),
    nonces: { create: nonces.create, verify: (check) => nonces.verify(check) !== false },
    setup,
    plugins,
    site,
    restUrl,
    hooks,
    log,
    clock,
  });
  admin.api.addPage({
    slug: 'rest',
    title: 'REST',
    menu: 'REST',
    icon: 'book',
    position: 85,
    capability: 'manage_options',
    body: async () => (await import('./rest/openapi/page/rest-page.ts')).createRestPage({ rest }),
  });
  const { parts } = core.content;
  const pages = {
    views,
    site,
    restUrl,
    plugins,
    badges: () => admin.badges(),
    description: () => site.description(),
    theme: createLazyTheme({ parts, hooks, views, site }),
  };
  const publicPages = createPublicPages({
    renderPage: (page) => renderSitePage(pages, page),
    assetUrl: (slug, file) => assets.url(slug, file),
    siteUrl,
  });
  const publicSite = createLazySite({
    parts,
    hooks,
    options,
    users,
    site,
    views,
    log,
    anonymous: users.anonymous,
    renderPage: (page) => renderSitePage(pages, page),
    authenticate: (request) => authentication.sessionUser(request),
  });
  const metrics = createMetrics({ clock, log });
  const server = createHttpServer({
    log,
    clock,
    siteUrl,
    restRoot: restUrl,
    trustProxy: config.trustProxy,
    rest:
      config.role === 'worker'
        ? (_request, _response, next) => next()
        : createRestHandler({
            rest,
            prefix: config.restPrefix,
            currentUser: (request, response) => authentication.currentUser(request, response),
            pageUser: createPageUser({ authentication, users, siteUrl }),
            log,
          }),
    assets,
    checks,
    metrics,
    metricsToken: config.metricsToken,
    ...(config.role !== 'worker' && {
      admin: admin.router,
      site: [
        createUploadsHandler(parts.folder),
        avatarsHandler,
        publicPages.handler,
        publicSite,
        createSiteRouter(pages),
      ],
    }),
    renderError: createErrorPage(pages),
  });
  return {
    rest,
    admin,
    assets,
    views,
    publicPages,
    server,
    metrics: metrics.api,
    setup,
    origins,
    anonymousLimit,
    sessions,
    applicationPasswords,
    authentication,
  };
}

export type Web = ReturnType<typeof createWeb>;

function createPages({ config, site }: Core) {
  const assets = createAssets();
  assets.add('admin', fileURLToPath(new URL('admin/assets', import.meta.url)));
  const views = createViews({
    directories: [config.viewsDir],
    timezone: () => site.timezone(),
    addresses: { asset: (slug, file) => assets.url(slug, file), admin: (slug) => `/admin/${slug}` },
  });
  return { assets, views };
}
