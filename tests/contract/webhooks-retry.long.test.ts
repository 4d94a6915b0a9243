import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { DeliveryDetail } from '../../plugins/svc/webhooks/delivery.ts';
import type { Received, WebhookReceiver } from './webhook-receiver.ts';
import { completed, describeSites, eventOf, started } from './webhook-site.ts';

const retried = [408, 409, 425, 429, 500, 501, 502, 503, 504, 505, 507, 508, 511, 520, 599];
const final = [
  300, 301, 302, 304, 305, 400, 401, 402, 403, 404, 405, 406, 407, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421,
  422, 423, 424, 426, 428, 431, 451, 499,
];
const successes = [200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 250, 299];
/** Milliseconds from the end of an attempt to the next one, as recorded. */
const waits = ({ attemptLog }: DeliveryDetail): (number | null)[] =>
  attemptLog.map(({ nextTryAt, startedAt, duration }) =>
    nextTryAt === null ? null : nextTryAt - startedAt - duration,
  );
const path = (status: number): string => `/answer/${String(status)}`;

describeSites('retries of webhooks', (site) => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = await site().receiver();
  });
  const detail = async (id: string): Promise<DeliveryDetail> =>
    (await site().operator.deliveryLog.get(id)) as DeliveryDetail;
  const subscribe = (init = {}) =>
    site().subscribe(receiver, { events: ['chatbot.session_started', 'task.item_completed'], ...init });
  const attempted = (id: string, count: number): Promise<void> =>
    site().until(async () => (await detail(id)).attemptLog.length >= count);

  it('every status: three attempts at 0, 0.25 and 1 s for those of the contract, one for every other, success for every 2xx', async () => {
    const all = [...retried, ...final, ...successes];
    receiver.answer = ({ path: at }) => Number(at.split('/').at(-1));
    const byId = new Map<string, number>();
    for (const status of all)
      byId.set((await subscribe({ name: String(status), url: `${receiver.origin}${path(status)}` })).id, status);
    const { targets, deliveries } = await site().emit('chatbot.session_started', started('c-1'));
    expect(deliveries).to.have.length(all.length);
    const ended = await site().endings(all.length);
    for (const [index, id] of deliveries.entries()) {
      const status = byId.get(targets[index]!)!;
      const found = await detail(id);
      const requests = receiver.received.filter((request) => request.path === path(status));
      const attempts = retried.includes(status) ? 3 : 1;
      expect(found, String(status)).to.deep.include({
        state: successes.includes(status) ? 'delivered' : 'failed',
        attempts,
        httpStatus: status,
      });
      expect(requests, String(status)).to.have.length(attempts);
      expect(waits(found), String(status)).to.deep.equal(attempts === 3 ? [250, 1000, null] : [null]);
      for (const [later, earlier, least] of [
        [1, 0, 250],
        [2, 1, 1000],
      ] as const)
        if (requests[later])
          expect(requests[later].at - requests[earlier]!.at, String(status)).to.be.greaterThan(least - 2);
      expect(ended.filter(({ result }) => result.delivery_id === id)).to.have.length(1);
    }
  });

  it('network errors of every kind: three attempts, each with its reason', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const odd = createServer((socket) =>
      socket.on('error', () => undefined).once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')),
    );
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
    receiver.answer =
      ({ path: at }) =>
      (response) =>
        void (at === '/reset'
          ? response.socket?.resetAndDestroy()
          : at === '/end'
            ? response.socket?.end()
            : undefined);
    // The one that never answers alone is given up: the others end by themselves, however long a busy machine takes.
    site().host.hooks.addFilter('svc_event_webhooks_request_args', (args) => ({
      ...args,
      timeout: args.headers['X-Hangs'] === undefined ? 60 : 0.1,
    }));
    const kinds = {
      connect: `http://127.0.0.1:${String(port)}/`,
      reset: `${receiver.origin}/reset`,
      'reset ': `${receiver.origin}/end`,
      timeout: `${receiver.origin}/hang`,
      dns: 'http://nowhere.invalid/',
      answer: `http://127.0.0.1:${String((odd.address() as AddressInfo).port)}/`,
    };
    for (const [name, url] of Object.entries(kinds))
      await subscribe({ name, url, ...(name === 'timeout' && { headers: { 'X-Hangs': 'yes' } }) });
    await site().emit('chatbot.session_started', started('c-1'));
    await site().endings(Object.keys(kinds).length);
    const failures = await site().operator.deliveryLog.recentFailures(20);
    expect(
      failures.map(({ endpointName, failure }) => `${endpointName.trim()} ${String(failure)}`).sort(),
    ).to.deep.equal(
      Object.keys(kinds)
        .map((name) => `${name.trim()} ${name.trim()}`)
        .sort(),
    );
    for (const { id } of failures) {
      const found = await detail(id);
      expect(found).to.deep.include({ attempts: 3, httpStatus: null });
      expect(waits(found)).to.deep.equal([250, 1000, null]);
      for (const { error } of found.attemptLog) expect(error).to.be.a('string').and.not.equal('');
    }
    await new Promise((resolve) => odd.close(resolve));
  });

  it('attempts of one delivery share ids, key and body bytes; timestamp and signature are new', async () => {
    await site().operator.setSecret('a secret');
    await subscribe();
    receiver.answer = (_request, earlier) => (earlier < 5 ? 503 : 200);
    const {
      deliveries: [id],
    } = await site().emit('chatbot.session_started', { ...started('c-1'), message: { text: 'Grüße 🙂' } });
    await site().endings(1);
    expect(await site().operator.deliveryLog.retry(id!)).to.equal(true);
    await site().endings(2);
    const all = await receiver.first(6);
    const [first] = all as [Received];
    for (const { headers, body } of all) {
      for (const name of [
        'x-svc-delivery-id',
        'x-svc-event-id',
        'x-svc-idempotency-key',
        'x-svc-event',
        'x-svc-schema-version',
      ])
        expect(headers[name], name).to.equal(first.headers[name]);
      expect(body.equals(first.body)).to.equal(true);
      const timestamp = String(headers['x-svc-timestamp']);
      expect(headers['x-svc-signature']).to.equal(
        `sha256=${createHmac('sha256', 'a secret').update(`${timestamp}.`).update(body).digest('hex')}`,
      );
    }
    const stamps = all.map(({ headers }) => Number(headers['x-svc-timestamp']));
    for (const [earlier, later] of [
      [0, 2],
      [2, 5],
    ] as const) {
      expect(stamps[later]).to.be.greaterThan(stamps[earlier]!);
      expect(all[later]!.headers['x-svc-signature']).not.to.equal(all[earlier]!.headers['x-svc-signature']);
    }
    expect(await detail(id!)).to.deep.include({ state: 'delivered', attempts: 6 });
    expect((await detail(id!)).attemptLog.map(({ number, status }) => [number, status])).to.deep.equal([
      [1, 503],
      [2, 503],
      [3, 503],
      [4, 503],
      [5, 503],
      [6, 200],
    ]);
  });

  it('Retry-After on 429 and 503 lengthens a wait up to an hour, up to a day with the long tail, and never shortens it (D45)', async () => {
    const cases: readonly (readonly [number, string, number])[] = [
      [429, '7', 7000],
      [503, '2', 2000],
      [503, '120', 120_000],
      [429, '3601', 3_600_000],
      [503, '0', 250],
      [429, 'soon', 250],
      [503, '-5', 250],
      [500, '7', 250],
      [408, '7', 250],
    ];
    receiver.answer = ({ path: at }) => {
      const [status, value] = cases[Number(at.slice(1))]!;
      return { status, headers: { 'retry-after': value } };
    };
    for (const index of cases.keys()) await subscribe({ url: `${receiver.origin}/${String(index)}` });
    const { deliveries } = await site().emit('chatbot.session_started', started('c-1'));
    for (const [index, id] of deliveries.entries()) {
      await attempted(id, 1);
      const found = await detail(id);
      const [status, value, wait] = cases[index]!;
      expect(waits(found)[0], `${String(status)} ${value}`).to.equal(wait);
    }
  });

  it('Retry-After may be a date, and up to a day for an endpoint with the long tail (D45)', async () => {
    const values = [new Date(site().host.clock.now() + 600_000).toUTCString(), '90000'];
    receiver.answer = ({ path: at }) => ({ status: 503, headers: { 'retry-after': values[Number(at.slice(1))]! } });
    for (const index of values.keys())
      await subscribe({ url: `${receiver.origin}/${String(index)}`, longTail: index === 1 });
    const { deliveries } = await site().emit('chatbot.session_started', started('c-1'));
    for (const id of deliveries) await attempted(id, 1);
    const [date, day] = await Promise.all(deliveries.map(detail));
    expect(waits(date!)[0]).to.be.within(540_000, 600_000);
    expect(waits(day!)[0]).to.equal(86_400_000);
    expect(day!.attemptLog[0]!.error).to.equal('The endpoint responded with 503 and asked for a wait of 90000 s.');
  });

  it('Retry-After shorter than the schedule leaves the second wait at a second', async () => {
    receiver.answer = { status: 503, headers: { 'retry-after': new Date(0).toUTCString() } };
    await subscribe();
    const {
      deliveries: [id],
    } = await site().emit('chatbot.session_started', started('c-1'));
    await site().endings(1);
    expect(waits(await detail(id!))).to.deep.equal([250, 1000, null]);
  });

  it('the long tail goes on at 5 s, 5 min, 30 min, 2 h, 5 h and 10 h, and fails after the ninth attempt', async () => {
    receiver.answer = 500;
    await subscribe({ longTail: true });
    const {
      deliveries: [id],
    } = await site().emit('chatbot.session_started', started('c-1'));
    for (let made = 1; made < 9; made += 1) {
      await attempted(id!, made);
      await site().makeDue();
    }
    await site().endings(1);
    const [first, second, ...tail] = waits(await detail(id!));
    expect([first, second]).to.deep.equal([250, 1000]);
    expect(tail.at(-1)).to.equal(null);
    for (const [index, seconds] of [5, 300, 1_800, 7_200, 18_000, 36_000].entries())
      expect(tail[index]! / 1000, String(seconds)).to.be.within(seconds, seconds * 1.2);
    expect(receiver.received).to.have.length(9);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).size).to.equal(1);
  });

  it('an ordered endpoint gets the events of a conversation one after the other, and other conversations meanwhile', async () => {
    const events = ['chatbot.session_started', 'chatbot.user_message_submitted', 'chatbot.response_generated'];
    await subscribe({ ordered: true, longTail: true, events });
    const isOf = (conversation: string, { body }: Received): boolean =>
      JSON.parse(body.toString()).data.conversation.id === conversation;
    const isQuickDone = (): boolean => receiver.received.filter((one) => isOf('quick', one)).length === events.length;
    // Whatever time that takes, the slow one fails until the quick one has had all of its events.
    receiver.answer = (request) => (isOf('slow', request) && !isQuickDone() ? 503 : 200);
    for (const conversation of ['slow', 'quick'])
      for (const name of events)
        await site().emit(name, { ...eventOf(name).example, conversation: { id: conversation } });
    await site().until(isQuickDone);
    await site().makeDue();
    await site().endings(6);
    const came = receiver.received
      .map(({ body }) => JSON.parse(body.toString()))
      .map(({ type, data }) => `${String(data.conversation.id)} ${String(type)}`);
    const [first, second, third] = events as [string, string, string];
    expect(came.filter((one) => one.startsWith('slow')).slice(-3)).to.deep.equal(
      [first, second, third].map((name) => `slow ${name}`),
    );
    expect(came.filter((one) => one.startsWith('slow')).slice(0, -3)).to.satisfy(
      (early: string[]) => early.length > 0 && early.every((one) => one === `slow ${first}`),
    );
    expect(came.filter((one) => one.startsWith('quick'))).to.deep.equal(events.map((name) => `quick ${name}`));
    expect(came.lastIndexOf('quick chatbot.response_generated')).to.be.lessThan(came.indexOf(`slow ${second}`));
  });

  it('an event sent at once is tried three times too, and its caller hears how it ended', async () => {
    await subscribe();
    receiver.answer = 503;
    const {
      deliveries: [id],
      queued,
      delivered,
      failed,
    } = await site().emit('task.item_completed', completed(1));
    expect({ queued, delivered, failed }).to.deep.equal({ queued: false, delivered: 0, failed: 1 });
    expect(receiver.received).to.have.length(3);
    expect(waits(await detail(id!))).to.deep.equal([250, 1000, null]);
    expect((await site().operator.deliveryLog.recentFailures()).map((one) => one.id)).to.deep.equal([id]);
  });
});
