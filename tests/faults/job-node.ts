import { createSystemClock, keepAlive } from '../../host/clock.ts';
import { createCron } from '../../host/cron/cron.ts';
import { openDatabase } from '../../host/database/database.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createJobs } from '../../host/jobs/jobs.ts';
import { compileSchema } from '../../host/options/setting-schema.ts';
import { silentLog as log } from '../helpers/silent-log.ts';

// A node that works the jobs until it is killed, or asked to stop. Arguments: database URL or '', data folder.
const [, , databaseUrl = '', dataDir = ''] = process.argv;
const clock = createSystemClock();
const database = await openDatabase({ databaseUrl: databaseUrl === '' ? null : databaseUrl, dataDir, clock, log });
const hooks = createHooks({ log });
const cron = createCron({ database, hooks, clock, log });
const jobs = createJobs({ database, hooks, cron, clock, log, compileSchema, shutdownTimeout: 500 });
jobs.forOwner('orders').define<number>({
  name: 'count',
  attempts: 100,
  backoff: [0],
  concurrency: 8,
  async run(amount, { id, token, commit }) {
    // Its primary key refuses a second attempt with the same token.
    await database.knex('job_attempts').insert({ job: id, token });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
    await commit(async (transaction) => {
      await transaction('job_effects').insert({ job: id, amount });
    });
  },
});
process.on('SIGTERM', () => {
  void jobs
    .stop()
    .then(() => database.close())
    .then(() => process.exit(0));
});
await jobs.start();
console.log('Working');
await keepAlive(new Promise(() => undefined));
