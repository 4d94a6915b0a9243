import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import express from 'express';

import { RestError, type Logger, type User } from '#plugin-api';
import { createAdmin, type Admin } from '../../host/admin/admin.ts';
import type { AdminDependencies, PluginSummary, SignedIn } from '../../host/admin/dependencies.ts';
import { createSavedViews } from '../../host/admin/saved-views.ts';
import { createSiteRouter } from '../../host/admin/router.ts';
import { createErrorPage } from '../../host/admin/site-layout.ts';
import { createHooks, type Hooks } from '../../host/hooks/hooks.ts';
import { createBodyBudget } from '../../host/rest/body-budget.ts';
import { createBodyReader } from '../../host/rest/body-reader.ts';
import { createFakeClock, type FakeClock } from '../../host/testing/fake-clock.ts';
import { isFreshSignIn } from '../../host/users/fresh-sign-in.ts';
import { createNonces } from '../../host/users/nonces.ts';
import { createViews, type Views } from '../../host/views/views.ts';

/** A browser without JavaScript: keeps cookies, follows no redirects. */
export interface Browser {
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<Page>;
  post(path: string, form?: Record<string, string> | string, headers?: Record<string, string>): Promise<Page>;
}

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string | null;
  readonly text: string;
  /** Value of the nonce of the form that posts to `action`. */
  nonce(action: string): string;
  json(): Record<string, unknown>;
}

export interface OpenAdmin {
  readonly admin: Admin;
  readonly hooks: Hooks;
  readonly views: Views;
  readonly url: string;
  readonly clock: FakeClock;
  readonly logged: { message: string; fields: unknown }[];
  readonly plugins: Map<string, PluginSummary>;
  browser(): Browser;
  /** A browser that is signed in: `admin` may do anything, `reader` only read. */
  signedIn(login?: 'admin' | 'reader'): Promise<Browser>;
  /** The nonce that forms of a page carry in a session. @param token value of the session's cookie. */
  pageNonce(slug: string, token: string): string;
  close(): Promise<void>;
}

const password = 'correct horse battery';
const directories = [
  fileURLToPath(new URL('../../views', import.meta.url)),
  fileURLToPath(new URL('views', import.meta.url)),
];

/** The admin behind real HTTP, with people, sessions and plugins kept in memory. */
export async function openAdmin({
  needsSetup = false,
  siteUrl,
  uploadsDir,
}: { needsSetup?: boolean; siteUrl?: string; uploadsDir?: string } = {}): Promise<OpenAdmin> {
  const hooks = createHooks();
  const clock = createFakeClock();
  const logged: OpenAdmin['logged'] = [];
  const log = recordingLog(logged);
  const users = new Map<string, User>();
  if (!needsSetup) users.set('admin', person(1, 'admin', ['manage_options', 'activate_plugins', 'read']));
  users.set('reader', person(2, 'reader', ['read']));
  const sessions = new Map<string, SignedIn>();
  const plugins = new Map<string, PluginSummary>();
  const hidden = new Set<number>();
  const options = new Map<string, unknown>();
  const views = createViews({ directories });
  const key = randomBytes(32);
  const nonces = createNonces({ key: () => key, clock, hooks });
  let address = '';
  const site = {
    get url() {
      return siteUrl ?? address;
    },
    role: 'all' as const,
    version: '1.0.0',
    dataDir: null,
    id: async () => 'a site of tests',
    name: async () => 'Tea & <b>biscuits</b>',
    timezone: async () => 'UTC',
  };
  const open = (user: User) => {
    const token = randomBytes(8).toString('hex');
    const session = { user, sessionId: `id-${token}`, authenticatedAt: clock.now() };
    sessions.set(token, session);
    return { ...session, cookie: `svc_session=${token}; Path=/; HttpOnly; SameSite=Lax` };
  };
  const shared = { views, site, restUrl: () => `${address}/wp-json/`, plugins: pluginSwitches(plugins) };
  const dependencies: AdminDependencies = {
    ...shared,
    hiddenSteps: {
      has: async (userId) => hidden.has(userId),
      set: async (userId, isHidden) => (isHidden ? hidden.add(userId) : hidden.delete(userId)),
    },
    savedViews: createSavedViews({
      get: async <Value>(name: string, fallback?: Value) => (options.get(name) ?? fallback) as Value,
      update: async (name, value) => options.set(name, value) === options,
      add: async (name, value) => !options.has(name) && options.set(name, value) === options,
      compareAndSet: async (name, expected, next) =>
        options.get(name) === expected && options.set(name, next) === options,
      delete: async (name) => options.delete(name),
    }),
    ...(uploadsDir !== undefined && { uploadsDir }),
    assetUrl: (slug, file) => `/assets/${slug}/${file}`,
    authenticate: async (request) =>
      sessions.get(/svc_session=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? '') ?? null,
    limitedSession: async () => null,
    secondStep: {
      find: async () => null,
      enterCode: async () => null,
      enterPasskey: async () => null,
      requestPasskey: async () => ({ options: {}, challenge: '' }),
      offersPasskeys: () => false,
      requestPasskeySignIn: async () => ({ options: {}, challenge: '' }),
      signInWithPasskey: async () => null,
      canConfirm: async () => false,
      requestConfirmation: async () => ({ options: {}, challenge: '' }),
      confirm: async () => false,
      clearingCookie: () => 'svc_sign_in=; Max-Age=0',
    },
    readBody: createBodyReader({ budget: createBodyBudget(128 * 1_048_576), clock: createFakeClock(), log }).read,
    login: async (input) => {
      if (input.login === 'eager')
        throw new RestError({ code: 'too_many_logins', status: 429, message: 'Too many attempts. Wait a minute.' });
      const user = users.get(input.login);
      return user && input.password === password ? open(user) : null;
    },
    openSession: async (user) => open(user),
    isFresh: ({ authenticatedAt }) => isFreshSignIn({ authenticatedAt }, clock.now()),
    confirmPassword: async (session, given) => {
      if (given !== password) return false;
      for (const [token, { sessionId }] of sessions)
        if (sessionId === session.sessionId) sessions.set(token, { ...session, authenticatedAt: clock.now() });
      return true;
    },
    logout: async ({ sessionId }) => {
      for (const [token, session] of sessions) if (session.sessionId === sessionId) sessions.delete(token);
      return { cookie: 'svc_session=; Path=/; Max-Age=0' };
    },
    nonces,
    setup: {
      needed: async () => !users.has('admin'),
      accepts: (token) => token === 'one-time',
      complete: async ({ login, email }) => {
        if (login === 'taken')
          throw new RestError({
            code: 'rest_invalid_param',
            status: 400,
            message: 'Invalid parameter(s): login',
            data: { params: { login: 'This name is taken.' } },
          });
        const user = { ...person(1, login, ['manage_options', 'activate_plugins', 'read']), email };
        users.set('admin', user);
        return user;
      },
    },
    passwords: {
      isMailAvailable: async () => false,
      contact: async () => '',
      countRequest: async () => undefined,
      startReset: () => undefined,
      find: async () => null,
      credentialsOf: async () => [],
      choose: async () => null,
    },
    hooks,
    log,
    clock,
  };
  const admin = createAdmin(dependencies);
  const app = express();
  app.use((_request, response, next) => {
    response.setHeader('X-Request-Id', 'request-7');
    next();
  });
  app.use('/admin', await admin.createRouter());
  app.use(createSiteRouter(shared));
  const renderError = createErrorPage(shared);
  app.use(
    async (_request, response) =>
      void response
        .status(404)
        .type('html')
        .send(await renderError(404, 'request-7')),
  );
  const server = await new Promise<Server>((resolve) => {
    const started = app.listen(0, '127.0.0.1', () => resolve(started));
  });
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = (): Browser => createBrowser(address);
  return {
    admin,
    hooks,
    views,
    clock,
    logged,
    plugins,
    browser,
    url: address,
    pageNonce: (slug, token) => {
      const session = sessions.get(token);
      if (session === undefined) throw new Error('There is no such session.');
      return nonces.create(`admin:page:${slug}`, session.user, session.sessionId);
    },
    async signedIn(login = 'admin') {
      const visitor = browser();
      await visitor.post('/admin/login', { login, password });
      return visitor;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function person(id: number, login: string, capabilities: readonly string[]): User {
  return {
    id,
    login,
    email: `${login}@example.com`,
    displayName: login,
    roles: [],
    can: (capability) => capabilities.includes(capability),
  };
}

function pluginSwitches(plugins: Map<string, PluginSummary>): AdminDependencies['plugins'] {
  const turn = async (slug: string, state: PluginSummary['state']): Promise<void> => {
    const plugin = plugins.get(slug);
    if (plugin?.failure) throw new Error(plugin.failure.message);
    if (plugin) plugins.set(slug, { ...plugin, state });
  };
  return {
    list: () => [...plugins.values()],
    activate: (slug) => turn(slug, 'active'),
    deactivate: (slug) => turn(slug, 'inactive'),
    uninstall: async (slug) => ({ folderRemoved: plugins.delete(slug), remainingMigrations: [] }),
    install: async () => {
      throw new Error('Nothing is installed here.');
    },
    health: async () => [{ results: [] }],
  };
}

function recordingLog(logged: OpenAdmin['logged']): Logger {
  const write = (message: string, fields?: unknown): void => void logged.push({ message, fields });
  const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log };
  return log;
}

function createBrowser(address: string): Browser {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit): Promise<Page> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address + path, {
      ...init,
      redirect: 'manual',
      headers: { Accept: 'text/html', ...(cookie && { Cookie: cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=', 2);
      if (value === '' || /Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return toPage(response, await response.text());
  };
  return {
    cookies,
    get: (path, headers = {}) => send(path, { headers }),
    post: (path, form = {}, headers = {}) =>
      send(path, {
        method: 'POST',
        body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      }),
  };
}

function toPage(response: Response, text: string): Page {
  return {
    status: response.status,
    headers: response.headers,
    location: response.headers.get('location'),
    text,
    nonce(action) {
      const form = text.split('<form').find((part) => part.includes(`action="${action}"`)) ?? '';
      const nonce = /name="_nonce" value="([^"]+)"/.exec(form)?.[1];
      if (nonce === undefined) throw new Error(`There is no form with a nonce that posts to ${action}.`);
      return nonce;
    },
    json: () => JSON.parse(text) as Record<string, unknown>,
  };
}
