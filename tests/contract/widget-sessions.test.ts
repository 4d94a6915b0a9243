import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { describeWidget, shop, startWidgetSite } from './widget-site.ts';

describeWidget('sessions of the chat widget', (site) => {
  it('are an http-only cookie on the site itself, for one bot', async () => {
    const bot = await site().bot();
    const guest = site().guest(bot, { origin: site().host.url });
    const { body, headers } = await guest.start();
    expect(body.token).to.equal('');
    expect(headers.get('set-cookie')).to.match(
      new RegExp(
        `^svc_chat=[\\w-]{71}; Path=/wp-json/svc-widget/v1/bots/${String(bot.id)}; Max-Age=2592000; HttpOnly; SameSite=Lax$`,
      ),
    );
    expect((await guest.send('Hello')).status).to.equal(200);
    const again = await guest.start();
    expect(again.headers.get('set-cookie')).to.equal(null);
    expect(again.body.conversation?.id).to.equal(guest.conversation);
  });

  it('are a token in the body on other sites, where no cookie is set or read', async () => {
    const bot = await site().bot();
    const guest = site().guest(bot);
    const { body, headers } = await guest.start();
    expect(body.token).to.match(/^[\w-]{71}$/);
    expect(headers.get('set-cookie')).to.equal(null);
    const own = await site().started(bot, { origin: site().host.url });
    const across = site().guest(bot, { ...own.headers, origin: shop });
    expect((await across.post('messages', { message_id: randomUUID(), text: 'Hello' })).body.code).to.equal(
      'rest_svc_session_invalid',
    );
  });

  it('are a token in a header too, which is checked before a large body is read', async () => {
    const { id } = await site().bot();
    const { token } = (await site().guest({ id }).start()).body;
    const send = async (session: string, body: string): Promise<number> => {
      const headers = { origin: shop, 'content-type': 'application/json', 'x-svc-session': session };
      const path = `/wp-json/svc-widget/v1/bots/${String(id)}/messages`;
      return (await site().host.fetch(path, { method: 'POST', headers, body })).status;
    };
    const message = JSON.stringify({ message_id: randomUUID(), text: 'Hello' });
    const large = '{'.repeat(20_000);
    expect(await send(token, message)).to.equal(200);
    expect(await send(`${token}a`, message)).to.equal(403);
    // Broken JSON is only seen by who reads it.
    expect([await send(token, large), await send(`${token}a`, large), await send('', large)]).to.deep.equal([
      400, 403, 400,
    ]);
    const preflight = { origin: shop, 'access-control-request-method': 'POST' };
    const path = `/wp-json/svc-widget/v1/bots/${String(id)}/messages`;
    const allowed = (await site().host.fetch(path, { method: 'OPTIONS', headers: preflight })).headers;
    expect(allowed.get('access-control-allow-headers')).to.contain('X-SVC-Session');
  });

  it('end with a sentence for visitors, without ids, when the chatbot is switched off', async () => {
    const bot = await site().bot();
    const guest = await site().started(bot);
    await site().change(bot.id, { status: 'inactive' });
    const { status, body } = await guest.post('messages', { message_id: randomUUID(), text: 'Hello' });
    expect([status, body.code, body.message]).to.deep.equal([
      404,
      'rest_svc_chat_not_available',
      'This chat is not available right now.',
    ]);
    expect((await site().guest(bot).start()).status).to.equal(404);
  });

  it('are renewed in use', async () => {
    const guest = await site().started(await site().bot(), { origin: site().host.url });
    const first = guest.headers['cookie'];
    site().clock.jump(25 * 3600_000);
    guest.headers['cookie'] = first ?? '';
    expect((await guest.start()).headers.get('set-cookie')).to.match(/^svc_chat=/);
  });

  it('recognize the signed-in user on the site’s own pages, without a nonce', async () => {
    const bot = await site().bot({ instructions: 'For [username].' });
    const { cookie } = await site().user('ada');
    const guest = await site().started(bot, { origin: site().host.url, cookie });
    expect((await guest.start()).body.user).to.deep.equal({ signed_in: true, name: 'ADA', is_admin: false });
    await guest.send('Hello');
    expect(site().upstream.calls[0]?.messages[0]?.content).to.equal('For ADA.');
    // The same user in another browser finds the conversation.
    const elsewhere = await site().started(bot, { origin: site().host.url, cookie, 'user-agent': 'another' });
    expect((await elsewhere.start()).body.conversation?.id).to.equal(guest.conversation);
  });

  it('do not recognize the user on pages of other sites, nor if the browser reports one', async () => {
    const bot = await site().bot();
    const { cookie } = await site().user('root', 'administrator');
    for (const headers of [
      { origin: shop },
      {},
      { origin: site().host.url, 'sec-fetch-site': 'cross-site' },
      { origin: site().host.url, 'sec-fetch-site': 'same-site' },
      { referer: `${site().host.url}/` },
    ] as Record<string, string>[]) {
      const { body } = await site()
        .guest(bot, { ...headers, cookie })
        .start();
      expect(body.user, JSON.stringify(headers)).to.deep.equal({ signed_in: false, name: '', is_admin: false });
    }
  });

  it('end when the visitor signs in or out: a guest’s conversation is not the user’s, nor the reverse', async () => {
    const bot = await site().bot();
    const guest = await site().started(bot, { origin: site().host.url });
    await guest.send('As a guest');
    const asGuest = guest.conversation;
    const { cookie } = await site().user('ada');
    guest.headers['cookie'] = `${guest.headers['cookie'] ?? ''}; ${cookie}`;
    expect(
      (await guest.post('messages', { message_id: randomUUID(), text: 'Now as Ada', conversation: asGuest })).body.code,
    ).to.equal('rest_svc_session_invalid');
    expect((await guest.start()).body.conversation).to.equal(null);
    expect((await guest.send('As Ada', { conversation: null })).status).to.equal(200);
    expect(guest.conversation).not.to.equal(asGuest);
    guest.headers['cookie'] = (guest.headers['cookie'] ?? '').replace(cookie, '');
    expect(
      (await guest.post('messages', { message_id: randomUUID(), text: 'Me again', conversation: guest.conversation }))
        .body.code,
    ).to.equal('rest_svc_session_invalid');
  });

  it('start a new conversation on request; the earlier one stays', async () => {
    const guest = await site().started(await site().bot());
    await guest.send('One');
    const first = guest.conversation;
    expect((await guest.start({ new: true })).body.conversation).to.equal(null);
    guest.conversation = null;
    await guest.send('Two');
    expect((await guest.start()).body.conversation?.id).to.equal(guest.conversation);
    expect((await guest.start({ conversation: first })).body.conversation?.messages[0]?.content).to.equal('One');
  });

  it('accept JSON only: a form of another site sends nothing', async () => {
    const bot = await site().bot();
    const { cookie } = await site().user('ada');
    const response = await site().host.fetch(`/wp-json/svc-widget/v1/bots/${String(bot.id)}/messages`, {
      method: 'POST',
      headers: { origin: site().host.url, cookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ message_id: randomUUID(), text: 'Hello' }),
    });
    expect(response.status).to.equal(415);
  });

  it('are limited with 429 and Retry-After during a flood', async () => {
    // In a minute of which the other tests have used nothing.
    site().clock.jump(60_000);
    const bot = await site().bot();
    site().host.hooks.addFilter('svc_chatbot_burst_limits', () => ({
      starts_per_address: 3,
      sends_per_address: 5,
      sends_per_session: 2,
    }));
    const guest = site().guest(bot);
    for (let start = 0; start < 3; start += 1) expect((await guest.start()).status).to.equal(200);
    const refused = await guest.start();
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    expect((refused.body as unknown as { code: string }).code).to.equal('rest_svc_rate_limited');
    const statuses = [];
    for (let send = 0; send < 3; send += 1) statuses.push((await guest.send('Hello')).status);
    expect(statuses).to.deep.equal([200, 200, 429]);
    site().clock.jump(60_000);
    expect((await guest.start()).status).to.equal(200);
  });
});

describe('sessions of the chat widget over https', () => {
  it('are a cookie that is sent over https only', async () => {
    const site = await startWidgetSite({ env: { SITE_URL: 'https://www.example.com' } });
    try {
      const bot = await site.bot();
      const { headers } = await site.guest(bot, { origin: 'https://www.example.com' }).start();
      expect(headers.get('set-cookie')).to.match(/; HttpOnly; SameSite=Lax; Secure$/);
    } finally {
      await site.stop();
    }
  });
});
