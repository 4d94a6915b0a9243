import { expect } from 'chai';
import type { ServerResponse } from 'node:http';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeliveryDetail } from '../../plugins/svc/webhooks/delivery.ts';
import { tables } from '../../plugins/svc/webhooks/migrations.ts';
import type { Received, WebhookReceiver } from './webhook-receiver.ts';
import { describeSites, eventOf, started } from './webhook-site.ts';

const secretText = 'my knee hurts';
const event = 'chatbot.user_message_submitted';
const message = (conversation: string, actor: object = { type: 'guest' }) => ({
  ...started(conversation),
  actor,
  message: { id: `message of ${conversation}`, text: secretText },
});

const echo =
  (status: number, text: string) =>
  (_request?: Received, _earlier?: number) =>
  (response: ServerResponse): void => {
    response.writeHead(status);
    response.end(text);
  };

describeSites('what the delivery log stores of texts', (site) => {
  let receiver: WebhookReceiver;
  let folder = '';
  beforeEach(async () => {
    receiver = await site().receiver();
    folder = await mkdtemp(join(tmpdir(), 'svc-privacy-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const delivery = async (id: string | undefined): Promise<DeliveryDetail> => {
    const found = await site().operator.deliveryLog.get(id ?? '');
    if (found === null) throw new Error('The delivery is not in the log.');
    return found;
  };
  /** All that is stored about events, as text. */
  const stored = async (): Promise<string> => {
    const { knex } = site().host.database;
    const rows = [
      ...((await knex(tables.events)) as object[]),
      ...((await knex(tables.deliveries)) as object[]),
      ...((await knex(tables.attempts)) as object[]),
      ...((await knex('svc_webhook_inbox')) as object[]),
    ];
    return rows
      .flatMap((row) => Object.values(row))
      .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)))
      .join('\n');
  };
  const cli = async (...argv: string[]): Promise<Record<string, unknown>> => {
    const { code, out, err } = await site().host.cli(...argv, '--json');
    expect([code, err]).to.deep.equal([0, '']);
    return JSON.parse(out) as Record<string, unknown>;
  };

  it('deletes the body of an event that may not be kept after its last delivery, and keeps the record', async () => {
    const slow = await site().receiver();
    receiver.answer = echo(200, secretText);
    slow.answer = echo(400, secretText);
    for (const one of [receiver, slow]) await site().subscribe(one);
    const { deliveries } = await site().emit(event, message('one'), { keep: false });
    await site().endings(2);
    await site().until(async () => (await delivery(deliveries[0])).bodyDeleted !== null);
    expect(receiver.received[0]?.body.toString()).to.contain(secretText);
    const [sent, refused] = [await delivery(deliveries[0]), await delivery(deliveries[1])];
    expect(sent).to.deep.include({ event, state: 'delivered', attempts: 1, body: '', bodyDeleted: 'not_kept' });
    expect(refused).to.deep.include({ event, state: 'failed', attempts: 1, body: '', bodyDeleted: 'not_kept' });
    expect(sent.bodyDeletedAt).to.be.a('number');
    expect(await stored()).not.to.contain(secretText);
  });

  it('keeps the body while a delivery is open, and deletes it even if no delivery was ever queued', async () => {
    const patient = await site().receiver();
    receiver.answer = 400;
    patient.answer = 503;
    for (const one of [receiver, patient]) await site().subscribe(one);
    const undo = site().host.hooks.addFilter('svc_event_webhooks_retry_delays', () => [0, 3600]);
    const { deliveries } = await site().emit(event, message('two'), { keep: false });
    await site().endings(1);
    await site().until(async () => (await delivery(deliveries[1])).attempts === 1);
    expect(await delivery(deliveries[0])).to.deep.include({ state: 'failed', bodyDeleted: null, isTemporary: true });
    patient.answer = 200;
    await site().makeDue();
    await site().endings(2);
    await site().until(async () => (await delivery(deliveries[1])).bodyDeleted !== null);
    expect(patient.received.at(-1)?.body.toString()).to.contain(secretText);
    undo();
    const broken = site().host.hooks.addFilter('svc_event_webhooks_targets', () => {
      throw new Error('no targets');
    });
    await site().emit(event, message('three'), { keep: false });
    broken();
    await site().host.cron.run('svc_webhooks_fallback');
    expect(await stored()).not.to.contain(secretText);
  });

  it('says that a deleted body cannot be sent again', async () => {
    receiver.answer = 400;
    await site().subscribe(receiver);
    const [gone] = (await site().emit(event, message('four'), { keep: false })).deliveries;
    const [kept] = (await site().emit(event, message('five'))).deliveries;
    await site().endings(2);
    await site().until(async () => (await delivery(gone)).bodyDeleted !== null);
    const { code, err } = await site().host.cli('svc', 'queue', 'retry', gone ?? '');
    expect([code, err]).to.satisfy(([, text]: [number, string]) => code === 1 && text.includes('deleted for privacy'));
    expect(await cli('svc', 'queue', 'replay', `--ids=${gone ?? ''}`)).to.deep.include({
      total: 0,
      replayed: 0,
      without_body: 1,
      note: '1 delivery cannot be sent again: the body was deleted for privacy.',
    });
    expect(await cli('svc', 'queue', 'replay', `--ids=${gone ?? ''},${kept ?? ''}`)).to.deep.include({
      total: 1,
      replayed: 1,
      without_body: 1,
    });
    await site().endings(3);
    expect(receiver.received).to.have.length(3);
    expect(await delivery(gone)).to.deep.include({ state: 'failed', attempts: 1 });
  });

  it('erases a person: bodies at once, waiting deliveries cancelled, and a signed receipt of what was sent', async () => {
    receiver.answer = ({ body }) => echo(200, body.toString())();
    const paused = await site().receiver();
    paused.answer = 503;
    await site().subscribe(receiver);
    await site().subscribe(paused);
    const undo = site().host.hooks.addFilter('svc_event_webhooks_retry_delays', () => [0, 3600]);
    const person = { type: 'user', user_id: 77 };
    const [sent, waiting] = (await site().emit(event, message('six', person))).deliveries;
    const form = {
      ...eventOf('form.submitted').example,
      inputs: { mail: ' Eve@Example.com ' },
      response: { text: secretText },
    };
    const [byMail] = (await site().emit('form.submitted', form)).deliveries;
    const [bySession] = (await site().emit(event, message('seven'), { person: { sessionId: 'guest-7' } })).deliveries;
    const [other] = (await site().emit(event, { ...message('eight'), message: { id: 'm8', text: 'unrelated' } }))
      .deliveries;
    await site().endings(4);
    await site().until(async () => (await delivery(waiting)).attempts === 1);
    undo();
    const file = join(folder, 'receipt.json');
    const receipt = await cli('svc', 'logs', 'erase', '--user=77', '--yes', `--receipt=${file}`);
    expect(receipt).to.deep.include({ webhook_events: 1, cancelled_deliveries: 1, media: [], vectors: [] });
    expect(receipt['deliveries']).to.have.deep.members(
      [sent, waiting].map((id, index) => ({
        delivery: id,
        event,
        host: new URL(index === 0 ? receiver.url : paused.url).host,
        time: (receipt['deliveries'] as { delivery: string; time: string }[]).find((one) => one.delivery === id)?.time,
        state: index === 0 ? 'delivered' : 'failed',
      })),
    );
    expect(await delivery(sent)).to.deep.include({ state: 'delivered', attempts: 1, body: '', bodyDeleted: 'erased' });
    expect(await delivery(waiting)).to.deep.include({
      state: 'failed',
      failure: 'body_deleted',
      bodyDeleted: 'erased',
    });
    expect((await delivery(sent)).attemptLog.map(({ responseBody, status }) => [responseBody, status])).to.deep.equal([
      ['', 200],
    ]);
    expect(await cli('svc', 'logs', 'erase', '--email=eve@example.com', '--yes')).to.include({ webhook_events: 1 });
    expect(await delivery(byMail)).to.include({ bodyDeleted: 'erased' });
    expect(await cli('svc', 'logs', 'erase', '--session=guest-7', '--yes')).to.include({ webhook_events: 1 });
    expect(await delivery(bySession)).to.include({ bodyDeleted: 'erased' });
    expect(await delivery(other)).to.include({ bodyDeleted: null });
    expect(await stored()).not.to.contain(secretText);
    // Nothing about the person is sent anymore.
    const before = paused.received.length;
    await site().makeDue();
    await site().emit(event, { ...message('nine'), message: { id: 'm9', text: 'unrelated' } });
    await site().until(() => paused.received.length > before);
    expect(
      paused.received
        .slice(before)
        .map(({ body }) => body.toString())
        .join(''),
    ).not.to.contain(secretText);
    expect(await site().host.cli('svc', 'logs', 'verify', file)).to.deep.include({ code: 0 });
    await writeFile(file, (await readFile(file, 'utf8')).replace('"webhook_events":1', '"webhook_events":2'));
    expect((await site().host.cli('svc', 'logs', 'verify', file)).code).to.equal(1);
  });

  it('waits for an attempt in flight and lists it', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    receiver.answer = async (request, earlier) => {
      await held;
      return echo(200, secretText)(request, earlier);
    };
    await site().subscribe(receiver);
    const [id] = (await site().emit(event, message('ten', { type: 'user', user_id: 78 }))).deliveries;
    await receiver.first(1);
    const erasing = cli('svc', 'logs', 'erase', '--user=78', '--yes');
    await site().until(async () => (await delivery(id)).bodyDeleted === 'erased');
    release();
    expect((await erasing)['deliveries']).to.have.nested.property('[0].state', 'delivered');
    expect(await stored()).not.to.contain(secretText);
  });
});
