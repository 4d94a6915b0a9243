import { expect } from 'chai';
import { createFakeClock } from '#testing';
import type { Database } from '../../host/database/database.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { restKey, startService } from './service.ts';
import { items, requestTo, startVectorService } from './vector-service.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';
import { describeSites, started, startWebhookSite } from './webhook-site.ts';

describeSites('secrets of webhooks', (site) => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = await site().receiver();
  });

  it('are shown once when they are made, and then in no table, log, answer or error', async () => {
    const { host, operator } = site();
    const first = await operator.generateSecret();
    const second = await operator.rotateSecret();
    await site().subscribe(receiver, {
      name: 'own',
      secret: "the endpoint's very own secret",
      headers: { Authorization: 'Bearer very-secret-token', 'X-Plain': 'just-as-secret' },
      standardWebhooks: true,
    });
    await site().subscribe(receiver, { name: 'common', standardWebhooks: true });
    const secrets = [
      first,
      second,
      first.slice(6),
      second.slice(6),
      "the endpoint's very own secret",
      'very-secret-token',
      'just-as-secret',
    ];
    receiver.answer =
      ({ headers }) =>
      (response) =>
        void response.writeHead(500).end(`you sent ${String(headers['x-svc-event'])}`);
    const { deliveries } = await site().emit('chatbot.session_started', started('c-1'));
    await site().endings(2);
    expect(receiver.received.map(({ headers }) => headers.authorization)).to.include('Bearer very-secret-token');
    const rows = await Promise.all((await tablesOf(host.database)).map((table) => host.database.knex(table).select()));
    const texts = {
      tables: JSON.stringify(rows, (_name, value: unknown) => (Buffer.isBuffer(value) ? value.toString() : value)),
      log: host.logged.join('\n'),
      settings: JSON.stringify(await operator.settings()),
      record: JSON.stringify([
        await operator.deliveryLog.list(),
        await Promise.all(deliveries.map((id) => operator.deliveryLog.get(id))),
      ]),
      metrics: await (await host.fetch('/metrics')).text(),
    };
    for (const [where, text] of Object.entries(texts))
      for (const secret of secrets) expect(text.includes(secret), `${where}: ${secret.slice(0, 12)}`).to.equal(false);
    expect(texts.tables).to.include('svc_webhooks');
    expect(texts.record).to.include('"X-Plain":"[redacted]"');
    expect((await operator.settings()).secret)
      .to.be.a('string')
      .and.not.equal('');
  });
});

async function tablesOf({ knex, dialect }: Pick<Database, 'knex' | 'dialect'>): Promise<string[]> {
  const query =
    dialect === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
      : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'";
  const answer: unknown = await knex.raw(query);
  return (Array.isArray(answer) ? answer : (answer as { rows: unknown[] }).rows).map(
    (row) => (row as { name: string }).name,
  );
}

describe('REST calls', () => {
  it('send no events, whatever they do', async () => {
    const service = await startService();
    let emitted = 0;
    service.host.hooks.addAction('svc_event_webhooks_emitted', () => void (emitted += 1));
    service.host.hooks.addAction('svc_event_emit', () => void (emitted += 1), 1);
    expect(
      (
        await service.generate({
          provider: 'openai',
          model: 'gpt-4o-mini',
          messages: [{ role: 'user', content: 'Hello' }],
        })
      ).status,
    ).to.equal(200);
    const post = (path: string, body: unknown): Promise<Response> =>
      service.host.fetch(`/wp-json/svc/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
        body: JSON.stringify(body),
      });
    await service.host.options.update('svc_sandbox', true);
    const sandboxed = { provider: 'google', prompt: 'A lighthouse', messages: [{ role: 'user', content: 'Hello' }] };
    const statuses = [
      (await post('/images/generate', sandboxed)).status,
      (await post('/embeddings', { provider: 'google', model: 'gemini-embedding-001', input: 'x' })).status,
      (await post('/generate', { ...sandboxed, model: 'gemini-2.5-flash' })).status,
    ];
    expect(statuses).to.deep.equal([200, 200, 200]);
    expect(emitted).to.equal(0);
    expect(await service.host.database.knex('svc_webhook_deliveries').count({ count: '*' }).first()).to.deep.equal({
      count: 0,
    });
    await service.stop();
  });

  it('send no events when they write vectors', async () => {
    const service = await startVectorService();
    try {
      let emitted = 0;
      service.host.hooks.addAction('svc_event_webhooks_emitted', () => void (emitted += 1));
      service.host.hooks.addAction('svc_event_emit', () => void (emitted += 1), 1);
      await service.behind('qdrant').create({ name: 'notes', dimension: 8, metric: 'cosine' });
      const { status, body } = await service.upsert(requestTo('qdrant', items(3)));
      expect([status, body]).to.deep.equal([200, { upserted_count: 3, status: 'success' }]);
      expect(emitted).to.equal(0);
      expect(await service.host.database.knex('svc_webhook_deliveries').count({ count: '*' }).first()).to.deep.equal({
        count: 0,
      });
    } finally {
      await service.stop();
    }
  });
});

describeHosts('the cron fallback of webhooks', (dialectCase) => {
  it('alone drains the queue, every five minutes, on a node that does not work it otherwise', async () => {
    const clock = createFakeClock({ now: Date.UTC(2026, 0, 1, 0, 2), skipSleeps: true });
    const site = await startWebhookSite(dialectCase, { clock, env: { ROLE: 'web' } });
    try {
      const receiver = await site.receiver();
      await site.subscribe(receiver);
      const { deliveries } = await site.emit('chatbot.session_started', started('c-1'));
      await clock.advance(2 * 60_000);
      await site.host.cron.runDue();
      expect(receiver.received).to.have.length(0);
      clock.jump(60_000);
      let isDone = false;
      const drained = Promise.all([site.host.cron.runDue(), site.endings(1)]).then(() => (isDone = true));
      // What the queue does goes by this clock too: it is kept going until the delivery has ended, but never faster than the
      // receiver and the database, which answer in real time: the run of cron would end before them.
      while (!isDone) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await clock.advance(5);
      }
      await drained;
      expect(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).to.deep.equal(deliveries);
    } finally {
      await site.stop();
    }
  });
});
