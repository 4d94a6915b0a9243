import { expect } from 'chai';
import { failureOf } from '../helpers/failure-of.ts';
import type { Received, WebhookReceiver } from './webhook-receiver.ts';
import { completed, describeSites, names, started } from './webhook-site.ts';

const key = 'the REST key of these tests';
const shopEvent = {
  name: 'shop.order_paid',
  group: 'Shop',
  module: 'shop',
  origins: ['checkout'],
  resource: 'order',
  description: 'An order is paid.',
  queued: true,
  plugin: { slug: 'shop', version: '2.1.0' },
  schema: {
    type: 'object',
    properties: { order: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
    required: ['order'],
  },
  example: { order: { id: 1 } },
  naturalIds: ({ order }: { order: { id: number } }) => [order.id],
  describe: ({ order }: { order: { id: number } }) => ({ id: order.id, label: `Order ${String(order.id)}` }),
};

describeSites('webhooks and the rest of the site', (site) => {
  let receiver: WebhookReceiver;
  const get = async (path: string, init: RequestInit = { headers: { authorization: `Bearer ${key}` } }) => {
    const answer = await site().host.fetch(path, init);
    return {
      status: answer.status,
      body: (await answer.json()) as Record<string, unknown> & Record<string, unknown>[],
    };
  };
  beforeEach(async () => {
    receiver = await site().receiver();
    await site().host.options.update('svc_api_key', site().host.secrets.encrypt(key));
  });

  it('GET /events lists every event with schema and example, behind the key; OpenAPI has them under webhooks', async () => {
    expect((await get('/wp-json/svc/v1/events', {})).body).to.deep.include({ code: 'rest_svc_invalid_api_key' });
    const { status, body } = await get('/wp-json/svc/v1/events');
    expect(status).to.equal(200);
    expect(body.map(({ name }) => name)).to.deep.equal(names);
    for (const event of body) expect(event).to.include.keys('name', 'module', 'schema', 'example', 'description');
  });

  it("a plugin's own event is listed, subscribed to, checked, sent, signed and keyed like any other", async () => {
    site().host.hooks.addFilter('svc_event_schemas', (events) => [...events, shopEvent as never]);
    expect((await get('/wp-json/svc/v1/events')).body.map(({ name }) => name)).to.deep.equal([
      ...names,
      'shop.order_paid',
    ]);
    const document = await site().host.fetch('/wp-json/svc/v1/openapi.json');
    const { webhooks } = (await document.json()) as {
      webhooks: Record<
        string,
        { post: { requestBody: { content: Record<string, { schema: { properties: { data: unknown } } }> } } }
      >;
    };
    expect(Object.keys(webhooks)).to.deep.equal([...names, 'shop.order_paid']);
    expect(
      webhooks['shop.order_paid']?.post.requestBody.content['application/json']?.schema.properties.data,
    ).to.deep.equal(shopEvent.schema);
    await site().subscribe(receiver, { events: ['shop.order_paid'] });
    let ran = 0;
    site().host.hooks.addAction('svc_event_shop_order_paid' as 'svc_event_emit', () => void (ran += 1));
    const first = await site().emit('shop.order_paid', { order: { id: 7 } });
    const second = await site().emit('shop.order_paid', { order: { id: 7 } });
    const [request] = (await receiver.first(2)) as [Received];
    const envelope = JSON.parse(request.body.toString());
    expect(envelope).to.deep.include({
      type: 'shop.order_paid',
      plugin: { slug: 'shop', version: '2.1.0' },
      source: { module: 'shop', origin: 'checkout' },
      resource: { type: 'order', id: '7', label: 'Order 7' },
      data: { order: { id: 7 } },
    });
    expect(first.envelope?.idempotency_key).to.equal(second.envelope?.idempotency_key);
    expect(ran).to.equal(2);
    await site().host.hooks.doActionAsync('svc_event_emit', 'shop.order_paid', { order: { id: 'seven' } });
    expect((await site().operator.deliveryLog.list()).deliveries).to.have.length(2);
  });

  it('an act that is rolled back sends nothing, and one that is committed sends all of its events, queued and at once', async () => {
    await site().subscribe(receiver);
    const { database, hooks } = site().host;
    await failureOf(
      database.transaction(async (transaction) => {
        await hooks.doActionAsync('svc_event_emit', 'chatbot.session_started', started('lost'), { transaction });
        await hooks.doActionAsync('svc_event_emit', 'task.item_completed', completed('lost'), { transaction });
        throw new Error('undone');
      }),
    );
    expect((await site().operator.deliveryLog.list()).deliveries).to.deep.equal([]);
    await database.transaction(async (transaction) => {
      await hooks.doActionAsync('svc_event_emit', 'chatbot.session_started', started('kept'), { transaction });
      // Without being told of the transaction that it runs in.
      await hooks.doActionAsync('svc_event_emit', 'task.item_completed', completed('kept'));
      expect(receiver.received).to.have.length(0);
    });
    await site().endings(2);
    expect(receiver.received.map(({ body }) => JSON.parse(body.toString()).type)).to.have.members([
      'chatbot.session_started',
      'task.item_completed',
    ]);
    expect(receiver.received.some(({ body }) => body.includes('lost'))).to.equal(false);
  });

  it('delivered ones are kept for the days that are set, three by default, failed ones for seven', async () => {
    await site().subscribe(receiver);
    const ageOf = { delivered: 3, failed: 7 } as const;
    for (const [status, state] of [
      [200, 'delivered'],
      [404, 'failed'],
    ] as const) {
      receiver.answer = status;
      const before = site().ended.length;
      for (const id of ['old', 'young']) await site().emit('chatbot.session_started', started(`${state} ${id}`));
      await site().endings(before + 2);
      const rows: { id: number }[] = await site()
        .host.database.knex('svc_webhook_deliveries')
        .where({ state })
        .orderBy('id')
        .select('id');
      // The queue goes by the clock of the database, which a test cannot move: the rows are made older instead.
      const age = (id: number | undefined, days: number) =>
        site()
          .host.database.knex('svc_webhook_deliveries')
          .where({ id })
          .update({ finished_at: Date.now() - days * 86_400_000 });
      await age(rows[0]?.id, ageOf[state] + 0.01);
      await age(rows[1]?.id, ageOf[state] - 0.01);
    }
    const left = async () => (await site().operator.deliveryLog.list()).deliveries.map(({ state }) => state).sort();
    await site().host.cron.run('svc_webhooks_sweep');
    expect(await left()).to.deep.equal(['delivered', 'failed']);
    expect(await site().host.database.knex('svc_webhook_events').count({ count: '*' }).first()).to.deep.equal({
      count: 2,
    });
    await site().operator.setDeliveredDays(1);
    await site().host.cron.run('svc_webhooks_sweep');
    expect(await left()).to.deep.equal(['failed']);
  });
});
