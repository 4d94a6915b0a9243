import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  isInsideFolder,
  defineErrors,
  DocumentError,
  JobLostError,
  RestError,
  RestResponse,
  type CliApi,
  type CliCommand,
  type Clock,
  type ContentApi,
  type DatabaseApi,
  type HostApi,
  type RestApi,
  type RestRequest,
  type RouteDefinition,
  type Undo,
} from '#plugin-api';
import type { PluginSource } from './manifest.ts';
import { isUnexpectedError } from './unexpected-error.ts';
import { createRegistrations, guardService, type Registrations } from './registrations.ts';
import * as methods from './services.ts';
import { withTexts } from './declared-texts.ts';
import type { HostServices } from './services.ts';

/**
 * Wraps the REST API to pass every error of route functions to `report` before rethrowing it. REST errors with a `code` and
 * a `status` are not failures of the plugin.
 */
function withFailureReports(rest: RestApi, { onRouteFailure: report, onWarning, run }: ScopeListeners): RestApi {
  return {
    registerRoute(namespace: string, route: string, definition: unknown) {
      const definitions = (Array.isArray(definition) ? definition : [definition]) as RouteDefinition[];
      for (const open of definitions.filter(isOpen))
        onWarning(
          `The route ${(open.methods ?? ['GET']).join(', ')} /${namespace}${route} has no 'permission', so anyone can call it. ` +
            `If that is intended, write: permission: () => true`,
        );
      return rest.registerRoute(
        namespace,
        route,
        definitions.map((each) => (typeof each === 'object' ? withReports(each, { report, run }) : each)),
      );
    },
    dispatch: (route, init) => rest.dispatch(route, init),
    url: (route) => rest.url(route),
  };
}

function inContext(cli: CliApi, { run, onWarning }: ScopeListeners, check: HostServices['checkDefinition']): CliApi {
  const wrap = (command: CliCommand): CliCommand => ({ ...command, run: (input) => run(() => command.run(input)) });
  return {
    addCommand: (command) => cli.addCommand(wrap(command)),
    addCommands: (load) =>
      cli.addCommands(async () => {
        const commands = await load();
        for (const command of commands) check('addCommand', [command]).forEach(onWarning);
        return commands.map(wrap);
      }),
  };
}

/** Whether anyone can call a route that does not say so: `security` with `none` documents that visitors may. */
function isOpen(definition: RouteDefinition): boolean {
  return (
    typeof definition === 'object' &&
    definition.permission === undefined &&
    definition.authenticate === undefined &&
    definition.security?.includes('none') !== true
  );
}

const routeFunctions = ['authenticate', 'permission', 'validate', 'handler'] as const;

function withReports(
  definition: RouteDefinition,
  { report, run: inContext }: { readonly report: (error: unknown) => void; readonly run: ScopeListeners['run'] },
): RouteDefinition {
  const wrapped: Record<string, unknown> = { ...definition };
  /** An error after the client closed the connection is not a failure of the plugin. */
  const reportAndThrow = (error: unknown, request: RestRequest): never => {
    if (isUnexpectedError(error) && !request.signal.aborted) report(error);
    throw error;
  };
  for (const name of routeFunctions) {
    const run = definition[name] as ((request: RestRequest) => unknown) | undefined;
    if (typeof run !== 'function') continue;
    wrapped[name] = (request: RestRequest): unknown => {
      try {
        const result = inContext(() => run.call(definition, request));
        return result instanceof Promise ? result.catch((error: unknown) => reportAndThrow(error, request)) : result;
      } catch (error) {
        return reportAndThrow(error, request);
      }
    };
  }
  return wrapped as unknown as RouteDefinition;
}

/** The HostApi of one plugin, which can be closed. */
export interface Scope {
  readonly host: HostApi;
  /** Names of the settings that the plugin has registered. */
  settings(): readonly string[];
  /** Runs the stop callbacks and undoes all registrations. The HostApi rejects further use. Never throws. */
  close(): Promise<void>;
}

interface ScopeListeners {
  /** Called for each unexpected error in a route of the plugin. The REST API still handles the error. */
  readonly onRouteFailure: (error: unknown) => void;
  /** Called for a registration that is open. */
  readonly onWarning: (message: string) => void;
  /** Runs code of the plugin in its context. */
  readonly run: <Result>(work: () => Result) => Result;
}

interface ScopeDependencies extends ScopeListeners {
  readonly source: PluginSource;
  readonly services: HostServices;
  /** Which plugin registered what, of all plugins: names the owner in the error about a name that is taken. */
  readonly owners: Map<string, string>;
}

type ContentMethods = Omit<ContentApi, 'posts' | 'meta' | 'revisions' | 'media' | 'terms' | 'comments'>;

/** Builds the HostApi of one plugin from the shared services, and registers its folders `views` and `assets`. */
export function createScope({ source, services, owners, ...listeners }: ScopeDependencies): Scope {
  const { manifest, directory } = source;
  const { slug } = manifest;
  const log = services.log.child({ plugin: slug });
  const { clock } = services;
  const checkDefinition = definitionCheck(source, services);
  const registrations = createRegistrations({ ...listeners, slug, owners, clock, log, checkDefinition });
  const guard = guardService.bind(null, registrations) as <Contract extends object>(
    service: Contract,
    kinds: methods.MethodKinds<Contract>,
  ) => Contract;

  const assets = services.assets(slug, ownFolder(directory, 'assets'));
  if (assets.undo) registrations.remember(assets.undo);
  registrations.remember(services.views.addSource(slug, ownFolder(directory, 'views')));

  const { api: i18n, addTexts } = openTranslations(services, source, registrations);

  const host: HostApi = {
    plugin: { ...manifest, directory },
    site: scopedSite(services, slug, registrations),
    hooks: guard(services.hooks.forOwner(slug), methods.hooksMethods),
    options: guard(withTexts(services.options, ['registerSetting'], addTexts), methods.optionsMethods),
    secrets: guard(services.secrets, methods.secretsMethods),
    rest: guard<RestApi>(withFailureReports(services.rest.forOwner(slug), listeners), methods.restMethods),
    cron: guard(services.cron.forOwner(slug), methods.cronMethods),
    jobs: guard<HostApi['jobs']>(services.jobs.forOwner(slug), methods.jobsMethods),
    abilities: guard<HostApi['abilities']>(services.abilities.forOwner(slug), methods.abilitiesMethods),
    admin: guard(withTexts(services.admin.forOwner(slug), ['addPage', 'addMenuGroup'], addTexts), methods.adminMethods),
    cli: guard(inContext(services.cli, listeners, checkDefinition), methods.cliMethods),
    database: scopedDatabase(services.database, registrations),
    users: guard(services.users, methods.usersMethods),
    content: {
      ...guard<ContentMethods>(services.content, methods.contentMethods),
      posts: guard(services.content.posts, methods.postsMethods),
      meta: guard(services.content.meta, methods.metaMethods),
      revisions: guard(services.content.revisions, methods.revisionsMethods),
      media: guard(services.content.media, methods.mediaMethods),
      terms: guard(services.content.terms, methods.termsMethods),
      comments: guard(services.content.comments, methods.commentsMethods),
    },
    views: guard<HostApi['views']>(services.views, methods.viewsMethods),
    assets: { url: (file) => assets.url(file) },
    i18n,
    log,
    clock: scopedClock(clock, registrations),
    http: guard(services.http, methods.httpMethods),
    mail: guard(services.mail, methods.mailMethods),
    metrics: guard(services.metrics.forOwner(slug), methods.metricsMethods),
    traces: guard(services.traces.forOwner(slug), methods.tracesMethods),
    documents: guard<HostApi['documents']>(services.documents, methods.documentsMethods),
    services: guard(services.services.forOwner(slug), methods.servicesMethods),
    api: sharedApi(services),
    onStop: (callback) => registrations.onStop(callback),
  };
  return {
    host,
    settings: () => registrations.names('registerSetting'),
    async close() {
      await registrations.close();
      services.hooks.removeOwner(slug);
    },
  };
}

/** The compiler has checked what the plugins register that ship with the host. */
function definitionCheck({ shipped }: PluginSource, services: HostServices): HostServices['checkDefinition'] {
  return shipped ? () => [] : services.checkDefinition;
}

/** For plugins that cannot import `#plugin-api`. */
function sharedApi({ hooks }: Pick<HostServices, 'hooks'>): HostApi['api'] {
  return {
    RestError,
    RestResponse,
    DocumentError,
    JobLostError,
    defineErrors,
    withNamespaces: (own) => hooks.withNamespaces(own),
  };
}

/** @throws Error when it is a link to somewhere outside of the plugin: the site would serve or read foreign files. */
function ownFolder(directory: string, name: string): string {
  const path = join(directory, name);
  if (existsSync(path) && !isInsideFolder(path, directory))
    throw new Error(`The folder '${name}' is a link that leaves the plugin's folder. Replace it with the files.`);
  return path;
}

function openTranslations(
  { translations }: HostServices,
  { manifest, directory }: PluginSource,
  registrations: Registrations,
): Omit<ReturnType<HostServices['translations']>, 'undo'> {
  const { undo, ...opened } = translations(manifest.slug, ownFolder(directory, 'languages'));
  registrations.remember(undo);
  return opened;
}

function scopedSite({ site, publicPages }: HostServices, slug: string, registrations: Registrations): HostApi['site'] {
  return {
    addPage: (page) => registrations.register('addPublicPage', [page], () => publicPages.add(slug, page)) as Undo,
    get url() {
      return site.url;
    },
    get role() {
      return site.role;
    },
    get version() {
      return site.version;
    },
    get dataDir() {
      return site.dataDir;
    },
    id: () => site.id(),
    name: () => site.name(),
    timezone: () => site.timezone(),
  };
}

function scopedDatabase(database: DatabaseApi, registrations: Registrations): DatabaseApi {
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
    readNumbers: (select, values) => open().readNumbers(select, values),
    reduceRows: (reduction) => open().reduceRows(reduction),
  };
}

/** `now` still works after the plugin stops. Completed timers are removed, so that they do not use memory. */
function scopedClock(clock: Clock, registrations: Registrations): Clock {
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
