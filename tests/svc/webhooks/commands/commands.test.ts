import { expect } from 'chai';
import { describeWebhooksAdmin, type WebhooksAdmin } from '../pages/webhooks-admin.ts';

const completed = (id: number) =>
  JSON.stringify({ data: { task: { id: 1 }, queue_item: { id, status: 'completed' } } });

interface QueueStatus {
  readonly last_failed: readonly { readonly id: string }[];
}

/** What a command that must fail said. */
async function refusal({ host }: WebhooksAdmin, ...argv: string[]): Promise<string> {
  const { code, out, err } = await host.cli(...argv);
  expect([code, out], argv.join(' ')).to.deep.equal([1, '']);
  return err.trim();
}

describeWebhooksAdmin('the commands of event webhooks', (admin) => {
  it('switch webhooks on and off', async () => {
    const { host, run } = admin();
    expect(await host.cli('svc', 'webhook', 'on')).to.deep.equal({ code: 0, out: 'webhooks: on\n', err: '' });
    expect(await run('svc', 'webhook', 'off', '--json')).to.deep.equal({ webhooks: 'off' });
  });

  it('set, rotate and clear the secret; only rotate prints one', async () => {
    const { run, host } = admin();
    expect(await run('svc', 'webhook', 'secret', 'set', 'a secret of my own', '--json')).to.deep.equal({
      set: true,
      secret: 'ends in  own',
    });
    const { secret, previous_until: until } = (await run(
      'svc',
      'webhook',
      'secret',
      'rotate',
      '--overlap=3600',
      '--json',
    )) as { secret: string; previous_until: string };
    expect(secret).to.match(/^whsec_[\w+/]{43}=$/);
    expect(Date.parse(until) - host.clock.now()).to.be.within(3_500_000, 3_600_000);
    expect(await run('svc', 'webhook', 'secret', 'clear', '--json')).to.deep.equal({ cleared: true });
    expect(await run('svc', 'webhook', 'secret', 'rotate', '--json')).to.include({ previous_until: null });
    expect(await refusal(admin(), 'svc', 'webhook', 'secret', 'set', ' ')).to.match(
      /^Warning: .+\nError: Enter a secret or generate one\.$/,
    );
    expect(await refusal(admin(), 'svc', 'webhook', 'secret', 'rotate', '--overlap=-1')).to.match(/overlap/);
  });

  it('add, change, list and remove endpoints', async () => {
    const { add, run, endpoints, receiver } = admin();
    const added = await add({
      name: 'Shop',
      url: receiver.url,
      enabled: true,
      events: ['chatbot.feedback_submitted', 'form.submitted'],
    });
    expect(added).to.deep.include({
      name: 'Shop',
      url: receiver.url,
      enabled: true,
      events: ['chatbot.fb_submitted', 'form.submitted'],
      internal: false,
      secret: null,
    });
    const changed = await run(
      'svc',
      'webhook',
      'update',
      '--json',
      JSON.stringify({
        id: added.id,
        enabled: false,
        headers: { 'X-Key': 'abcdefghijklmnop', 'X-Tenant': '7' },
        secret: 'its own long secret',
        long_tail: true,
      }),
    );
    expect(changed).to.deep.include({
      id: added.id,
      name: 'Shop',
      enabled: false,
      headers: { 'X-Key': 'ends in mnop', 'X-Tenant': 'saved' },
      secret: 'ends in cret',
      long_tail: true,
    });
    const taken = await run(
      'svc',
      'webhook',
      'update',
      '--json',
      JSON.stringify({ id: added.id, headers: { 'X-Key': null }, secret: null }),
    );
    expect(taken).to.deep.include({ headers: { 'X-Tenant': 'saved' }, secret: null });
    expect(await endpoints()).to.deep.equal([{ ...(taken as object), paused: null }]);
    expect(await run('svc', 'webhook', 'remove', added.id, '--json')).to.deep.equal({ id: added.id, removed: true });
    expect(await refusal(admin(), 'svc', 'webhook', 'remove', added.id)).to.contain(
      'There is no webhook endpoint with the id',
    );
    expect(await endpoints()).to.deep.equal([]);
  });

  it('refuse what is not an endpoint, each with a sentence', async () => {
    const refused = (command: string, object: unknown) =>
      refusal(
        admin(),
        'svc',
        'webhook',
        command,
        '--json',
        typeof object === 'string' ? object : JSON.stringify(object),
      );
    expect(await refused('add', {})).to.equal('Error: Enter a name for the endpoint.');
    expect(await refused('add', { name: 'A', url: 'http://169.254.169.254/' })).to.match(/metadata/i);
    expect(await refused('add', { name: 'A', events: ['nothing.known'] })).to.equal(
      'Error: There is no event named nothing.known.',
    );
    expect(await refused('add', { name: 'A', colour: 'red' })).to.match(
      /^Error: colour is unknown. Use one of id, name, url/,
    );
    expect(await refused('add', { name: 'A', constructor: 'x' })).to.match(/constructor is unknown/);
    expect(await refused('add', { name: 'A', enabled: 'yes' })).to.equal('Error: enabled must be true or false.');
    expect(await refused('add', { name: 'A', id: 'mine' })).to.contain('generates the id of a new endpoint');
    expect(await refused('add', { name: 'A', redirects: 9 })).to.contain('from 0 to 5');
    expect(await refused('add', '[1]')).to.contain('--json is');
    expect(await refused('update', { name: 'A' })).to.contain('Set "id" to the endpoint');
    expect(await refused('update', { id: 'nobody', name: 'A' })).to.contain(
      'There is no webhook endpoint with the id nobody',
    );
    expect(await refusal(admin(), 'svc', 'webhook', 'add')).to.contain('Write the endpoint as JSON, for example');
  });

  it('test an endpoint, with exit code 1 when nothing arrives', async () => {
    const { add, run, receiver } = admin();
    const { id } = await add({ name: 'Shop', url: receiver.url, events: ['form.submitted', 'image.generated'] });
    expect(await refusal(admin(), 'svc', 'webhook', 'test', id)).to.equal(
      'Error: Not sent: Event webhooks are off. Turn them on first.',
    );
    await run('svc', 'webhook', 'on', '--json');
    expect(await run('svc', 'webhook', 'test', id, '--event=image.generated', '--json')).to.deep.include({
      delivered: true,
      event: 'image.generated',
      status: 200,
      attempts: 1,
      delivery_id: receiver.received[0]?.headers['x-svc-delivery-id'],
    });
    receiver.answer = 410;
    expect(await refusal(admin(), 'svc', 'webhook', 'test', id)).to.match(
      /^Error: Failed after 1 attempt: The endpoint responded with 410 Gone: .*no longer uses/,
    );
    expect(await refusal(admin(), 'svc', 'webhook', 'test', 'nobody')).to.contain('There is no webhook endpoint');
  });

  it('emit an event after its data were checked', async () => {
    const { add, run, receiver } = admin();
    await run('svc', 'webhook', 'on', '--json');
    await add({ name: 'Shop', url: receiver.url, events: ['task.item_completed'] });
    const result = await run('svc', 'event', 'emit', 'task.item_completed', '--json', completed(7));
    expect(result).to.deep.include({ event: 'task.item_completed', queued: false, delivered: 1, failed: 0 });
    expect(receiver.received[0]?.headers).to.include({
      'x-svc-event-id': (result as { id: string }).id,
      'x-svc-idempotency-key': (result as { idempotency_key: string }).idempotency_key,
    });
    const emit = (name: string, ...more: string[]) => refusal(admin(), 'svc', 'event', 'emit', name, ...more);
    expect(await emit('task.item_completed', '--json', '{"data": {"task": {"id": 1}}}')).to.match(
      /data must have required property 'queue_item'/,
    );
    expect(await emit('task.item_completed')).to.contain('Write the event as JSON');
    expect(await emit('nothing.known', '--json', '{"data": {}}')).to.equal(
      "Error: There is no event named 'nothing.known'. See svc event list.",
    );
    expect(await emit('task.item_completed', '--json', '{"data": {}, "id": 1}')).to.contain('"id" is neither');
    expect(await emit('task.item_completed', '--json', '{"data": {}, "context": {"transaction": 1}}')).to.contain(
      '"context" has no member "transaction"',
    );
    expect(
      await emit('task.item_completed', '--json', '{"data": {}, "context": {"resource": {"label": "x"}}}'),
    ).to.contain('"resource" of the context is invalid');
    expect(receiver.received).to.have.length(1);
  });

  it('emit with a context', async () => {
    const { add, run, receiver } = admin();
    await run('svc', 'webhook', 'on', '--json');
    await add({ name: 'Shop', url: receiver.url, events: ['task.item_completed'] });
    const context = {
      module: 'mine',
      origin: 'admin_mine',
      resource: { type: 'thing', id: 5, label: 'Five' },
      meta: { a: 1 },
      key: [1, 'b'],
    };
    await run(
      'svc',
      'event',
      'emit',
      'task.item_completed',
      '--json',
      JSON.stringify({ ...(JSON.parse(completed(1)) as object), context }),
    );
    expect(JSON.parse(receiver.received[0]?.body ?? '')).to.deep.include({
      source: { module: 'mine', origin: 'admin_mine' },
      resource: { type: 'thing', id: '5', label: 'Five' },
      meta: { a: 1 },
    });
  });

  it('list the events there are', async () => {
    const events = (await admin().run('svc', 'event', 'list', '--json')) as { name: string; module: string }[];
    expect(events).to.have.length(10);
    expect(events[0]).to.include({ name: 'chatbot.session_started', module: 'Chatbots', queued: true });
  });

  it('show, retry, clear and replay what is in the queue', async () => {
    const { add, run, receiver, nextFailure, host } = admin();
    await run('svc', 'webhook', 'on', '--json');
    const { id: endpoint } = await add({ name: 'Shop', url: receiver.url, events: ['task.item_completed'] });
    receiver.answer = 400;
    for (const id of [1, 2]) await run('svc', 'event', 'emit', 'task.item_completed', '--json', completed(id));
    const { last_failed: lastFailed, ...status } = (await run('svc', 'queue', 'status', '--json')) as QueueStatus;
    expect(status).to.deep.equal({
      webhooks: 'on',
      endpoints: 1,
      waiting: 0,
      oldest_seconds: 0,
      failed: 2,
      paused: [],
      held: [],
    });
    const [newest, oldest] = (await run(
      'svc',
      'queue',
      'list',
      '--state=failed',
      `--endpoint=${endpoint}`,
      '--limit=5',
      '--json',
    )) as { id: string; status: number; endpoint: string }[];
    expect(newest).to.include({ status: 400, endpoint: 'Shop', attempts: 1 });
    expect(lastFailed).to.deep.equal([newest, oldest]);
    const failed = nextFailure();
    expect(await run('svc', 'queue', 'retry', oldest?.id ?? '', '--json')).to.deep.equal({
      id: oldest?.id,
      retried: true,
    });
    await failed;
    expect(await run('svc', 'queue', 'clear', newest?.id ?? '', '--json')).to.deep.equal({
      id: newest?.id,
      cleared: true,
    });
    expect(await refusal(admin(), 'svc', 'queue', 'clear', newest?.id ?? '')).to.contain('among the recent failures');
    const cleared = (await run('svc', 'queue', 'status', '--json')) as QueueStatus;
    expect(cleared.last_failed.map(({ id }) => id)).to.deep.equal([oldest?.id]);
    expect(await refusal(admin(), 'svc', 'queue', 'retry', 'nobody')).to.contain(
      'There is no failed delivery with the id nobody',
    );
    receiver.answer = 200;
    expect(await refusal(admin(), 'svc', 'queue', 'replay')).to.contain('Choose what to replay');
    expect(await refusal(admin(), 'svc', 'queue', 'replay', '--since=yesterday')).to.contain("--since is 'yesterday'");
    const before = receiver.received.length;
    const replay = (await run('svc', 'queue', 'replay', '--since=1h', '--event=task.item_completed', '--json')) as {
      id: string;
    };
    await receiver.count(before + 2);
    expect(receiver.received.slice(before).map(({ headers }) => headers['x-svc-delivery-id'])).to.have.members([
      oldest?.id,
      newest?.id,
    ]);
    expect(((await run('svc', 'queue', 'replays', '--json')) as { id: string }[]).map(({ id }) => id)).to.deep.equal([
      replay.id,
    ]);
    expect(await refusal(admin(), 'svc', 'queue', 'stop-replay', 'nobody')).to.contain('There is no running replay');
    expect((await host.cli('svc', 'queue', 'work')).code).to.equal(0);
    receiver.answer = 400;
    for (const id of [3, 4, 5, 6, 7, 8])
      await run('svc', 'event', 'emit', 'task.item_completed', '--json', completed(id));
    expect(((await run('svc', 'queue', 'status', '--json')) as QueueStatus).last_failed).to.have.length(5);
  });
});
