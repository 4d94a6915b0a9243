import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { RestError } from '#plugin-api';
import type { Logger, User } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import type { Hooks } from '../../host/hooks/hooks.ts';
import { requestAddress } from '../../host/http/server.ts';
import { createBodyBudget } from '../../host/rest/body-budget.ts';
import { createBodyReader, type BodyReader } from '../../host/rest/body-reader.ts';
import { createRestHandler } from '../../host/rest/express-adapter.ts';
import { createRest } from '../../host/rest/rest.ts';
import type { Rest } from '../../host/rest/rest.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps its lines. */
export function createLineLog(lines: LogLine[], carried: Readonly<Record<string, unknown>> = {}): Logger {
  const write =
    (level: LogLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push({ level, message, fields: { ...carried, ...fields } });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => createLineLog(lines, { ...carried, ...fields }),
  };
}

export const visitor: User = { id: 0, login: '', email: '', displayName: '', roles: [], can: () => false };
export const administrator: User = {
  id: 1,
  login: 'admin',
  email: 'a@example.test',
  displayName: 'admin',
  roles: ['administrator'],
  can: () => true,
};

/** Reads bodies within 128 MB, on the clock of the system. */
export function openBodies(log: Logger): BodyReader {
  return createBodyReader({ budget: createBodyBudget(128 * 1_048_576), clock: createSystemClock(), log });
}

/** The REST interface of a site behind a real HTTP server of its own. */
export interface RestSite {
  readonly url: string;
  readonly rest: Rest;
  readonly hooks: Hooks;
  readonly log: readonly LogLine[];
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Sends JSON with POST, and answers status and parsed body. */
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: Record<string, unknown> }>;
  stop(): Promise<void>;
}

interface SiteInit {
  readonly currentUser?: (request: IncomingMessage) => User | Promise<User>;
  readonly isAllowedOrigin?: (origin: string) => boolean;
  /** Default: 128 MB on the clock of the system. */
  readonly bodies?: BodyReader;
}

export async function startRestSite({
  currentUser = () => visitor,
  isAllowedOrigin,
  bodies,
}: SiteInit = {}): Promise<RestSite> {
  const hooks = createHooks();
  const lines: LogLine[] = [];
  const log = createLineLog(lines);
  let address = '';
  const rest = createRest({
    hooks,
    log,
    clock: { now: () => Date.UTC(2026, 10, 20) },
    siteUrl: () => address,
    prefix: 'wp-json',
    site: {
      name: () => Promise.resolve('Oracle'),
      authentication: async () => ({
        'application-passwords': { endpoints: { authorization: `${address}/wp-admin/authorize-application.php` } },
      }),
    },
    ...(isAllowedOrigin && { isAllowedOrigin }),
  });
  const handle = createRestHandler({ rest, prefix: 'wp-json', currentUser, bodies: bodies ?? openBodies(log), log });
  const app = express().use(handle);
  app.use((_request, response) => {
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not REST');
  });
  const server = await listen((request, response) => {
    request.url = requestAddress(request.url ?? '');
    app(request, response);
  });
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = (path: string, init?: RequestInit): Promise<Response> => fetch(address + path, init);
  return {
    url: address,
    rest,
    hooks,
    log: lines,
    fetch: get,
    async post(path, body, headers = {}) {
      const response = await get(path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(listener: RequestListener): Promise<Server> {
  return new Promise((resolve) => {
    // As long as the product's: a test that prepares a large body must not find its connection closed meanwhile.
    const server = createServer({ keepAliveTimeout: 65_000 }, listener);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

/** Refuses every nonce, as a site does that gave none out. */
export function refuseNonces({ headers }: IncomingMessage): User {
  if (headers['x-wp-nonce'] !== undefined)
    throw new RestError({ code: 'rest_cookie_invalid_nonce', message: 'Cookie check failed', status: 403 });
  return visitor;
}
