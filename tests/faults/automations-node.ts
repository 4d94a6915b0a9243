import { keepAlive } from '../../host/clock.ts';
import { openAutomationsHost } from './automations-host.ts';

// A node that works the queue of automations until it is killed, or asked to stop. Arguments: database URL or '', data folder, address of the sandbox.
const [, , databaseUrl = '', dataDir = '', sandboxUrl = ''] = process.argv;
const host = await openAutomationsHost({
  location: { databaseUrl: databaseUrl === '' ? null : databaseUrl, dataDir },
  sandboxUrl,
  role: 'worker',
});
process.on('SIGTERM', () => {
  void host.stop().then(() => process.exit(0));
});
console.log('Working');
await keepAlive(new Promise(() => undefined));
