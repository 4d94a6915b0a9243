import { createContent, migrations as contentMigrations, type Content } from '../../host/content/content.ts';
import { createCron, migrations as cronMigrations, type Cron } from '../../host/cron/cron.ts';
import { createHooks, type Hooks } from '../../host/hooks/hooks.ts';
import { createOptions, migrations as optionMigrations, type Options } from '../../host/options/options.ts';
import { compileSchema } from '../../host/options/setting-schema.ts';
import { createFakeClock, type FakeClock } from '../../host/testing/fake-clock.ts';
import { createUser } from '../../host/users/user.ts';
import type { Database } from '../../host/database/database.ts';
import type { ContentApi, User } from '#plugin-api';
import { silentLog, type DialectCase, type OpenDatabase } from '../helpers/dialects.ts';
import { documents } from '../helpers/documents.ts';

export interface OpenedContent extends ContentApi {
  readonly content: Content;
  readonly hooks: Hooks;
  readonly options: Options;
  readonly cron: Cron;
  readonly clock: FakeClock;
  readonly database: Database;
  readonly dataDir: string;
  /** A user of the roles, who need not be in the database. */
  user(id: number, ...roles: string[]): User;
}

/** Noon in spring, in milliseconds. */
export const noon = Date.UTC(2026, 4, 15, 12);

/** Content on the running test's database; called again, another node of the same site. */
export async function openContent(
  open: OpenDatabase,
  { directory }: Pick<DialectCase, 'directory'>,
): Promise<OpenedContent> {
  const clock = createFakeClock({ now: noon, skipSleeps: true });
  const database = await open({ clock });
  await database.migrate('host', [...optionMigrations, ...cronMigrations, ...contentMigrations]);
  const hooks = createHooks({ log: silentLog });
  const options = createOptions({ database, hooks, clock, log: silentLog });
  await options.load();
  const cron = createCron({ database, hooks, clock, log: silentLog });
  const site = {
    url: 'http://site.test',
    role: 'all' as const,
    version: '1.0.0',
    dataDir: null,
    id: async () => 'a site of tests',
    name: async () => 'Test',
    timezone: async () => String(await options.get('timezone_string', 'UTC')),
  };
  const content = await createContent({
    database,
    hooks,
    options,
    cron,
    clock,
    log: silentLog,
    site,
    documents,
    dataDir: directory(),
    compileSchema,
  });
  return {
    ...content.api,
    content,
    hooks,
    options,
    cron,
    clock,
    database,
    dataDir: directory(),
    user: (id, ...roles) =>
      createUser({ id, login: `user${id}`, email: `${id}@example.com`, displayName: `User ${id}`, roles }, hooks),
  };
}

/** Names of the hooks run from now on, in order; those of filters with them. */
export function traceHooks(hooks: Hooks, names: RegExp): string[] {
  const trace: string[] = [];
  hooks.addAction('all', (name: string) => {
    if (names.test(name)) trace.push(name);
  });
  return trace;
}
