import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import { createHost } from '../../host/host.ts';
import { readConfig } from '../../host/start/config.ts';
import { until } from '../helpers/until.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openReceiver, type Receiver } from '../svc/webhooks/delivery/open-receiver.ts';

const acts = 1_000;

describeDialects('the id and the address of a site', (_open, { location }) => {
  let hosts: TestHost[];
  let receiver: Receiver;

  beforeEach(async () => {
    hosts = [];
    receiver = await openReceiver();
    receiver.answer = (_request, response) => void response.writeHead(200).end('{}');
  });
  afterEach(async () => {
    for (const host of hosts) await host.stop();
    await receiver.close();
  });
  async function start(database?: string, env: Readonly<Record<string, string>> = {}): Promise<TestHost> {
    const host = await createTestHost({
      plugins: ['svc'],
      clock: createSystemClock(),
      env: { LOG_LEVEL: 'error', ...env },
      ...(database !== undefined && { database }),
    });
    hosts.push(host);
    return host;
  }
  const own = (): string => location().databaseUrl ?? location().dataDir;

  it('lets a receiver of two sites that de-duplicates lose none of 1,000 acts of each', async function () {
    this.timeout(150_000);
    for (const host of [await start(own()), await start()]) {
      await host.cli('svc', 'webhook', 'on');
      const endpoint = {
        name: 'Both',
        url: `http://127.0.0.1:${String(receiver.port)}/hook`,
        enabled: true,
        events: ['chatbot.session_started'],
      };
      await host.cli('svc', 'webhook', 'add', '--json', JSON.stringify(endpoint));
    }
    const emit = (host: TestHost, id: number): Promise<unknown> =>
      host.hooks.doActionAsync('svc_event_emit', 'chatbot.session_started', {
        bot: { id: 1, name: 'Bot' },
        conversation: { id: String(id) },
        actor: { type: 'guest' },
      });
    for (let id = 1; id <= acts; id += 50)
      await Promise.all(
        hosts.flatMap((host) => Array.from({ length: 50 }, (_value, offset) => emit(host, id + offset))),
      );
    const all = (header: string): Set<unknown> => new Set(receiver.received.map(({ headers }) => headers[header]));
    const keys = (): Set<unknown> => all('x-svc-idempotency-key');
    // A delivery that is sent again, as after a timeout of a busy machine, has the same id.
    const deliveries = (): number => all('x-svc-delivery-id').size;
    await until('all events were received', () => deliveries() === 2 * acts, 120_000);
    expect(keys().size).to.equal(2 * acts);
    // The same act again has the same key.
    for (const host of hosts) await emit(host, 1);
    await until('the repeated acts were received', () => deliveries() === 2 * acts + 2);
    expect(keys().size).to.equal(2 * acts);
  });

  it('are the same on all nodes, after a restart and for commands in another environment', async function () {
    this.timeout(60_000);
    const first = await start(own(), { SITE_URL: 'https://shop.example' });
    const id = await first.site.id();
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    if (location().databaseUrl !== null)
      expect(await (await start(own(), { SITE_URL: 'https://shop.example' })).site.id()).to.equal(id);
    while (hosts.length > 0) await hosts.pop()?.stop();
    const command = await createHost({
      usesStoredAddress: true,
      only: [],
      config: {
        ...readConfig({ LOG_LEVEL: 'error' }),
        databaseUrl: location().databaseUrl,
        dataDir: location().dataDir,
      },
    });
    try {
      expect(await command.site.id()).to.equal(id);
      expect(command.site.url).to.equal('https://shop.example');
      // One of an earlier version gets one, and keeps it.
      await command.options.delete('site_id');
      const made = await command.site.id();
      expect(made).not.to.equal(id);
      expect(await command.site.id()).to.equal(made);
    } finally {
      await command.stop();
    }
  });
});
