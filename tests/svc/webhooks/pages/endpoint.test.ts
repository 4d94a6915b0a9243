import { expect } from 'chai';
import { describeWebhooksAdmin } from './webhooks-admin.ts';

const page = '/admin/svc/webhooks/endpoint';
const whole = {
  name: 'CRM',
  url: 'https://93.184.216.34/hooks',
  enabled: '1',
  'events[0]': 'form.submitted',
  'events[1]': 'chatbot.fb_submitted',
  internal: '1',
  secret: 'a secret of its own',
  headers: 'Authorization: Bearer abcdefghijklmnop\r\nX-Tenant: 7\r\n',
  redirects: '4',
  standardWebhooks: '1',
  longTail: '1',
  ordered: '1',
};

describeWebhooksAdmin('the editor of endpoints', (admin) => {
  it('saves all that an endpoint has, and shows no secret of it', async () => {
    const { browser, endpoints, host } = admin();
    const after = await browser.submit(page, 'save', whole);
    expect(after.text).to.contain('CRM saved.').and.contain('2 events');
    const [endpoint] = await endpoints();
    expect(endpoint).to.deep.include({
      name: 'CRM',
      url: 'https://93.184.216.34/hooks',
      enabled: true,
      events: ['chatbot.fb_submitted', 'form.submitted'],
      internal: true,
      secret: 'ends in  own',
      headers: { Authorization: 'ends in mnop', 'X-Tenant': 'saved' },
      standard_webhooks: true,
      redirects: 4,
      long_tail: true,
      ordered: true,
    });
    const { html } = await browser.get(`${page}?id=${String(endpoint?.['id'])}`);
    expect(html)
      .to.contain('value="CRM"')
      .and.contain('Authorization: ends in mnop')
      .and.contain('X-Tenant')
      .and.not.contain('abcdefghijkl')
      .and.not.contain('a secret of its');
    expect([...html.matchAll(/value="([a-z._]+)" id="event-[^"]+" checked/g)].map(([, name]) => name)).to.have.members([
      'form.submitted',
      'chatbot.fb_submitted',
    ]);
    const stored = JSON.stringify(await host.options.list('svc_'));
    expect(stored).to.not.contain('abcdefghijkl').and.not.contain('a secret of its');
  });

  it('says on its page and on Home that an endpoint without events receives nothing', async () => {
    const { browser, endpoints } = admin();
    await browser.submit(page, 'save', { name: 'Idle', url: whole.url, enabled: '1' });
    const [endpoint] = await endpoints();
    const edited = `${page}?id=${String(endpoint?.['id'])}`;
    expect((await browser.get(edited)).text).to.contain('This endpoint receives nothing.');
    await browser.submit('/admin/svc/webhooks', 'set-enabled', { enabled: '1' });
    expect((await browser.get('/admin/')).text).to.contain('receives nothing: no event is selected');
    await browser.submit(edited, 'save', { ...whole, id: String(endpoint?.['id']) });
    expect((await browser.get(edited)).text).to.not.contain('This endpoint receives nothing.');
    expect((await browser.get('/admin/')).text).to.not.contain('receives nothing');
  });

  it('keeps secret and headers that come back empty, and removes what is ticked', async () => {
    const { browser, endpoints } = admin();
    await browser.submit(page, 'save', whole);
    const id = String((await endpoints())[0]?.['id']);
    const plain = { ...whole, id, secret: '', headers: '', redirects: '' };
    await browser.submit(`${page}?id=${id}`, 'save', { ...plain, name: 'CRM 2', internal: '0' });
    expect((await endpoints())[0]).to.deep.include({
      id,
      name: 'CRM 2',
      internal: false,
      redirects: 2,
      headers: { Authorization: 'ends in mnop', 'X-Tenant': 'saved' },
      secret: 'ends in  own',
    });
    await browser.submit(`${page}?id=${id}`, 'save', {
      ...plain,
      '_remove[]': 'secret',
      'removeHeaders[]': 'Authorization',
      headers: 'X-Tenant: 8',
    });
    expect((await endpoints())[0]).to.deep.include({ headers: { 'X-Tenant': 'saved' }, secret: null });
    expect(await endpoints()).to.have.length(1);
  });

  it('gives a refused form back as it was typed, with a sentence at each bad field and without what is secret', async () => {
    const { browser, endpoints } = admin();
    const refused = await browser.submit(page, 'save', {
      ...whole,
      name: ' ',
      url: 'ftp://example.com',
      redirects: '9',
    });
    expect(refused.status).to.equal(400);
    const sentences = [...refused.html.matchAll(/class="field-error" id="endpoint-(\w+)-error">([^<]+)</g)].map(
      ([, field, sentence]) => [field, sentence],
    );
    expect(sentences).to.deep.equal([
      ['name', 'Enter a name for the endpoint.'],
      ['url', 'Only http and https URLs are supported.'],
      ['redirects', 'Maximum redirects must be from 0 to 5.'],
    ]);
    expect(refused.html)
      .to.contain('value="ftp://example.com"')
      .and.contain('X-Tenant')
      .and.contain('id="event-form-submitted" checked')
      .and.not.contain('a secret of its')
      .and.not.contain('abcdefghijkl');
    expect(/<details class="accordion" id="advanced"( open)?/.exec(refused.html)?.[1]).to.equal(' open');
    const broken = await browser.submit(page, 'save', { ...whole, headers: 'no header at all' });
    expect(broken.text).to.contain("'no header at all' is not a valid header. Enter one per line, as Name: value.");
    const beyond = await browser.submit(page, 'save', { ...whole, headers: 'X-Owner: Marić' });
    expect(beyond.text).to.contain('The value of the header X-Owner has characters beyond Latin-1');
    for (const headers of ['X-SVC-Event: x', 'Content-Type: text/plain', 'Host: example.com', 'Bad Name: x'])
      expect((await browser.submit(page, 'save', { ...whole, headers })).status, headers).to.equal(400);
    for (const long of [{ secret: 's'.repeat(1_001) }, { headers: `X-Tenant: ${'v'.repeat(2_001)}` }]) {
      const { status, text } = await browser.submit(page, 'save', { ...whole, ...long });
      expect([status, text.includes('may have at most')], Object.keys(long)[0]).to.deep.equal([400, true]);
    }
    expect(await endpoints()).to.deep.equal([]);
  });

  for (const [url, sentence] of [
    ['http://169.254.169.254/latest/meta-data', /169\.254\.169\.254 is .*metadata/i],
    ['http://[fd00:ec2::254]/x', /metadata/i],
    ['http://0.0.0.0/x', /0\.0\.0\.0/],
    ['https://name:word@example.com/', /user name or password/],
    ['not an address', /Enter a complete URL/],
    ['javascript:alert(1)', /Only http and https/],
  ] as const) {
    it(`refuses ${url} and says why`, async () => {
      const { browser, endpoints } = admin();
      const { status, html } = await browser.submit(page, 'save', { ...whole, url, internal: '0' });
      expect([status, /id="endpoint-url-error">([^<]+)</.exec(html)?.[1]?.match(sentence)?.length]).to.deep.equal([
        400, 1,
      ]);
      expect(await endpoints()).to.deep.equal([]);
    });
  }

  it('takes a private address that was typed, an endpoint without address, and warns of what it cannot resolve or protect', async () => {
    const { browser, endpoints } = admin();
    for (const url of ['http://127.0.0.1:9/x', 'http://10.1.2.3/x', 'http://[::1]:9/', 'http://localhost:9/', ''])
      expect((await browser.submit(page, 'save', { ...whole, url, internal: '0' })).text, url).to.contain('CRM saved.');
    expect(
      (await browser.submit(page, 'save', { ...whole, url: 'https://no-such-host.invalid/', internal: '0' })).text,
    ).to.contain('The name no-such-host.invalid cannot be resolved. Nothing can be delivered until then.');
    expect(
      (await browser.submit(page, 'save', { ...whole, url: 'http://93.184.216.34/', internal: '0' })).text,
    ).to.contain('CRM saved.');
    expect(await endpoints()).to.have.length(7);
  });

  it('says of an endpoint without events that it receives nothing', async () => {
    const { browser } = admin();
    const saved = await browser.submit(page, 'save', {
      name: 'Deaf',
      url: 'https://93.184.216.34/hooks',
      enabled: '1',
    });
    expect(saved.text).to.contain('Deaf saved.').and.contain('It receives nothing until you choose an event.');
  });

  it('begins a new endpoint after another, without its secrets', async () => {
    const { browser, add } = admin();
    const { id } = await add({
      name: 'CRM',
      url: 'http://127.0.0.1:9/x',
      events: ['form.submitted'],
      redirects: 5,
      secret: 'long enough to be cut',
      headers: { 'X-Api-Key': 'abcdefghijklmnop', 'X-Tenant': '7' },
    });
    const { html, text } = await browser.get(`${page}?copy=${id}`);
    expect(html)
      .to.contain('value="CRM (copy)"')
      .and.contain('X-Tenant')
      .and.contain('name="id" value=""')
      .and.not.contain('mnop');
    expect(text).to.contain('The secret and secret headers are not copied').and.not.contain('Delete this endpoint');
  });

  it('asks before it deletes an endpoint', async () => {
    const { browser, add, endpoints } = admin();
    const { id } = await add({ name: 'CRM', url: 'http://127.0.0.1:9/x' });
    const address = `${page}?id=${id}`;
    expect((await browser.ask(address, 'delete', { id })).text).to.contain('Delete this endpoint?');
    expect(await endpoints()).to.have.length(1);
    expect((await browser.submit(address, 'delete', { id })).text)
      .to.contain('Endpoint deleted.')
      .and.contain('No endpoint yet');
    const gone = await browser.get(address);
    expect([gone.status, gone.text.includes('Webhook endpoint not found.')]).to.deep.equal([404, true]);
  });
});

describeWebhooksAdmin('a test event', (admin) => {
  const events = ['form.submitted', 'image.generated'];

  it('goes to one endpoint only, like any other event, and shows the result', async () => {
    const { browser, add, receiver, run, sendAsync } = admin();
    await run('svc', 'webhook', 'on', '--json');
    await run('svc', 'webhook', 'secret', 'set', 'a common secret', '--json');
    const { id } = await add({ name: 'One', url: receiver.url, events });
    await add({ name: 'Other', url: receiver.url, events });
    const { body } = await sendAsync('/admin/svc/webhooks', 'test-endpoint', { id });
    expect(body.notice.kind).to.equal('success');
    expect(body.notice.text).to.match(/^Delivered form\.submitted: the receiver responded with 200 in \d+ ms\.$/);
    const after = await browser.submit(`${page}?id=${id}`, 'test', { id, event: 'image.generated' });
    expect(after.text).to.contain('Delivered image.generated');
    expect(receiver.received.map(({ headers }) => headers['x-svc-event'])).to.deep.equal([
      'form.submitted',
      'image.generated',
    ]);
    const [first, second] = receiver.received.map(({ headers, body: sent }) => ({
      headers,
      envelope: JSON.parse(sent) as { meta: unknown; source: unknown },
    }));
    expect(first?.headers['x-svc-signature']).to.match(/^sha256=[0-9a-f]{64}$/);
    expect(first?.envelope).to.deep.include({
      meta: { test: true },
      source: { module: 'ai_forms', origin: 'admin_test' },
    });
    expect(first?.headers['x-svc-idempotency-key']).to.not.equal(second?.headers['x-svc-idempotency-key']);
    expect(await run('svc', 'queue', 'list', '--json')).to.have.length(2);
  });

  it('that fails says how, and what to do, and stands among the failed jobs', async () => {
    const { browser, add, receiver, run, sendAsync } = admin();
    await run('svc', 'webhook', 'on', '--json');
    const { id } = await add({ name: 'Shop', url: receiver.url, events });
    receiver.answer = 401;
    const { status, body } = await sendAsync('/admin/svc/webhooks', 'test-endpoint', { id });
    expect([status, body.notice]).to.deep.equal([
      200,
      {
        kind: 'error',
        text: 'Failed after 1 attempt: The endpoint responded with 401. The receiver requires credentials: add its custom header, or check the signing secret on both sides.',
      },
    ]);
    expect((await browser.get('/admin/svc/webhooks')).text).to.contain(
      'form.submitted to Shop The endpoint responded with 401.',
    );
  });

  it('that cannot be sent shows each reason', async () => {
    const { add, receiver, run, sendAsync, host } = admin();
    const test = async (id: string, more = {}) => (await sendAsync(page, 'test', { id, ...more })).body.notice.text;
    const off = await add({ name: 'Off', url: receiver.url, events, enabled: false });
    const empty = await add({ name: 'Empty', events: [] });
    const lost = await add({ name: 'Lost', events });
    const on = await add({ name: 'On', url: receiver.url, events });
    expect(await test(on.id)).to.equal('Not sent: Event webhooks are off. Turn them on first.');
    expect(await test(off.id)).to.equal(
      'Not sent: Event webhooks are off. Turn them on first. This endpoint is off. Turn it on first.',
    );
    await run('svc', 'webhook', 'on', '--json');
    expect(await test(empty.id)).to.equal(
      'Not sent: This endpoint is subscribed to no event. Edit the endpoint and select some.',
    );
    expect(await test(lost.id)).to.equal('Not sent: This endpoint has no URL. Edit the endpoint and enter one.');
    expect(await test(on.id, { event: 'kb.source_indexed' })).to.equal(
      'Not sent: This endpoint is not subscribed to kb.source_indexed.',
    );
    expect(await test(on.id, { event: 'nothing.known' })).to.equal('Not sent: There is no event named nothing.known.');
    expect(await test('nobody')).to.equal('There is no webhook endpoint with the id nobody.');
    const undo = host.hooks.addFilter('svc_event_webhooks_targets', () => []);
    expect(await test(on.id)).to.contain('A plugin removed this endpoint');
    undo();
    expect(receiver.received).to.deep.equal([]);
  });

  it('can be sent with the press that saves', async () => {
    const { browser, receiver, run, endpoints } = admin();
    await run('svc', 'webhook', 'on', '--json');
    const { html } = await browser.get(page);
    const [, nonce = ''] = /name="_nonce" value="([^"]+)"/.exec(html.slice(html.indexOf('<main'))) ?? [];
    const answer = await browser.post(`${page}?action=save-and-test`, { ...whole, url: receiver.url, _nonce: nonce });
    expect([answer.status, answer.location]).to.deep.equal([
      303,
      `${page}?id=${String((await endpoints())[0]?.['id'])}`,
    ]);
    expect((await browser.get(answer.location ?? '')).text).to.contain('CRM saved. Delivered chatbot.fb_submitted');
    expect(receiver.received[0]?.headers)
      .to.include({ 'x-tenant': '7', authorization: 'Bearer abcdefghijklmnop' })
      .and.have.property('webhook-signature');
  });
});
