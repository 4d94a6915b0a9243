import { fileURLToPath } from 'node:url';
import type { AdminPage, AdminRequest, HostApi } from '#plugin-api';
import { type Database, openDatabase } from '../../../host/database/database.ts';
import { createHooks } from '../../../host/hooks/hooks.ts';
import type { Hooks } from '../../../host/hooks/hooks.ts';
import { createOptions, migrations } from '../../../host/options/options.ts';
import type { Options } from '../../../host/options/options.ts';
import { createFakeClock } from '../../../host/testing/fake-clock.ts';
import { createViews } from '../../../host/views/views.ts';
import sandbox from '../../../plugins/sandbox/index.ts';
import { silentLog } from '../../helpers/silent-log.ts';

export interface Registered {
  readonly hooks: Hooks;
  readonly options: Options;
  readonly database: Database;
  readonly page: AdminPage;
  /** The page's own HTML, without the admin's frame. */
  render(): Promise<string>;
  act(action: string, form?: Record<string, string>): Promise<unknown>;
  uninstall(): Promise<void>;
  stop(): Promise<void>;
}

/** The plugin on the host's real hooks, options and database (SQLite in memory) and views. */
export async function registerSandbox(): Promise<Registered> {
  const clock = createFakeClock();
  const database = await openDatabase({ databaseUrl: null, dataDir: ':memory:', log: silentLog, clock });
  await database.migrate('host', migrations);
  await database.migrate('sandbox', sandbox.migrations ?? []);
  const hooks = createHooks({ log: silentLog });
  const options = createOptions({ database, hooks, clock, log: silentLog });
  await options.load();
  const views = createViews({ directories: [fileURLToPath(new URL('../../../views', import.meta.url))] });
  const stops: (() => void | Promise<void>)[] = [];
  const pages: AdminPage[] = [];
  const host = {
    hooks,
    options,
    clock,
    database,
    log: silentLog,
    admin: {
      addPage: (page: AdminPage) => {
        pages.push(page);
        return () => {};
      },
    },
    onStop: (stop: () => void | Promise<void>) => {
      stops.push(stop);
    },
  } as unknown as HostApi;
  await sandbox.register(host);
  const page = pages[0]!;
  const request = (form: Record<string, string>): AdminRequest =>
    ({ form, query: {}, requireFreshSignIn: () => undefined }) as unknown as AdminRequest;
  return {
    hooks,
    options,
    database,
    page,
    render: async () => {
      const { template, data } = (await page.render(request({}))) as {
        template: string;
        data?: Record<string, unknown>;
      };
      return views.render(template, data, { page: { slug: page.slug }, nonce: 'nonce' });
    },
    act: (action, form = {}) => page.actions![action]!(request(form)),
    uninstall: async () => {
      await sandbox.uninstall?.(host);
    },
    stop: async () => {
      for (const stop of stops) await stop();
      options.stop();
      await database.close();
    },
  };
}
