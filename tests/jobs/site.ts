import type { Logger } from '#plugin-api';
import { createSystemClock } from '../../host/clock.ts';
import { createCron, migrations as cronMigrations } from '../../host/cron/cron.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createJobs, migrations, type Jobs } from '../../host/jobs/jobs.ts';
import { compileSchema } from '../../host/options/setting-schema.ts';
import { silentLog, type OpenDatabase } from '../helpers/dialects.ts';

/** One node with jobs on the running test's database. */
export async function openJobs(
  open: OpenDatabase,
  {
    log = silentLog,
    shutdownTimeout = 50,
    ...given
  }: { readonly log?: Logger; readonly shutdownTimeout?: number; readonly readJump?: () => number } = {},
) {
  const clock = createSystemClock();
  const database = await open({ clock, log });
  await database.migrate('host', [...cronMigrations, ...migrations]);
  const hooks = createHooks({ log });
  const cron = createCron({ database, hooks, clock, log });
  const jobs: Jobs = createJobs({
    ...{ database, hooks, cron, clock, log, compileSchema, shutdownTimeout },
    ...given,
  });
  return { jobs, own: jobs.forOwner('orders'), database, hooks, cron, clock };
}

/** A promise with its functions. */
export function deferred<Value = void>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
