import { createSiteRouter } from './admin/router.ts';
import { createErrorPage } from './admin/site-layout.ts';
import type { Assets } from './http/assets.ts';
import type { Metrics } from './http/metrics.ts';
import { createHttpServer, type HttpServer } from './http/server.ts';
import { createProxyWatch } from './http/undeclared-proxy.ts';
import type { BodyReader } from './rest/body-reader.ts';
import { createRestHandler } from './rest/express-adapter.ts';
import type { RequestTraces } from './request-traces.ts';
import type { Rest } from './rest/rest.ts';
import { createPageUser } from './users/authentication.ts';
import type { AdminSite, SignIn, SitePages, WebDependencies } from './web.ts';

export interface WebServerDependencies extends Pick<WebDependencies, 'core' | 'checks' | 'warnings'> {
  readonly rest: Rest;
  readonly signIn: SignIn;
  readonly assets: Assets;
  readonly admin: AdminSite;
  readonly pages: SitePages;
  readonly metrics: Metrics;
  readonly bodies: BodyReader;
  readonly trace: RequestTraces['trace'];
}

/** The server of a site. Workers serve health, metrics and assets only. */
export async function createWebServer({
  core,
  checks,
  warnings,
  rest,
  signIn,
  assets,
  admin,
  pages,
  metrics,
  bodies,
  trace,
}: WebServerDependencies): Promise<HttpServer> {
  const { config, clock, log, users, site, tracer } = core;
  const { authentication, limiter } = signIn;
  const siteUrl = (): string => site.url;
  const isWeb = config.role !== 'worker';
  return createHttpServer({
    log,
    clock,
    siteUrl,
    restRoot: () => site.restRoot(),
    trustProxy: config.trustProxy,
    onRequest: createProxyWatch(core),
    rest: isWeb
      ? createRestHandler({
          rest,
          prefix: config.restPrefix,
          currentUser: (request, response) =>
            tracer.span('step', 'Sign-in', () => authentication.currentUser(request, response)),
          pageUser: createPageUser({ authentication, users, siteUrl }),
          countWrongKey: (ip) => limiter.countWrongKey(ip),
          requireFreshSignIn: (request, given) => authentication.requireFreshSignIn(request, given),
          bodies,
          onSend: () => tracer.spanToEnd('step', 'Sending'),
          log,
        })
      : (_request, _response, next) => next(),
    assets,
    checks,
    warnings,
    maxConnections: config.maxConnections,
    metrics,
    track: core.eventLoop.track,
    trace,
    metricsToken: config.metricsToken,
    ...(isWeb && { admin: await admin.createRouter(), site: [...pages.handlers, createSiteRouter(pages.pages)] }),
    renderError: createErrorPage(pages.pages),
    language: core.translations.language,
  });
}
