import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  defineErrors,
  RestError,
  RestResponse,
  type Clock,
  type ContentApi,
  type DatabaseApi,
  type HostApi,
  type RestApi,
  type RestRequest,
  type RouteDefinition,
} from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import { createRegistrations, guardService, type Registrations } from './registrations.ts';
import * as methods from './services.ts';
import type { HostServices } from './services.ts';

/**
 * The same REST interface, with every error of a route's functions told to `report` before it goes on its way.
 * Errors that are answers, those with a `code` and a `status`, are not failures of the plugin.
 */
function reportingRest(rest: RestApi, report: (error: unknown) => void): RestApi {
  return {
    registerRoute(namespace, route, definition) {
      const definitions = (Array.isArray(definition) ? definition : [definition]) as RouteDefinition[];
      return rest.registerRoute(
        namespace,
        route,
        definitions.map((each) => (typeof each === 'object' ? reporting(each, report) : each)),
      );
    },
    dispatch: (route, init) => rest.dispatch(route, init),
    url: (route) => rest.url(route),
  };
}

const routeFunctions = ['authenticate', 'permission', 'validate', 'handler'] as const;

function reporting(definition: RouteDefinition, report: (error: unknown) => void): RouteDefinition {
  const wrapped: Record<string, unknown> = { ...definition };
  /** What fails because the caller hung up is no fault of the plugin. */
  const fail = (error: unknown, request: RestRequest): never => {
    if (!isAnswer(error) && !request.signal.aborted) report(error);
    throw error;
  };
  for (const name of routeFunctions) {
    const run = definition[name] as ((request: RestRequest) => unknown) | undefined;
    if (typeof run !== 'function') continue;
    wrapped[name] = (request: RestRequest): unknown => {
      try {
        const result = run.call(definition, request);
        return result instanceof Promise ? result.catch((error: unknown) => fail(error, request)) : result;
      } catch (error) {
        return fail(error, request);
      }
    };
  }
  return wrapped as unknown as RouteDefinition;
}

function isAnswer(error: unknown): boolean {
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown };
  return typeof code === 'string' && Number.isInteger(status) && (status as number) >= 400 && (status as number) <= 599;
}

/** A plugin's own host, and the end of it. */
export interface Scope {
  readonly host: HostApi;
  /** Undoes everything the plugin registered, after its stop callbacks; from then on its host refuses every use. Never throws. */
  close(): Promise<void>;
}

interface ScopeDependencies {
  readonly source: PluginSource;
  readonly services: HostServices;
  /** Told of each unforeseen error in one of the plugin's routes, which still reaches the REST interface. */
  readonly onRouteFailure: (error: unknown) => void;
}

type ContentMethods = Omit<ContentApi, 'posts' | 'meta' | 'revisions' | 'media'>;

/** Builds the HostApi of one plugin from the services all share. Its folders `views` and `assets` belong to it as if it had registered them. */
export function createScope({ source, services, onRouteFailure }: ScopeDependencies): Scope {
  const { manifest, directory } = source;
  const { slug } = manifest;
  const log = services.log.child({ plugin: slug });
  const registrations = createRegistrations({ slug, clock: services.clock, log });
  const guard = guardService.bind(null, registrations) as <Contract extends object>(
    service: Contract,
    kinds: methods.MethodKinds<Contract>,
  ) => Contract;

  const assets = services.assets(slug, join(directory, 'assets'));
  if (assets.undo) registrations.remember(assets.undo);
  const views = join(directory, 'views');
  if (existsSync(views)) registrations.remember(services.views.addSource(slug, views));

  const host: HostApi = {
    plugin: { ...manifest, directory },
    site: siteOf(services, (page) => registrations.remember(services.publicPages.add(slug, page))),
    hooks: guard(services.hooks.forOwner(slug), methods.hooksMethods),
    options: guard(services.options, methods.optionsMethods),
    secrets: guard(services.secrets, methods.secretsMethods),
    rest: guard<RestApi>(reportingRest(services.rest, onRouteFailure), methods.restMethods),
    cron: guard(services.cron, methods.cronMethods),
    admin: guard(services.admin, methods.adminMethods),
    cli: guard(services.cli, methods.cliMethods),
    database: databaseOf(services.database, registrations),
    users: guard(services.users, methods.usersMethods),
    content: {
      ...guard<ContentMethods>(services.content, methods.contentMethods),
      posts: guard(services.content.posts, methods.postsMethods),
      meta: guard(services.content.meta, methods.metaMethods),
      revisions: guard(services.content.revisions, methods.revisionsMethods),
      media: guard(services.content.media, methods.mediaMethods),
    },
    views: guard<HostApi['views']>(services.views, methods.viewsMethods),
    assets: { url: (file) => assets.url(file) },
    log,
    clock: clockOf(services.clock, registrations),
    http: guard(services.http, methods.httpMethods),
    metrics: guard(services.metrics, methods.metricsMethods),
    api: { RestError, RestResponse, defineErrors, withNamespaces: (hooks) => services.hooks.withNamespaces(hooks) },
    onStop: (callback) => registrations.onStop(callback),
  };
  return {
    host,
    async close() {
      await registrations.close();
      services.hooks.removeOwner(slug);
    },
  };
}

function siteOf({ site }: HostServices, addPage: HostApi['site']['addPage']): HostApi['site'] {
  return {
    addPage,
    get url() {
      return site.url;
    },
    get role() {
      return site.role;
    },
    get version() {
      return site.version;
    },
    name: () => site.name(),
    timezone: () => site.timezone(),
  };
}

function databaseOf(database: DatabaseApi, registrations: Registrations): DatabaseApi {
  const open = (): DatabaseApi => {
    registrations.check();
    return database;
  };
  return {
    get dialect() {
      return database.dialect;
    },
    get knex() {
      return open().knex;
    },
    transaction: (work) => open().transaction(work),
    inTransaction: () => database.inTransaction(),
    isUnavailable: (error) => database.isUnavailable(error),
    afterCommit: (callback) => {
      open().afterCommit(callback);
    },
    now: () => open().now(),
    notify: (channel, payload) => open().notify(channel, payload),
    listen: async (channel, callback, onGap) => registrations.remember(await open().listen(channel, callback, onGap)),
    direct: (work, init) => open().direct(work, init),
  };
}

/** Telling the time stays allowed. A timer that has run is forgotten, so that a plugin which sets many does not grow. */
function clockOf(clock: Clock, registrations: Registrations): Clock {
  return {
    now: () => clock.now(),
    sleep: (milliseconds, signal) => {
      registrations.check();
      return clock.sleep(milliseconds, signal);
    },
    after: (milliseconds, callback) => {
      registrations.check();
      const undo = registrations.remember(
        clock.after(milliseconds, () => {
          undo();
          callback();
        }),
      );
      return undo;
    },
    every: (milliseconds, callback) => {
      registrations.check();
      return registrations.remember(clock.every(milliseconds, callback));
    },
  };
}
