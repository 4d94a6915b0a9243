import type { CliCommand, Clock, Logger, RouteDefinition, Undo } from '#plugin-api';
import { checkDefinition } from '../../../host/check-definition.ts';
import { createPluginServices } from '../../../host/loader/plugin-services.ts';
import { createHooks } from '../../../host/hooks/hooks.ts';
import type { Hooks } from '../../../host/hooks/hooks.ts';
import type { HostServices } from '../../../host/loader/loader.ts';
import type { LoaderOptions } from '../../../host/loader/stored-state.ts';
import { createTranslations } from '../../../host/translations.ts';
import { documents } from '../../helpers/documents.ts';

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Services that keep what is registered with them, so that a test can count it. */
export interface CountedServices extends HostServices {
  readonly hooks: Hooks;
  readonly options: HostServices['options'] & LoaderOptions;
  /** What is registered at the moment, one text each. */
  registered(): string[];
  readonly routes: Map<string, readonly RouteDefinition[]>;
  readonly lines: LogLine[];
  /** The stored options; shared by the loaders of two "processes" when handed on. */
  readonly stored: Map<string, unknown>;
}

/** Only what the loader and the plugins of its tests use is there. */
export function createCountedServices({
  clock,
  stored = new Map<string, unknown>(),
}: {
  clock: Clock;
  stored?: Map<string, unknown>;
}): CountedServices {
  const registrations = new Set<{ readonly text: string }>();
  const routes = new Map<string, readonly RouteDefinition[]>();
  const lines: LogLine[] = [];
  const log = createLog(lines, {});
  const hooks = createHooks({ log });
  const keep = (text: string): Undo => {
    const registration = { text };
    registrations.add(registration);
    return () => {
      if (!registrations.delete(registration)) throw new Error(`'${text}' was undone twice.`);
    };
  };
  const registered = (): string[] => [
    ...[...registrations].map(({ text }) => text),
    ...hooks.describe().flatMap(({ name, callbacks }) => callbacks.map(({ owner }) => `hook ${name} of ${owner}`)),
  ];

  const translations = createTranslations({ log });
  const services = {
    site: {
      url: 'http://site.test',
      role: 'all' as const,
      version: '1.0.0',
      id: async () => 'a site of tests',
      name: async () => 'Test',
      timezone: async () => 'UTC',
    },
    publicPages: { add: (slug: string, { path }: { path: string }) => keep(`public page ${path} of ${slug}`) },
    hooks,
    options: {
      ...createOptions(stored),
      registerSetting: (name: string) => keep(`setting ${name}`),
    } as unknown as CountedServices['options'],
    secrets: {
      encrypt: (plain: string) => plain,
      decrypt: (text: string) => text,
      addStore: () => keep('secret store'),
    },
    rest: owned({
      registerRoute(namespace: string, route: string, definition: readonly RouteDefinition[]): Undo {
        const path = `/${namespace}${route}`;
        if (routes.has(path)) throw new Error(`The route ${path} is registered twice.`);
        routes.set(path, definition);
        const undo = keep(`route ${path}`);
        return () => {
          routes.delete(path);
          undo();
        };
      },
    }),
    cron: {
      ...owned({ addSchedule: (name: string) => keep(`schedule ${name}`) }),
      removeOwner: async () => 0,
      gather: (_owner: string, work: () => Promise<unknown>) => work(),
    },
    admin: owned({
      addPage: ({ slug }: { slug: string }) => keep(`page ${slug}`),
      addBadge: () => keep('badge'),
      addNotice: () => keep('notice'),
      addSetupChoice: () => keep('choice'),
    }),
    cli: { addCommand: ({ name }: CliCommand) => keep(`command ${name}`), addCommands: () => keep('commands') },
    database: {
      dialect: 'sqlite',
      knex: {},
      transaction: async (work: (transaction: unknown) => unknown) => work({}),
      isUnavailable: () => false,
    },
    users: { get: async () => null },
    content: {},
    views: { addHelper: (name: string) => keep(`helper ${name}`), addSource: (slug: string) => keep(`views ${slug}`) },
    assets: (slug: string) => ({ url: (file: string) => `/assets/${slug}/${file}`, undo: keep(`assets ${slug}`) }),
    log,
    clock,
    http: {},
    metrics: owned({ add: () => keep('metrics') }),
    traces: {
      forOwner: () => ({
        span: <Result>(_name: string, work: (describe: () => void) => Result) => work(() => undefined),
      }),
    },
    documents,
    services: createPluginServices(),
    checkDefinition,
    translations: (slug: string, directory: string) => ({
      api: translations.forPlugin(slug),
      addTexts: (texts: () => readonly string[]) => translations.addTexts(slug, texts),
      undo: translations.addSource(slug, directory),
    }),
    abilities: owned({}),
    jobs: { ...owned({ define: (name: string) => keep(`job ${name}`) }), removeOwner: async () => 0 },
  };
  const { options } = services;
  return { ...(services as unknown as HostServices), options, hooks, registered, routes, lines, stored };
}

/** The same service for each plugin. */
function owned<Service>(service: Service): { forOwner(): Service } {
  return { forOwner: () => service };
}

function createOptions(stored: Map<string, unknown>): LoaderOptions {
  return {
    refresh: () => {},
    get: async <Value>(name: string, fallback?: Value) =>
      structuredClone(stored.has(name) ? stored.get(name) : (fallback ?? false)) as Value,
    delete: async (name) => stored.delete(name),
    update: async (name, value) => (stored.set(name, structuredClone(value)), true),
    compareAndSet: async (name, expected, next) => {
      if (JSON.stringify(stored.get(name)) !== JSON.stringify(expected)) return false;
      stored.set(name, structuredClone(next));
      return true;
    },
  };
}

function createLog(lines: LogLine[], common: Readonly<Record<string, unknown>>): Logger {
  const at =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push({ level, message, fields: { ...common, ...fields } });
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => createLog(lines, { ...common, ...fields }),
  };
}
