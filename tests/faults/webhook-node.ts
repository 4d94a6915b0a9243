import { createSystemClock, keepAlive } from '../../host/clock.ts';
import { openDatabase } from '../../host/database/database.ts';
import { silentLog } from '../helpers/silent-log.ts';
import { openWebhooks, plainDeliver } from '../svc/webhooks/open-webhooks.ts';
import { asked } from './webhook-nodes.ts';

// A node that works the queue until it is killed, or asked to stop. Arguments: database URL or '', data folder.
const [, , databaseUrl = '', dataDir = ''] = process.argv;
const database = await openDatabase({
  databaseUrl: databaseUrl === '' ? null : databaseUrl,
  dataDir,
  clock: createSystemClock(),
  log: silentLog,
});
const { deliver } = plainDeliver();
const { webhooks } = await openWebhooks(database, deliver);
await database.listen(asked, (what) => {
  console.log(`Heard ${what}`);
});
await webhooks.start();
process.on('SIGTERM', () => {
  void webhooks
    .stop()
    .then(() => database.close())
    .then(() => process.exit(0));
});
console.log('Working');
await keepAlive(new Promise(() => undefined));
