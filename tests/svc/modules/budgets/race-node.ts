import { createSystemClock } from '../../../../host/clock.ts';
import { openDatabase } from '../../../../host/database/database.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { race, type RaceInit } from './race-of-calls.ts';

// One process of the race: prints that it is ready, waits for a line, makes its calls, and prints its report.
const [databaseUrl = '', dataDir = '', init = ''] = process.argv.slice(2);
const clock = createSystemClock();
const database = await openDatabase({ databaseUrl: databaseUrl || null, dataDir, clock, log: silentLog });
process.stdout.write('"ready"\n');
process.stdin.once('data', () => {
  void race(database, JSON.parse(init) as RaceInit).then(async (report) => {
    await database.close();
    process.stdout.write(`${JSON.stringify(report)}\n`);
    process.stdin.destroy();
  });
});
