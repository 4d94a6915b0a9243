import { spawn, type ChildProcess } from 'node:child_process';
import { expect } from 'chai';
import { describeDialects } from '../helpers/dialects.ts';
import { checkout } from '../helpers/running-site.ts';
import { openWebhooks, plainDeliver, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';

const kills = 3;
const eventsPerKill = 40;

describeDialects('nodes that are killed while they deliver', (open, { location }) => {
  let receiver: Receiver;
  const children = new Set<ChildProcess>();

  async function startNode(): Promise<ChildProcess> {
    const { databaseUrl, dataDir } = location();
    const child = spawn(process.execPath, ['--import', 'tsx', 'tests/faults/webhook-node.ts', databaseUrl ?? '', dataDir], { cwd: checkout, stdio: ['ignore', 'pipe', 'inherit'] });
    children.add(child);
    await new Promise((resolve) => child.stdout.once('data', resolve));
    return child;
  }
  const end = (child: ChildProcess, signal: NodeJS.Signals): Promise<void> =>
    new Promise((resolve) => {
      child.once('exit', () => { resolve(); });
      child.kill(signal);
      children.delete(child);
    });

  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    for (const child of children) await end(child, 'SIGKILL');
    await receiver.stop();
  });

  it('lose nothing, and repeat only under the same ids', async function () {
    this.timeout(180_000);
    const { deliver, close } = plainDeliver();
    const { webhooks } = await openWebhooks(await open(), deliver);
    await webhooks.setEnabled(true);
    await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: ['chatbot.session_started'] });
    const emitted: string[] = [];
    for (let round = 0; round < kills; round += 1) {
      const results = await Promise.all(Array.from({ length: eventsPerKill }, (_, index) => webhooks.emit('chatbot.session_started', queued(`${String(round)}-${String(index)}`))));
      emitted.push(...results.flatMap(({ deliveries }) => deliveries));
      const before = receiver.received.length;
      const node = await startNode();
      await receiver.count(before + 5);
      await end(node, 'SIGKILL');
    }
    const last = await startNode();
    const ids = (): Set<unknown> => new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id']));
    while (ids().size < emitted.length) await receiver.count(receiver.received.length + 1);
    await end(last, 'SIGTERM');
    expect([...ids()]).to.have.members(emitted);
    const bodies = new Map<unknown, string>();
    for (const { headers, body } of receiver.received) {
      const id = headers['x-svc-delivery-id'];
      expect(bodies.get(id) ?? body).to.equal(body);
      bodies.set(id, body);
    }
    expect((await webhooks.recorder.list({ state: 'delivered' }, { limit: 200 })).deliveries).to.have.length(emitted.length);
    await close();
  });

  it('that are asked to stop finish what is under way, and nothing is sent twice', async function () {
    this.timeout(60_000);
    const { deliver, close } = plainDeliver();
    const { webhooks } = await openWebhooks(await open(), deliver);
    await webhooks.setEnabled(true);
    await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: ['chatbot.session_started'] });
    await Promise.all(Array.from({ length: 300 }, (_, index) => webhooks.emit('chatbot.session_started', queued(index))));
    const node = await startNode();
    await receiver.count(5);
    await end(node, 'SIGTERM');
    await webhooks.work();
    expect(receiver.received).to.have.length(300);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).size).to.equal(300);
    await close();
  });
});
