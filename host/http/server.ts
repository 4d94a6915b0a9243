import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { Express, RequestHandler } from 'express';
import { inLanguage, inRequest, parseForm, type Language } from '#plugin-api';
import type { Clock, Logger } from '#plugin-api';
import type { Assets } from './assets.ts';
import { createErrorPages, type RenderError } from './error-pages.ts';
import type { Track } from './event-loop.ts';
import { readForwardedAddresses } from './forwarded-addresses.ts';
import { createHealth } from './health.ts';
import type { ReadinessCheck, ReadinessWarning } from './readiness.ts';
import { createMetricsHandler, type Metrics, type RouteClass } from './metrics.ts';
import { refuseBrokenRequests, refuseWithoutOneHost } from './refused-requests.ts';
import { adminHeaders, createPageHeaders, createSecurityHeaders } from './security-headers.ts';

export interface HttpServerDependencies {
  readonly log: Logger;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  /** Read per page: it may be known only once the server listens. Without a trailing slash. */
  readonly siteUrl: () => string;
  /** Absolute URL of the REST root, with a trailing slash. */
  readonly restRoot: () => string;
  /** Express's `trust proxy`. */
  /** Sees each request as it was sent. */
  readonly onRequest?: (request: IncomingMessage) => void;
  readonly trustProxy: boolean | number | string;
  /** Handles REST requests and calls next for all others. Runs first. */
  readonly rest: RequestHandler;
  readonly assets: Assets;
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  readonly warnings?: Readonly<Record<string, ReadinessWarning>>;
  /** Connections open at once; further ones are closed at once. Default: no limit. */
  readonly maxConnections?: number;
  /** Default: `defaultTimeouts`. */
  readonly timeouts?: ConnectionTimeouts;
  readonly metrics: Metrics;
  /** Runs a page under its name, which the log shows if it blocks the event loop. Default: without a name. */
  readonly track?: Track;
  /** Runs the work of a request, and records where its time goes if an administrator asked for it. Default: it only runs it. */
  readonly trace?: (request: IncomingMessage, response: ServerResponse, work: () => void) => void;
  readonly metricsToken: string | null;
  /** Mounted at `/admin`. */
  readonly admin?: RequestHandler;
  /** Mounted at `/`, last; several run in order. */
  readonly site?: RequestHandler | readonly RequestHandler[];
  readonly renderError: RenderError;
  /** The language of the site, in which pages run. Default: English. */
  readonly language?: () => Language | undefined;
}

export interface HttpServer {
  readonly app: Express;
  /** @throws Error with a remedy when the port is in use or not permitted. */
  listen(address: {
    readonly port: number;
    readonly host: string;
  }): Promise<{ readonly url: string; readonly port: number }>;
  /** From now on `/readyz` returns 503, so that load balancers stop sending requests while requests are still served. */
  drain(): void;
  /** Accepts no new connections, ends idle ones, waits for requests in progress, and cuts the rest after the grace period. */
  close(graceMilliseconds: number): Promise<void>;
}

/** Milliseconds. */
export interface ConnectionTimeouts {
  readonly keepAlive: number;
  /** Until the head of a request is complete. A later one is answered with 408. */
  readonly headers: number;
  /** Until the body is complete, likewise. */
  readonly request: number;
  /** Between two searches for late requests: a timeout takes up to this much longer. */
  readonly interval: number;
}

/** Idle connections outlive the 60 s of common load balancers, which should close them first. */
export const defaultTimeouts: ConnectionTimeouts = {
  keepAlive: 65_000,
  headers: 20_000,
  request: 120_000,
  interval: 5_000,
};

/**
 * The one HTTP server of a node. Everything is served by express: request id, security headers, REST, page headers, assets,
 * health, metrics, admin, site, error pages, in this order.
 */
export function createHttpServer(dependencies: HttpServerDependencies): HttpServer {
  const { clock, metrics, timeouts = defaultTimeouts } = dependencies;
  const addSecurityHeaders = createSecurityHeaders(dependencies);
  let draining = false;
  let stopping = false;
  const app = createApp({
    ...dependencies,
    addSecurityHeaders,
    metricsHandler: createMetricsHandler({ metrics, token: dependencies.metricsToken }),
    draining: () => draining,
    stopping: () => stopping,
  });
  const options = { requireHostHeader: false, connectionsCheckingInterval: timeouts.interval };
  const server = createServer(options, (request, response) => {
    request.url = requestAddress(request.url ?? '');
    dependencies.onRequest?.(request);
    readForwardedAddresses(request);
    app(request, response);
  });
  refuseBrokenRequests(server, addSecurityHeaders);
  server.keepAliveTimeout = timeouts.keepAlive;
  server.headersTimeout = timeouts.headers;
  server.requestTimeout = timeouts.request;
  if (dependencies.maxConnections !== undefined) limitConnections(server, dependencies.maxConnections, dependencies);

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

/** Milliseconds between two log lines about refused connections. */
const reportInterval = 60_000;

function limitConnections(
  server: Server,
  most: number,
  { log, clock }: Pick<HttpServerDependencies, 'log' | 'clock'>,
): void {
  let refused = 0;
  let reportedAt = -Infinity;
  server.maxConnections = most;
  server.on('drop', () => {
    refused += 1;
    if (clock.now() - reportedAt < reportInterval) return;
    log.warn('Connections refused: MAX_CONNECTIONS are open', { event: 'connections_refused', refused, most });
    reportedAt = clock.now();
    refused = 0;
  });
}

type AppDependencies = HttpServerDependencies & {
  readonly addSecurityHeaders: ReturnType<typeof createSecurityHeaders>;
  readonly metricsHandler: RequestHandler;
  readonly draining: () => boolean;
  readonly stopping: () => boolean;
};

function createApp(given: AppDependencies): Express {
  const { notFound, failed } = createErrorPages(given);
  const app = express();
  app.disable('x-powered-by').set('trust proxy', given.trustProxy);
  app.set('query parser', (sent: string | null | undefined) => parseForm(sent ?? ''));
  app.use(beginRequest(given), given.rest, beginPage(given), createPageHeaders(given));
  app.use('/assets', given.assets.handler);
  app.use(createHealth(given));
  app.get('/metrics', given.metricsHandler);
  const { language } = given;
  if (language) app.use((_request, _response, next) => inLanguage(language(), next));
  if (given.admin) app.use('/admin', adminHeaders, given.admin);
  for (const handler of [given.site ?? []].flat() as RequestHandler[]) app.use(handler);
  app.use(notFound);
  app.use(failed);
  return app;
}

/** What all requests have: an id, security headers, one host, a count, a trace, and the context of their work. */
function beginRequest({ clock, metrics, addSecurityHeaders, stopping, ...given }: AppDependencies): RequestHandler {
  const { trace = (_request, _response, work) => work() } = given;
  return (request, response, next) => {
    const requestId = assignRequestId(request, response);
    addSecurityHeaders(response);
    if (refuseWithoutOneHost(request, response)) return;
    // Metrics, limits, cancellation and a piped download each wait for the end of a response: about a dozen in all.
    response.setMaxListeners(20);
    response.once('close', () => {
      // A keep-alive connection would delay the stop.
      if (stopping()) request.socket.destroySoon();
    });
    metrics.observe(response, clock.now(), () => pageClasses.get(response) ?? 'rest');
    trace(request, response, () => inRequest({ door: 'site', ip: request.ip ?? '', requestId }, next));
  };
}

/** Classes of the requests that REST has passed on. */
const pageClasses = new WeakMap<ServerResponse, RouteClass>();

/** Runs a page under its name, until its response has closed. */
function beginPage({ track = (_name, work) => work() }: AppDependencies): RequestHandler {
  return (request, response, next) => {
    pageClasses.set(response, routeClassOf(request.url));
    void track(nameOfPage(request), () => {
      next();
      return new Promise<void>((resolve) => (response.closed ? resolve() : void response.once('close', resolve)));
    });
  };
}

/** Method and path without the query, which may hold secrets. */
function nameOfPage({ method = '', url = '' }: IncomingMessage): string {
  return `${method} ${(url.split('?', 1)[0] ?? '').slice(0, 100)}`;
}

function routeClassOf(url: string): RouteClass {
  if (url.startsWith('/assets/')) return 'assets';
  if (/^\/admin(?![^/?])/.test(url)) return 'admin';
  return /^\/(healthz|readyz|metrics)(?![^?])/.test(url) ? 'health' : 'site';
}

/** @throws Error with a remedy when the port is in use or not permitted. */
export function listen(server: Server, port: number, host: string): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      const reasons: Record<string, string> = {
        EADDRINUSE: `Port ${port} is in use. Stop the program that uses it, or set PORT to another one.`,
        EACCES: `Port ${port} requires more privileges. Set PORT to 1024 or above.`,
        EADDRNOTAVAIL: `This machine does not have the address ${host}. Set HOST to one of its addresses, or to 0.0.0.0.`,
        ENOTFOUND: `The name ${host} has no address. Set HOST to an address of this machine.`,
      };
      reject(new Error(reasons[error.code ?? ''] ?? `Cannot listen on ${host}:${port}.`, { cause: error }));
    };
    server.once('error', fail).listen(port, host, () => {
      server.off('error', fail);
      const actualPort = (server.address() as AddressInfo).port;
      const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
      resolve({ url: `http://${name}:${actualPort}`, port: actualPort });
    });
  });
}

/**
 * Sets the request id: the caller's `X-Request-Id` if it is a plain token of up to 128 characters, else a UUID. Stores it
 * in `request.headers['x-request-id']` and in the response header.
 */
function assignRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
  request.headers['x-request-id'] = id;
  response.setHeader('X-Request-Id', id);
  return id;
}

/**
 * The address of a request as express, REST and pages read it: it begins with a slash. An absolute form loses its origin, which
 * need not be a URL: the host of a request is never read from it.
 *
 * @param sent as the request line has it, without bytes above 127, which Node refuses
 */
export function requestAddress(sent: string): string {
  if (sent.startsWith('/')) return sent;
  const path = sent.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
