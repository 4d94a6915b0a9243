import { expect } from 'chai';
import { describeWebhooksAdmin } from './webhooks-admin.ts';

const page = '/admin/svc/webhooks';

describeWebhooksAdmin('the page Webhooks', (admin) => {
  it('leads from nothing to the first endpoint', async () => {
    const { browser } = admin();
    const { text, html } = await browser.get(page);
    expect(text)
      .to.contain('Event webhooks are off.')
      .and.contain('No endpoint yet')
      .and.contain('Add an endpoint')
      .and.contain('No failures.');
    expect(html).to.contain('href="/admin/svc/webhooks/endpoint"');
  });

  it('switches all webhooks on and off', async () => {
    const { browser, run } = admin();
    expect((await browser.submit(page, 'set-enabled', { enabled: '1' })).text).to.contain('Event webhooks turned on.');
    expect(await run('svc', 'queue', 'status', '--json')).to.include({ webhooks: 'on' });
    expect((await browser.submit(page, 'set-enabled', { enabled: '0' })).text).to.contain(
      'Event webhooks turned off. Nothing is sent.',
    );
    expect(await run('svc', 'queue', 'status', '--json')).to.include({ webhooks: 'off' });
  });

  it('shows a generated secret once, then only how it ends', async () => {
    const { browser, host } = admin();
    await browser.submit(page, 'set-enabled', { enabled: '1' });
    expect((await browser.get(page)).text)
      .to.contain('Not set: deliveries are not signed')
      .and.contain('as POST requests');
    const shown = await browser.submit(page, 'generate-secret');
    const [secret = ''] = /whsec_[\w+/=]+/.exec(shown.text) ?? [];
    expect(Buffer.from(secret.slice(6), 'base64')).to.have.length(32);
    expect(shown.headers.get('cache-control')).to.contain('no-store');
    const after = await browser.get(page);
    expect(after.html).to.not.contain(secret);
    expect(after.text)
      .to.contain(`Set, ends in ${secret.slice(-4)}`)
      .and.contain('as signed POST requests');
    expect(JSON.stringify(await host.options.list('svc_'))).to.not.contain(secret);
  });

  it('rotates the secret with the time that is left for the old one', async () => {
    const { browser } = admin();
    await browser.submit(page, 'generate-secret');
    const shown = await browser.submit(page, 'rotate-secret', { overlap: '259200' });
    expect(shown.text)
      .to.match(/whsec_/)
      .and.contain('For 3 days, the Standard Webhooks header also carries the old signature.');
    expect((await browser.get(page)).text).to.contain('(3 days left)');
    await browser.submit(page, 'rotate-secret', { overlap: 'for ever' });
    expect((await browser.get(page)).text).to.contain('(24 hours left)');
  });

  it('takes a secret of one’s own, refuses a blank one at its field, and asks before it clears it', async () => {
    const { browser } = admin();
    const refused = await browser.submit(page, 'save-secret', { secret: '  ' });
    expect([refused.status, /id="secret-value-error">([^<]+)</.exec(refused.html)?.[1]]).to.deep.equal([
      400,
      'Enter a secret or generate one.',
    ]);
    const saved = await browser.submit(page, 'save-secret', { secret: 'a secret of my very own' });
    expect(saved.text).to.contain('Set, ends in own').and.contain('Signing secret saved.');
    expect(saved.html).to.not.contain('a secret of my very');
    expect((await browser.ask(page, 'clear-secret')).text).to.contain('Remove the signing secret?');
    expect((await browser.get(page)).text).to.contain('Set, ends in');
    expect((await browser.submit(page, 'clear-secret')).text).to.contain('Not set: deliveries are not signed');
  });

  it('stores deliveries for the configured number of days', async () => {
    const { browser } = admin();
    for (const deliveredDays of ['', 'many', '-1', '400']) {
      const refused = await browser.submit(page, 'save-log', { deliveredDays });
      expect([refused.status, refused.text.includes('Enter 0 to 365 days.')], deliveredDays).to.deep.equal([400, true]);
    }
    expect((await browser.submit(page, 'save-log', { deliveredDays: '14' })).html).to.match(
      /name="deliveredDays" value="14"/,
    );
  });

  it('lists endpoints with their settings and latest delivery', async () => {
    const { browser, add, receiver, run } = admin();
    await run('svc', 'webhook', 'on', '--json');
    const { id } = await add({
      name: 'CRM <1>',
      url: receiver.url,
      events: ['form.submitted', 'image.generated'],
      secret: 'one that is long enough',
    });
    await add({ name: 'Resting', url: 'https://93.184.216.34/hooks', events: ['form.submitted'], enabled: false });
    await add({ name: 'Deaf', url: receiver.url });
    await add({ name: 'Lost', events: ['form.submitted'] });
    const before = await browser.get(page);
    expect(before.text)
      .to.contain('CRM <1>')
      .and.contain('2 events')
      .and.contain('Own secret')
      .and.contain('No events')
      .and.contain('No URL')
      .and.contain('No recent deliveries');
    const cards = before.html.split('<article').slice(1);
    expect(cards.map((card) => card.includes('>Private network<'))).to.deep.equal([true, false, true, false]);
    expect(before.html).to.not.contain('one that is long');
    await browser.submit(page, 'test-endpoint', { id });
    expect((await browser.get(page)).text).to.match(/form\.submitted 200 in \d+ ms/);
    expect((await browser.submit(page, 'switch-endpoint', { id, enabled: '0' })).text).to.contain(
      'CRM <1> turned off. Nothing is sent to it.',
    );
    expect((await browser.submit(page, 'switch-endpoint', { id, enabled: '1' })).text).to.contain('CRM <1> turned on.');
    expect((await browser.submit(page, 'switch-endpoint', { id: 'nobody', enabled: '1' })).text).to.contain(
      'There is no webhook endpoint with the id nobody.',
    );
  });

  it('shows why an endpoint is paused, and resumes it', async () => {
    const { browser, add, host, receiver } = admin();
    const { id } = await add({ name: 'Shop', url: receiver.url, events: ['form.submitted'] });
    const now = host.clock.now();
    await host.database.knex('svc_webhook_circuits').insert({
      endpoint_id: id,
      failing_since: now - 7_200_000,
      failures: 40,
      paused_at: now - 3_600_000,
      reason: 'The endpoint responded with 503.',
      next_probe_at: now + 60_000,
      probes: 2,
    });
    expect((await browser.get(page)).text)
      .to.contain('Paused since')
      .and.contain('The endpoint responded with 503. Its events are waiting. A probe is scheduled for');
    expect((await browser.submit(page, 'resume-endpoint', { id })).text)
      .to.contain('Endpoint resumed.')
      .and.not.contain('Paused since');
    expect((await admin().sendAsync(page, 'resume-endpoint', { id })).body.notice.text).to.contain('no longer paused');
  });

  it('is for administrators alone', async () => {
    const { create, signIn } = admin();
    await create({ login: 'eve', role: 'editor' });
    const editor = await signIn('eve');
    expect((await editor.get(page)).status).to.equal(403);
    expect((await editor.get('/admin/svc/webhooks/endpoint')).status).to.equal(403);
  });
});
