import { expect } from 'chai';
import type { WebhookReceiver } from './webhook-receiver.ts';
import { completed, describeSites, started } from './webhook-site.ts';

const name = 'chatbot.session_started';
const errorsOf = (work: Promise<unknown>): Promise<Record<string, string>> =>
  work.then(
    () => ({}),
    (error: unknown) => (error as { data: { params: Record<string, string> } }).data.params,
  );

describeSites('who receives a webhook', (site) => {
  let receiver: WebhookReceiver;
  const operator = () => site().operator;
  const failWith = async (status: number, id: string): Promise<string> => {
    receiver.answer = status;
    const before = site().ended.length;
    const { deliveries } = await site().emit(name, started(id));
    await site().endings(before + 1);
    return deliveries[0]!;
  };
  beforeEach(async () => {
    receiver = await site().receiver();
  });

  it('all four conditions must hold: each of them alone keeps the event away', async () => {
    const { id } = await site().subscribe(receiver);
    const checkDelivery = async () =>
      (await operator().deliveryLog.checkEligibility(name, id)).slice(0, 4).map(({ met }) => met);
    const breaking = [
      [() => operator().setEnabled(false), () => operator().setEnabled(true)],
      [() => operator().updateEndpoint(id, { enabled: false }), () => operator().updateEndpoint(id, { enabled: true })],
      [() => operator().updateEndpoint(id, { url: '' }), () => operator().updateEndpoint(id, { url: receiver.url })],
      [
        () => operator().updateEndpoint(id, { events: ['form.submitted'] }),
        () => operator().updateEndpoint(id, { events: [name, 'task.item_completed'] }),
      ],
    ] as const;
    for (const [index, [undo, mend]] of breaking.entries()) {
      await undo();
      expect(await checkDelivery()).to.deep.equal([0, 1, 2, 3].map((one) => one !== index));
      for (const [event, data] of [
        [name, started('c-1')],
        ['task.item_completed', completed(1)],
      ] as const)
        expect(await site().emit(event, data)).to.deep.include({ targets: [], deliveries: [] });
      await mend();
    }
    expect((await operator().deliveryLog.list()).deliveries).to.deep.equal([]);
    expect(await checkDelivery()).to.deep.equal([true, true, true, true]);
    await site().emit(name);
    await receiver.first(1);
    expect(receiver.received).to.have.length(1);
  });

  it('feedback is subscribed to under either name and stored under one; events nobody knows are refused when saved', async () => {
    const { id, events } = await site().subscribe(receiver, {
      events: ['chatbot.feedback_submitted', 'chatbot.fb_submitted', 'form.submitted'],
    });
    expect(events).to.deep.equal(['chatbot.fb_submitted', 'form.submitted']);
    await site().emit('chatbot.fb_submitted');
    expect((await receiver.first(1))[0]?.headers['x-svc-event']).to.equal('chatbot.fb_submitted');
    expect(await errorsOf(operator().updateEndpoint(id, { events: ['form.submitted', 'form.nothing'] }))).to.deep.equal(
      { events: 'There is no event named form.nothing.' },
    );
    expect(await errorsOf(site().subscribe(receiver, { events: ['*'] }))).to.have.key('events');
    expect((await operator().settings()).endpoints.map((one) => one.events)).to.deep.equal([events]);
  });

  it('an endpoint that was moved, switched off, unsubscribed or removed between attempts: the next attempt obeys', async () => {
    const moved = await site().receiver();
    receiver.answer = { status: 503, headers: { 'retry-after': '60' } };
    const ids = await Promise.all(
      ['off', 'unsubscribed', 'removed', 'moved', 'empty'].map(
        async (one) => (await site().subscribe(receiver, { name: one })).id,
      ),
    );
    const { deliveries } = await site().emit(name);
    await site().until(async () =>
      (await operator().deliveryLog.list()).deliveries.every(
        ({ attempts, state }) => attempts === 1 && state === 'pending',
      ),
    );
    await operator().updateEndpoint(ids[0]!, { enabled: false });
    await operator().updateEndpoint(ids[1]!, { events: [] });
    await operator().removeEndpoint(ids[2]!);
    await operator().updateEndpoint(ids[3]!, { url: moved.url });
    await operator().updateEndpoint(ids[4]!, { url: '' });
    await site().makeDue(ids);
    await site().endings(5);
    expect(receiver.received).to.have.length(5);
    expect(moved.received).to.have.length(1);
    const byEndpoint = new Map((await operator().deliveryLog.list()).deliveries.map((one) => [one.endpointName, one]));
    expect(byEndpoint.get('moved')).to.deep.include({ state: 'delivered', attempts: 2 });
    expect(moved.received[0]?.headers['x-svc-delivery-id']).to.be.oneOf([...deliveries]);
    for (const [one, reason] of [
      ['off', 'turned off'],
      ['unsubscribed', 'no longer subscribed'],
      ['removed', 'removed'],
      ['empty', 'no URL'],
    ] as const) {
      expect(byEndpoint.get(one), one).to.deep.include({ state: 'failed', failure: 'stopped', attempts: 1 });
      expect(byEndpoint.get(one)?.error).to.include(reason);
    }
  });

  it('the panel shows the five newest failures; Retry and Clear count once under ten clicks at the same time', async () => {
    await site().subscribe(receiver);
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) ids.push(await failWith(404, `c-${String(index)}`));
    expect((await operator().deliveryLog.recentFailures()).map(({ id }) => id)).to.deep.equal(ids.slice(2).reverse());
    const [, , third, fourth] = ids as [string, string, string, string];
    receiver.forget();
    receiver.answer = 200;
    const clicks = await Promise.all(Array.from({ length: 10 }, () => operator().deliveryLog.retry(third)));
    expect(clicks.filter(Boolean)).to.have.length(1);
    await site().endings(8);
    expect(receiver.received.map(({ headers }) => headers['x-svc-delivery-id'])).to.deep.equal([third]);
    expect(await operator().deliveryLog.get(third)).to.deep.include({ state: 'delivered', attempts: 2 });
    const clears = await Promise.all(Array.from({ length: 10 }, () => operator().deliveryLog.clear(fourth)));
    expect(clears.filter(Boolean)).to.have.length(1);
    expect((await operator().deliveryLog.recentFailures()).map(({ id }) => id)).to.deep.equal([
      ids[6],
      ids[5],
      ids[4],
      ids[1],
      ids[0],
    ]);
    expect(await operator().deliveryLog.get(fourth)).to.deep.include({ state: 'failed' });
    const mixed = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        index % 2 === 0 ? operator().deliveryLog.retry(ids[6]!) : operator().deliveryLog.clear(ids[6]!),
      ),
    );
    expect(mixed.filter(Boolean).length).to.be.within(1, 2);
    expect(receiver.received.length).to.be.at.most(2);
  });

  it('events sent at once go to all endpoints in parallel, and are recorded; those of the admin and by hand too', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => site().receiver()));
    let arrived = 0;
    let open: () => void = () => undefined;
    const all = new Promise<void>((resolve) => (open = resolve));
    for (const other of others) {
      await site().subscribe(other);
      // Nobody answers before everybody has been asked.
      other.answer = async () => {
        arrived += 1;
        if (arrived === others.length) open();
        await all;
        return 200;
      };
    }
    expect(await site().emit('task.item_completed')).to.deep.include({ queued: false, delivered: 4, failed: 0 });
    for (const other of others) other.answer = 200;
    for (const [event, origin] of [
      ['kb.source_indexed', 'automated_task_indexing'],
      ['image.generated', 'admin_image_generator'],
      ['content.generated', 'manual_content_writer'],
    ] as const)
      expect(await site().emit(event, undefined, { origin }), event).to.deep.include({ queued: false, delivered: 4 });
    for (const [event, origin] of [
      ['image.generated', 'automated_task_images'],
      ['content.generated', 'direct_stream'],
      ['form.submitted', 'frontend_submission_completed'],
    ] as const)
      expect(await site().emit(event, undefined, { origin }), event).to.deep.include({ queued: true, delivered: 0 });
    await site().endings(28);
    const { deliveries } = await operator().deliveryLog.list({}, { limit: 200 });
    expect(deliveries).to.have.length(28);
    expect(deliveries.every(({ state, attempts }) => state === 'delivered' && attempts === 1)).to.equal(true);
  });
});
