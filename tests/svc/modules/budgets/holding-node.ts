import { createSystemClock } from '../../../../host/clock.ts';
import { openDatabase } from '../../../../host/database/database.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { budget, openNode } from './budgeted-node.ts';

// A process that makes a call, prints that it runs, and never ends it.
const [databaseUrl = '', dataDir = ''] = process.argv.slice(2);
const database = await openDatabase({
  databaseUrl: databaseUrl || null,
  dataDir,
  clock: createSystemClock(),
  log: silentLog,
});
const node = await openNode(database, { budgets: [budget({ amount: 1 })] });
setInterval(() => undefined, 60_000);
await node.call({
  limit: 600_000,
  run() {
    process.stdout.write('running\n');
    return new Promise(() => undefined);
  },
});
