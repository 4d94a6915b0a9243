import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describeHosts } from '../../../helpers/dialects.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { endOfNext, openDeliveryLog, type OpenDeliveryLog } from './open-delivery-log.ts';

const run = promisify(execFile);
const event = 'chatbot.session_started';
const unescaped = (html: string): string =>
  html
    .replaceAll('&#x27;', "'")
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#x3D;', '=')
    .replaceAll('&#x60;', '`')
    .replaceAll('&amp;', '&');
/** The command under a heading of the page, as its copy button takes it. */
const command = (html: string, label: string): string =>
  unescaped(new RegExp(`aria-label="the command with ${label}"><code>([\\s\\S]*?)</code>`).exec(html)?.[1] ?? '');

describeHosts('the delivery log', (dialectCase) => {
  let site: OpenDeliveryLog;
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await startReceiver();
    site = await openDeliveryLog(dialectCase);
  });
  afterEach(async () => {
    await site.host.stop();
    await receiver.stop();
  });

  it('leads to a first delivery while there is none', async () => {
    expect((await site.page('svc/deliveries')).html)
      .to.contain('No deliveries yet')
      .and.contain('Open the inbox');
    await site.addEndpoint(receiver.url);
    expect((await site.page('svc/deliveries')).html).to.contain('Everything is ready');
  });

  it('fixes with one click what keeps an event from an endpoint', async () => {
    const endpoint = await site.addEndpoint(receiver.url, { enabled: false });
    await site.run('webhook', 'off');
    const pair = { event: 'form.submitted', endpoint };
    const path = `svc/deliveries/check?${new URLSearchParams(pair).toString()}`;
    expect((await site.page(path)).html)
      .to.contain('3 conditions not met')
      .and.contain('Subscribe now');
    const other = await site.post(path, 'subscribe', { ...pair, endpoint: 'none' });
    expect(other).to.contain('This endpoint does not exist.');
    expect(await site.post(path, 'subscribe', pair)).to.contain('is subscribed to form.submitted.');
    expect(await site.post(path, 'enable-endpoint', pair)).to.contain('1 condition not met');
    const html = await site.post(path, 'turn-on', pair);
    expect(html).to.contain('all conditions are met').and.not.contain('Subscribe now');
  });

  it('lists deliveries newest first, by filters that any address may hold, page by page', async () => {
    const endpoint = await site.addEndpoint(receiver.url);
    for (let number = 0; number < 27; number += 1) await site.send(`message ${String(number)}`);
    receiver.answer = 404;
    const refused = await site.send('refused');
    const { html } = await site.page('svc/deliveries');
    const ids = [...html.matchAll(/name="ids\[\]" value="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).to.have.length(25);
    expect(ids[0]).to.equal(refused);
    expect(html).to.contain('HTTP 404').and.contain('27 delivered, 1 failed, 0 retries.');
    const older = unescaped(/href="(\?[^"]*before[^"]*)#deliveries"/.exec(html)?.[1] ?? '');
    expect([...(await site.page(`svc/deliveries${older}`)).html.matchAll(/name="ids\[\]"/g)]).to.have.length(3);
    const count = async (query: string): Promise<number> =>
      [...(await site.page(`svc/deliveries?${query}`)).html.matchAll(/name="ids\[\]"/g)].length;
    expect(await count('state=failed')).to.equal(1);
    expect(await count(`state=failed&event=${event}&endpoint=${endpoint}&since=2020-01-01T00:00`)).to.equal(1);
    expect(await count('event=form.submitted')).to.equal(0);
    expect(await count('since=2099-01-01T00:00')).to.equal(0);
    expect(await count('state=nonsense&since=yesterday&before=x')).to.equal(25);
  }).timeout(60_000);

  it('shows the chart, and the figures for Prometheus, by endpoint', async () => {
    const endpoint = await site.addEndpoint(receiver.url);
    await site.send();
    receiver.answer = 500;
    await site.send();
    for (const span of ['day', 'week', 'month'])
      expect((await site.page(`svc/deliveries?span=${span}`)).html)
        .to.contain('1 delivered, 1 failed, 2 retries.')
        .and.contain('<svg class="chart')
        // Days and hours are written as everywhere else.
        .and.not.match(/>(One bar[^<]*)?\d{4}-\d\d-\d\d/);
    expect((await site.page('svc/deliveries?endpoint=another')).html).to.contain('0 delivered, 0 failed');
    const metrics = await (await site.host.fetch('/metrics')).text();
    for (const line of [
      `svc_webhook_delivered_total{endpoint="${endpoint}"} 1`,
      `svc_webhook_failed_total{endpoint="${endpoint}"} 1`,
      `svc_webhook_retried_total{endpoint="${endpoint}"} 2`,
      `svc_webhook_endpoint_in_flight{endpoint="${endpoint}"} 0`,
      `svc_webhook_endpoint_waiting{endpoint="${endpoint}"} 0`,
      'svc_webhook_in_flight 0',
      'svc_webhook_waiting 0',
      'svc_webhook_queue_age_seconds 0',
    ]) {
      expect(metrics).to.contain(`${line}\n`);
    }
  });

  it('shows one delivery: body, headers, signed text, attempts, responses and the reason of its failure', async () => {
    await site.run('webhook', 'secret', 'set', 'of the tests');
    await site.addEndpoint(receiver.url);
    receiver.answer = 503;
    const id = await site.send('<script>alert(1)</script>');
    const { html } = await site.page(`svc/deliveries/delivery?id=${id}`);
    expect(html).to.contain('<h1>chatbot.').and.not.contain('<script>alert');
    const sent = receiver.received.at(-1);
    expect(unescaped(html)).to.contain(`${String(sent?.headers['x-svc-timestamp'])}.${sent?.body ?? ''}`);
    for (const [name, value] of Object.entries(sent?.headers ?? {}))
      if (name.startsWith('x-svc')) expect(unescaped(html)).to.contain(String(value));
    expect(html)
      .to.contain('Attempt 1')
      .and.contain('Attempt 3')
      .and.contain('The endpoint responded with 503.')
      .and.contain('The receiver failed')
      .and.contain('x-answer');
    expect(unescaped((await site.page(`svc/deliveries/delivery?id=${id}&view=raw`)).html)).to.contain(
      `<code>${sent?.body ?? '?'}</code>`,
    );
    expect((await site.page('svc/deliveries/delivery?id=none')).status).to.equal(404);
  });

  it('shows terminal commands that send the same body with the original and with a new signature', async () => {
    await site.run('webhook', 'secret', 'set', "o'clock $HOME `id`");
    await site.addEndpoint(receiver.url, {
      headers: { Authorization: 'Bearer very-secret', 'X-Plain': 'it\'s "plain"' },
    });
    const id = await site.send('It\'s $HOME `id` \\n "x" \u2713 !! %s\\');
    const { html } = await site.page(`svc/deliveries/delivery?id=${id}`);
    expect(html).not.to.contain('very-secret').and.not.contain('plain&quot;');
    const [original] = receiver.received;
    const secrets = { AUTHORIZATION: 'Bearer very-secret', X_PLAIN: 'it\'s "plain"', SECRET: "o'clock $HOME `id`" };
    const env = { ...process.env, ...secrets };
    await run('bash', ['-c', command(html, 'the original signature')], { env });
    await run('sh', ['-c', command(html, 'a new signature')], { env });
    const [, asItWas, anew] = receiver.received;
    expect(asItWas?.body).to.equal(original?.body);
    expect(anew?.body).to.equal(original?.body);
    const { connection: _c, host: _h, ...headers } = original?.headers ?? {};
    expect(asItWas?.headers).to.include(headers);
    const verified = async (headersOf: typeof headers | undefined) =>
      (await import('node:crypto'))
        .createHmac('sha256', env.SECRET)
        .update(`${String(headersOf?.['x-svc-timestamp'])}.${original?.body ?? ''}`)
        .digest('hex');
    expect(anew?.headers['x-svc-signature']).to.equal(`sha256=${await verified(anew?.headers)}`);
  });

  it('says whether a secret made the signature, without a script, and keeps it nowhere', async () => {
    await site.run('webhook', 'secret', 'set', 'the right one 123');
    await site.addEndpoint(receiver.url);
    const id = await site.send();
    const verify = (secret: string): Promise<string> =>
      site.post(`svc/deliveries/delivery?id=${id}`, 'verify', { id, secret });
    expect(await verify('the right one 123'))
      .to.contain('Match: this secret created the signature.')
      .and.not.contain('the right one 123');
    expect(await verify(' the right one 123\n')).to.contain('without the surrounding spaces or line breaks');
    expect(await verify('the wrong one 456'))
      .to.contain('another secret created the signature')
      .and.not.contain('the wrong one 456');
    expect(site.host.logged.join('\n')).not.to.contain('the wrong one 456').and.not.contain('the right one 123');
    await site.run('webhook', 'secret', 'clear');
    const unsigned = await site.send();
    expect(
      await site.post(`svc/deliveries/delivery?id=${unsigned}`, 'verify', { id: unsigned, secret: 'x' }),
    ).to.contain('has no signature');
  });

  it('sends again what is selected, one delivery, or all since a time: same ids and bytes, new timestamps', async () => {
    await site.addEndpoint(receiver.url);
    const [first, second] = [await site.send('one'), await site.send('two')];
    const again = endOfNext(site.host);
    expect(await site.post('svc/deliveries', 'replay', { 'ids[]': [first] })).to.contain('1 delivery sent again');
    expect(await again).to.equal(first);
    expect(receiver.received[2]?.body).to.equal(receiver.received[0]?.body);
    expect(receiver.received[2]?.headers['x-svc-delivery-id']).to.equal(first);
    const one = endOfNext(site.host);
    expect(await site.post(`svc/deliveries/delivery?id=${second}`, 'replay', { id: second })).to.contain('Sent again');
    expect(await one).to.equal(second);
    expect(await site.post('svc/deliveries', 'replay-since', { since: '2020-01-01T00:00', rate: '1000' }))
      .to.contain('2 deliveries sent again')
      .and.contain('2 of 2, done');
    await receiver.count(6);
    expect(
      await site.post('svc/deliveries', 'replay-since', { since: '2020-01-01T00:00', event: 'form.submitted' }),
    ).to.contain('Nothing was sent again');
    expect(await site.post('svc/deliveries', 'replay-since', { since: 'soon' })).to.contain('Choose a start time');
    expect(await site.post('svc/deliveries', 'replay')).to.contain('Nothing is selected');
  });

  it('throttles a replay, shows how far it is, and stops it', async () => {
    await site.addEndpoint(receiver.url);
    for (let number = 0; number < 3; number += 1) await site.send(String(number));
    const again = endOfNext(site.host);
    expect(await site.post('svc/deliveries', 'replay-since', { since: '2020-01-01T00:00', rate: '1' }))
      .to.contain('Sending 3 deliveries again, 1 per second')
      .and.match(/[12] of 3/);
    await again;
    const { answer } = await site.ask('svc/deliveries', 'progress');
    const {
      replays: [replay],
    } = answer.data as { replays: [{ id: string; total: number; state: string }] };
    expect(replay).to.include({ total: 3, state: 'running' });
    expect(await site.post('svc/deliveries', 'stop-replay', { replay: replay.id }))
      .to.contain('Replay stopped')
      .and.contain(', stopped');
    expect(await site.post('svc/deliveries', 'stop-replay', { replay: replay.id })).to.contain('has already ended');
  });

  it('retries and clears failed ones, each once however often it is clicked', async () => {
    await site.addEndpoint(receiver.url);
    receiver.answer = 404;
    const id = await site.send();
    receiver.answer = 200;
    const ended = endOfNext(site.host);
    const texts = [
      await site.post('svc/deliveries', 'retry', { 'ids[]': [id] }),
      await site.post('svc/deliveries', 'retry', { 'ids[]': [id] }),
    ];
    expect(texts[0]).to.contain('Retrying 1 delivery');
    expect(texts[1]).to.contain('None of these deliveries is failed anymore');
    expect(await ended).to.equal(id);
    receiver.answer = 404;
    const other = await site.send();
    expect(await site.post(`svc/deliveries/delivery?id=${other}`, 'clear', { id: other })).to.contain(
      'Removed from the recent failures',
    );
    expect(await site.post('svc/deliveries', 'clear', { 'ids[]': [other] })).to.contain(
      'None of these deliveries is among',
    );
  });

  it('exports what the filters pick', async () => {
    await site.addEndpoint(receiver.url, { name: '=cmd()' });
    await site.send();
    const csv = await site.post('svc/deliveries', 'export', { state: 'delivered' });
    const lines = csv.trim().split('\r\n');
    expect(lines).to.have.length(2);
    expect(lines[1]).to.contain(`,"${event}",`).and.contain(',"\'=cmd()",').and.contain(',"delivered",1,200,');
    expect((await site.post('svc/deliveries', 'export', { state: 'failed' })).trim().split('\r\n')).to.have.length(1);
  });

  it('tells which condition keeps an event from an endpoint, and what to do', async () => {
    expect((await site.page('svc/deliveries/check')).html).to.contain('No endpoint yet');
    const endpoint = await site.addEndpoint(receiver.url);
    const checkDelivery = async (name: string): Promise<string> =>
      (await site.page(`svc/deliveries/check?event=${name}&endpoint=${endpoint}`)).html;
    const unmet = (html: string): string[] =>
      [...html.matchAll(/class="visually-hidden">(No|Unknown): <\/span>([^<]*)/g)].map(
        ([, word, label]) => `${String(word)}: ${String(label)}`,
      );
    expect(unmet(await checkDelivery(event))).to.deep.equal([]);
    expect(await checkDelivery(event)).to.contain('all conditions are met');
    expect(unmet(await checkDelivery('form.submitted'))).to.deep.equal([
      'No: The endpoint is subscribed to form.submitted',
    ]);
    await site.run('webhook', 'update', '--json', JSON.stringify({ id: endpoint, enabled: false, url: '' }));
    await site.run('webhook', 'off');
    site.host.hooks.addFilter('svc_event_webhooks_targets', (targets) => targets);
    const html = await checkDelivery(event);
    expect(unmet(html)).to.deep.equal([
      'No: Event webhooks are on',
      'No: The endpoint is on',
      'No: The endpoint has a URL',
      'Unknown: No plugin changes the targets',
    ]);
    expect(html).to.contain('3 conditions not met').and.contain('Turn the endpoint on.');
  });

  it('warns on every page while an endpoint is paused, shows the reason, and resumes it', async () => {
    const endpoint = await site.addEndpoint(receiver.url);
    await site.host.database.knex('svc_webhook_circuits').insert({
      endpoint_id: endpoint,
      failing_since: 1,
      failures: 40,
      paused_at: 2,
      reason: 'The endpoint responded with 503.',
      next_probe_at: 3,
      probes: 0,
    });
    expect((await site.page('')).html)
      .to.contain('WEBHOOK PAUSED')
      .and.contain('The endpoint responded with 503.');
    expect((await site.page('svc/deliveries')).html)
      .to.contain('Receiver is paused.')
      .and.contain('40 attempts');
    expect(await site.post('svc/deliveries', 'resume', { endpoint }))
      .to.contain('Endpoint resumed.')
      .and.not.contain('WEBHOOK PAUSED');
    expect(await site.post('svc/deliveries', 'resume', { endpoint })).to.contain('no longer paused');
  });

  it('is for administrators alone', async () => {
    await site.host.users.create({
      login: 'sam',
      email: 'sam@example.com',
      password: 'correct horse battery',
      role: 'subscriber',
    });
    const signIn = await site.host.fetch('/admin/login', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login: 'sam', password: 'correct horse battery' }),
    });
    const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    for (const path of ['', '/delivery', '/check', '/why-not', '/inbox'])
      expect((await site.host.fetch(`/admin/svc/deliveries${path}`, { headers: { cookie } })).status, path).to.equal(
        403,
      );
  });
});
