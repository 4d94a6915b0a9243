import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Express, RequestHandler } from 'express';
import type { Clock, Logger } from '#plugin-api';
import type { Assets } from './assets.ts';
import { createErrorPages } from './error-pages.ts';
import type { RenderError } from './error-pages.ts';
import { createHealth } from './health.ts';
import type { ReadinessCheck } from './health.ts';
import { createMetricsHandler } from './metrics.ts';
import type { Metrics, RouteClass } from './metrics.ts';
import { assignRequestId, clientAddress } from './request.ts';
import type { RawHandler, RawRequest } from './request.ts';
import { createSecurityHeaders } from './security-headers.ts';

export interface HttpServerDependencies {
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Asked at each page: it may be known only once a free port is taken. Without a slash at its end. */
  readonly siteUrl: () => string;
  /** Absolute address of the REST root, with a slash at its end. */
  readonly restRoot: () => string;
  /** Express's `trust proxy`. */
  readonly trustProxy: boolean | number | string;
  /** Answers REST requests and calls next for all others. Runs first, on the bare request, with `ip` and the request id set. */
  readonly rest: RawHandler;
  readonly assets: Assets;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly metrics: Metrics;
  readonly metricsToken: string | null;
  /** Mounted at `/admin`. */
  readonly admin?: RequestHandler;
  /** Mounted at `/`, last; several take turns. */
  readonly site?: RequestHandler | readonly RequestHandler[];
  readonly renderError: RenderError;
}

export interface HttpServer {
  /** Pages, assets, health and metrics; without REST, which runs before it. */
  readonly app: Express;
  /** @throws Error with the remedy when the port is taken or not allowed. */
  listen(address: {
    readonly port: number;
    readonly host: string;
  }): Promise<{ readonly url: string; readonly port: number }>;
  /** From now on `/readyz` answers 503, so that load balancers turn away while requests are still served. */
  drain(): void;
  /** Takes no new connections, ends idle ones, lets requests under way finish, and cuts what is left after the grace. */
  close(graceMilliseconds: number): Promise<void>;
}

/** Milliseconds. Idle connections outlive the 60 s of common load balancers, which must be the ones to close them. */
const timeouts = { keepAlive: 65_000, headers: 20_000, request: 120_000 } as const;

/** The one HTTP server of a node: request id, REST, security headers, assets, health, metrics, admin, site, error pages, in this order. */
export function createHttpServer(dependencies: HttpServerDependencies): HttpServer {
  const { clock, rest, metrics } = dependencies;
  let draining = false;
  let stopping = false;
  const app = createApp({
    ...dependencies,
    metricsHandler: createMetricsHandler({ metrics, token: dependencies.metricsToken }),
    draining: () => draining,
  });
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;

  const server = createServer((request: RawRequest, response: ServerResponse) => {
    assignRequestId(request, response);
    request.ip = clientAddress(request, trusts);
    response.once('close', () => {
      // A connection kept open would hold up the stop.
      if (stopping) request.socket.destroySoon();
    });
    let routeClass: RouteClass = 'rest';
    metrics.observe(response, clock.now(), () => routeClass);
    const next = (error?: unknown): void => {
      routeClass = classOf(request.url ?? '');
      handOn({ app, request, response, error });
    };
    try {
      rest(request, response, next);
    } catch (error) {
      next(error);
    }
  });
  server.keepAliveTimeout = timeouts.keepAlive;
  server.headersTimeout = timeouts.headers;
  server.requestTimeout = timeouts.request;

  return {
    app,
    listen: ({ port, host }) => listen(server, port, host),
    drain() {
      draining = true;
    },
    async close(graceMilliseconds) {
      draining = true;
      stopping = true;
      if (!server.listening) return;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const undo = clock.after(graceMilliseconds, () => server.closeAllConnections());
      await closed;
      undo();
    },
  };
}

type AppDependencies = HttpServerDependencies & {
  readonly metricsHandler: RequestHandler;
  readonly draining: () => boolean;
};

function createApp({ metricsHandler, draining, ...given }: AppDependencies): Express {
  const { notFound, failed } = createErrorPages(given);
  const app = express();
  app.disable('x-powered-by').set('trust proxy', given.trustProxy);
  app.use(createSecurityHeaders(given));
  app.use((request: RequestWithFailure, _response, next) => next(request.earlierFailure));
  app.use('/assets', given.assets.handler);
  app.use(createHealth({ ...given, draining }));
  app.get('/metrics', metricsHandler);
  if (given.admin) app.use('/admin', given.admin);
  for (const handler of [given.site ?? []].flat() as RequestHandler[]) app.use(handler);
  app.use(notFound);
  app.use(failed);
  return app;
}

type RequestWithFailure = IncomingMessage & { earlierFailure?: unknown };

/** What failed before express goes through its error page as well. */
function handOn({
  app,
  request,
  response,
  error,
}: {
  app: Express;
  request: RequestWithFailure;
  response: ServerResponse;
  error: unknown;
}): void {
  if (error !== undefined && error !== null) request.earlierFailure = error;
  app(request, response);
}

function classOf(url: string): RouteClass {
  if (url.startsWith('/assets/')) return 'assets';
  if (/^\/admin(?![^/?])/.test(url)) return 'admin';
  return /^\/(healthz|readyz|metrics)(?![^?])/.test(url) ? 'health' : 'site';
}

function listen(server: Server, port: number, host: string): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `Port ${port} is taken. Stop the program that has it, or set PORT to another one.`,
        EACCES: `Port ${port} needs more rights. Set PORT to 1024 or above.`,
        EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one of its own, or to 0.0.0.0.`,
        ENOTFOUND: `The name ${host} has no address. Set HOST to one of this machine's.`,
      };
      reject(new Error(reasons[error.code ?? ''] ?? `Cannot listen on ${host}:${port}.`, { cause: error }));
    };
    server.once('error', fail).listen(port, host, () => {
      server.off('error', fail);
      const taken = (server.address() as AddressInfo).port;
      const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
      resolve({ url: `http://${name}:${taken}`, port: taken });
    });
  });
}
