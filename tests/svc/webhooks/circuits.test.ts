import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import { createHooks } from '../../../host/hooks/hooks.ts';
import type { AttemptOutcome } from '../../../plugins/svc/webhooks/delivery/deliver.contract.ts';
import { tables, webhookMigrations } from '../../../plugins/svc/webhooks/migrations.ts';
import { createCircuits, type Circuits } from '../../../plugins/svc/webhooks/worker/circuits.ts';
import { describeDialects } from '../../helpers/dialects.ts';
import { until } from '../../helpers/until.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { openWebhooks, plainDeliver, queued, type Opened } from './open-webhooks.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const minute = 60_000;
const outcome = (ok: boolean): AttemptOutcome => ({
  ok,
  status: ok ? 200 : 503,
  failure: ok ? null : 'status',
  error: ok ? null : 'The endpoint responded with 503.',
  retryable: true,
  retryAfter: null,
  duration: 3,
  responseHeaders: {},
  responseBody: '',
  finalUrl: 'http://receiver.test',
});

describeDialects('circuits of webhook endpoints on two nodes', (open) => {
  let passed: number;
  let first: Circuits;
  let second: Circuits;
  let actions: string[];

  async function node(): Promise<Circuits> {
    const database = await open();
    await database.migrate('svc', webhookMigrations);
    const hooks = createHooks({ log: silentLog });
    hooks.addAction('svc_event_webhooks_endpoint_paused', () => void actions.push('paused'));
    hooks.addAction('svc_event_webhooks_endpoint_resumed', () => void actions.push('resumed'));
    return createCircuits({
      host: { database, hooks, clock: createSystemClock(), log: silentLog },
      elapsed: () => passed,
    });
  }
  /** Twenty failures over twenty minutes. Answers whether it was paused after each. */
  async function failForLong(circuits: Circuits): Promise<boolean[]> {
    const answers: boolean[] = [];
    for (let count = 0; count < 20; count += 1) {
      passed += minute;
      answers.push(await circuits.recordOutcome('one', outcome(false)));
    }
    return answers;
  }
  const pausedAfterTwenty = [...Array<boolean>(19).fill(false), true];

  beforeEach(async () => {
    [passed, actions] = [1_000, []];
    [first, second] = [await node(), await node()];
    expect(await failForLong(first)).to.deep.equal(pausedAfterTwenty);
    expect(await second.load()).to.deep.equal(['one']);
    expect(actions).to.deep.equal(['paused']);
  });

  it('start a new count on a node after the other resumed the endpoint: it takes twenty failures to pause it again', async () => {
    expect(await first.resume('one')).to.equal(true);
    expect(await failForLong(second)).to.deep.equal(pausedAfterTwenty);
    expect((await first.list()).map(({ endpointId, failures }) => [endpointId, failures])).to.deep.equal([['one', 20]]);
  });

  it('pause at once for a 410, without a probe, until people resume it; a second node does not announce it again', async () => {
    await first.resume('one');
    const gone: AttemptOutcome = { ...outcome(false), status: 410, retryable: false, error: 'Gone.' };
    actions = [];
    expect(await second.recordOutcome('one', gone)).to.equal(true);
    expect(await first.recordOutcome('one', gone)).to.equal(true);
    expect(actions).to.deep.equal(['paused']);
    passed += 30 * 24 * 60 * minute;
    const third = await node();
    for (const circuits of [first, second, third]) {
      expect(await circuits.load()).to.deep.equal(['one']);
      expect(circuits.mayProbe('one')).to.equal(false);
      expect(circuits.untilProbe('one')).to.equal(Infinity);
    }
    // An attempt that was in flight ends neither the pause nor its lack of probes.
    for (const ok of [true, false])
      expect(await second.recordOutcome('one', { ...outcome(ok), duration: 600_000 })).to.equal(true);
    expect((await first.list()).map(({ reason, nextProbeAt }) => [reason, nextProbeAt])).to.deep.equal([
      ['Gone.', null],
    ]);
    expect(await third.resume('one')).to.equal(true);
    await second.load();
    expect(await second.recordOutcome('one', outcome(true))).to.equal(false);
    expect(actions).to.deep.equal(['paused']);
  });

  it('do not pause for a 410 of an address that a redirect was not followed to', async () => {
    await first.resume('one');
    expect(await second.recordOutcome('one', { ...outcome(false), status: 410, failure: 'redirect' })).to.equal(false);
  });

  it('do not pause for twenty failures at once, but for those that last a quarter of an hour', async () => {
    await first.resume('one');
    const fail = () => second.recordOutcome('one', outcome(false));
    for (let count = 0; count < 40; count += 1) expect(await fail()).to.equal(false);
    passed += 15 * minute - 1;
    expect(await fail()).to.equal(false);
    passed += 1;
    expect(await fail()).to.equal(true);
  });

  it('forget what the other has resumed when they are read', async () => {
    await first.resume('one');
    expect(await second.load()).to.deep.equal([]);
    expect(second.isHealthy('one', outcome(true))).to.equal(true);
    expect(await failForLong(second)).to.deep.equal(pausedAfterTwenty);
  });

  it('keep what only this node has counted when they are read', async () => {
    await first.resume('one');
    await second.load();
    for (let count = 0; count < 19; count += 1) {
      passed += minute;
      await second.recordOutcome('one', outcome(false));
    }
    await second.load();
    expect(await second.recordOutcome('one', outcome(false))).to.equal(true);
  });

  it('stay paused on both while probes fail, and tell of the end once', async () => {
    expect([
      await second.recordOutcome('one', outcome(false)),
      await first.recordOutcome('one', outcome(false)),
    ]).to.deep.equal([true, true]);
    expect(await first.list()).to.have.length(1);
    expect([
      await second.recordOutcome('one', outcome(true)),
      await first.recordOutcome('one', outcome(true)),
    ]).to.deep.equal([false, false]);
    expect(await first.list()).to.deep.equal([]);
    expect(actions).to.deep.equal(['paused', 'resumed']);
  });
});

describeDialects('an endpoint that was paused, with two nodes', (open) => {
  let receiver: Receiver;
  let transport: ReturnType<typeof plainDeliver>;
  let [first, second] = [null as unknown as Opened, null as unknown as Opened];

  beforeEach(async () => {
    receiver = await startReceiver();
    transport = plainDeliver();
    [first, second] = [
      await openWebhooks(await open(), transport.deliver),
      await openWebhooks(await open(), transport.deliver),
    ];
  });
  afterEach(async () => {
    await Promise.all([first.webhooks.stop(), second.webhooks.stop()]);
    await transport.close();
    await receiver.stop();
  });

  it('is not paused again by the first failure on the node that did not resume it', async () => {
    await first.webhooks.setEnabled(true);
    const { id } = await first.webhooks.addEndpoint({
      name: 'Shop',
      url: receiver.url,
      events: ['chatbot.session_started'],
    });
    const now = Date.now();
    await first.database.knex(tables.circuits).insert({
      endpoint_id: id,
      failing_since: now - 60 * minute,
      failures: 40,
      paused_at: now - 30 * minute,
      reason: 'The endpoint responded with 503.',
      next_probe_at: now,
      probes: 2,
    });
    await Promise.all([first.webhooks.fallback(), second.webhooks.fallback()]);
    expect(await first.webhooks.deliveryLog.resume(id)).to.equal(true);
    receiver.answer = () => 503;
    await first.webhooks.emit('chatbot.session_started', queued(1));
    expect(await second.webhooks.work()).to.equal(1);
    expect(await second.webhooks.deliveryLog.circuits()).to.deep.equal([]);
  });

  it('is worked at once by another node after it is resumed', async () => {
    await first.webhooks.setEnabled(true);
    const { id } = await first.webhooks.addEndpoint({
      name: 'Shop',
      url: receiver.url,
      events: ['chatbot.session_started'],
    });
    const now = Date.now();
    await first.database.knex(tables.circuits).insert({
      endpoint_id: id,
      failing_since: now - 60 * minute,
      failures: 40,
      paused_at: now - 30 * minute,
      reason: 'The endpoint responded with 503.',
      next_probe_at: now,
      probes: 2,
    });
    receiver.answer = 503;
    for (const count of [1, 2, 3]) await first.webhooks.emit('chatbot.session_started', queued(count));
    await second.webhooks.start();
    // Its probe fails: the next one would be minutes away.
    await receiver.count(1);
    await until(
      'the probe has been counted',
      async () => ((await first.webhooks.deliveryLog.circuits())[0]?.failures ?? 0) > 40,
    );
    receiver.answer = 200;
    expect(await first.webhooks.deliveryLog.resume(id)).to.equal(true);
    await receiver.count(4);
  });
});
