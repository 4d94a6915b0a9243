import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { createThrottle } from '../../../../plugins/svc/webhooks/inbox/inbox.route.ts';
import { describeHosts } from '../../../helpers/dialects.ts';
import { endOfNext, openDeliveryLog, type OpenDeliveryLog } from './open-delivery-log.ts';
import { until } from '../../../helpers/until.ts';

const page = 'svc/deliveries/inbox';

describeHosts('the inbox of the site', (dialectCase) => {
  let site: OpenDeliveryLog;
  beforeEach(async () => {
    site = await openDeliveryLog(dialectCase);
  });
  afterEach(() => site.host.stop());

  const address = async (): Promise<string> =>
    /<code data-copy-source>(http[^<]+\/inbox\/[^<]+)<\/code>/.exec((await site.page(page)).html)?.[1] ?? '';
  const badges = async (): Promise<(string | undefined)[]> =>
    [...(await site.page(page)).html.matchAll(/<summary>[^<]*<span class="badge[^>]*>([^<]*)/g)].map(
      ([, text]) => text,
    );
  const sendFromPage = async (): Promise<string> => {
    const ended = endOfNext(site.host);
    await site.post(page, 'test');
    return ended;
  };

  it('is opened by one click, with an endpoint that is subscribed to everything, however often it is clicked', async () => {
    expect((await site.page(page)).html).to.contain('Test inbox');
    for (let click = 0; click < 2; click += 1) await site.post(page, 'open').catch(() => undefined);
    const list = JSON.parse(await site.run('webhook', 'list', '--json')) as {
      readonly url: string;
      readonly events: readonly string[];
    }[];
    expect(list).to.have.length(1);
    expect(list[0]?.url).to.equal(await address());
    expect(list[0]?.url).to.match(/\/wp-json\/svc\/v1\/inbox\/[\w-]{32}$/);
    expect(list[0]?.events).to.have.length(10);
  });

  it('verifies signatures as a receiver should, and shows headers and bodies', async () => {
    await site.post(page, 'open');
    await sendFromPage();
    expect(await badges()).to.deep.equal(['Not signed']);
    await site.run('webhook', 'secret', 'set', 'of the inbox');
    const id = await sendFromPage();
    expect(await badges()).to.deep.equal(['Signature verified', 'Not signed']);
    const { html } = await site.page(page);
    expect(html)
      .to.contain('x-svc-idempotency-key')
      .and.contain('&quot;schema_version&quot;')
      .and.match(new RegExp(`deliveries/delivery\\?id(=|&#x3D;)${id}`));
    const forged = await fetch(await address(), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-svc-timestamp': '1',
        'x-svc-signature': 'sha256=00',
        authorization: 'Bearer of somebody',
      },
      body: '{"a":1}',
    });
    expect(forged.status).to.equal(200);
    expect((await badges())[0]).to.equal('Wrong signature');
    expect((await site.page(page)).html).not.to.contain('of somebody');
    expect(await site.post(page, 'clear'))
      .to.contain('3 requests deleted')
      .and.contain('No requests yet');
  });

  it('responds as chosen, so that failures and retries can be watched', async () => {
    await site.post(page, 'open');
    for (const [answer, attempts, state] of [
      ['410', 1, 'failed'],
      ['500', 3, 'failed'],
      ['slow', 1, 'delivered'],
      ['200', 1, 'delivered'],
    ] as const) {
      await site.post(page, 'respond', { response: answer });
      const id = await sendFromPage();
      const [row] = JSON.parse(
        JSON.stringify(await site.host.database.knex('svc_webhook_deliveries').where({ uuid: id })),
      ) as { state: string; attempts: number }[];
      expect(row, answer).to.include({ attempts, state });
    }
    expect(await site.post(page, 'respond', { response: '302' })).to.contain('Choose one of these responses');
  }).timeout(30_000);

  it('sends no response until the sender closes the connection, if so chosen', async () => {
    await site.post(page, 'open');
    await site.post(page, 'respond', { response: 'hang' });
    const url = await address();
    const hung = new AbortController();
    const answer = fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
      signal: hung.signal,
    }).then(
      () => 'answered',
      () => 'hung up',
    );
    // It is shown as received while the sender still waits.
    await until('an event in the inbox', async () => (await badges()).length > 0);
    hung.abort();
    expect(await answer).to.equal('hung up');
  });

  it('refuses unknown tokens and large bodies, and stores only the last hundred requests', async () => {
    await site.post(page, 'open');
    const url = await address();
    const send = async (to: string, body = '{}'): Promise<number> =>
      (await fetch(to, { method: 'POST', body, headers: { 'content-type': 'application/json' } })).status;
    expect(await send(url.replace(/[\w-]{8}$/, 'AAAAAAAA'))).to.equal(404);
    expect((await fetch(url)).status).to.equal(404);
    expect(await send(url, JSON.stringify({ long: 'x'.repeat(300_000) }))).to.equal(413);
    for (let sent = 0; sent < 110; sent += 10) await Promise.all(Array.from({ length: 10 }, () => send(url)));
    // Those that come at once do not see each other; the next one does.
    await send(url);
    const [{ count }] = (await site.host.database.knex('svc_webhook_inbox').count({ count: '*' })) as [
      { count: number | string },
    ];
    expect(Number(count)).to.equal(100);
  }).timeout(30_000);

  it('is removed with all it holds and its endpoint', async () => {
    await site.post(page, 'open');
    const url = await address();
    await sendFromPage();
    await site.post(page, 'close');
    expect(JSON.parse(await site.run('webhook', 'list', '--json'))).to.deep.equal([]);
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).to.equal(404);
    expect(await site.host.database.knex('svc_webhook_inbox')).to.deep.equal([]);
  });
});

describe('the throttle of the inbox', () => {
  it('lets a burst through, then so many a second', () => {
    const clock = createFakeClock();
    const turn = createThrottle({ clock, perSecond: 10, burst: 3 });
    expect([turn(), turn(), turn(), turn()]).to.deep.equal([0, 0, 0, 1]);
    clock.jump(100);
    expect([turn(), turn()]).to.deep.equal([0, 1]);
    clock.jump(-5000);
    expect(turn()).to.equal(1);
    clock.jump(60_000);
    expect([turn(), turn(), turn(), turn()]).to.deep.equal([0, 0, 0, 1]);
  });
});
