import { expect } from 'chai';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { openWebhooks, plainDeliver, queued } from '../svc/webhooks/open-webhooks.ts';
import { startReceiver, type Receiver } from '../svc/webhooks/receiver.ts';
import { killRounds } from './kill-rounds.ts';
import { claimed, createNodes } from './webhook-nodes.ts';

/** `npm run faults -- 100` kills as often as one likes. */
const kills = 10;

describeDialects('nodes that are killed while they deliver', (open, { location }) => {
  it('lose nothing, and repeat only under the same ids and with the same bytes', async function () {
    this.timeout(180_000);
    const report = await killRounds({ open, location: location(), kills, hurried: true });
    expect(report).to.deep.include({ kills, emitted: 300, lost: 0, different: 0 });
    expect(report.received).to.equal(report.emitted + report.repeated);
  });
});

describeDialects('a node that is asked to stop', (open, { location }) => {
  const nodes = createNodes();
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await nodes.stop();
    await receiver.stop();
  });

  it('finishes what is under way, gives back the rest, and nothing is sent twice', async function () {
    this.timeout(60_000);
    const { deliver, close } = plainDeliver();
    const database = await open();
    const { webhooks } = await openWebhooks(database, deliver);
    await webhooks.setEnabled(true);
    await webhooks.addEndpoint({ name: 'Shop', url: receiver.url, events: ['chatbot.session_started'] });
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => webhooks.emit('chatbot.session_started', queued(index))),
    );
    receiver.hold();
    const node = nodes.start(location());
    await receiver.count(4);
    const ended = node.end('SIGTERM');
    receiver.release(200);
    expect(await ended).to.equal(0);
    const sent = receiver.received.length;
    expect(sent).to.be.lessThan(300);
    expect(await claimed(database)).to.equal(0);
    expect(await database.knex(tables.deliveries).where({ state: 'delivered' })).to.have.length(sent);
    await webhooks.work();
    expect(receiver.received).to.have.length(300);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).size).to.equal(300);
    await close();
  });
});
