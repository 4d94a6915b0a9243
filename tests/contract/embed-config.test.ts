import { expect } from 'chai';
import type { Bot } from '../../plugins/svc/modules/chatbots/bots/bot.ts';
import { describeWidget, shop, type Failure, type WidgetSite } from './widget-site.ts';

type Fields = Readonly<Record<string, string>>;

const ask = (site: WidgetSite, id: number | string, headers: Fields = {}): Promise<Response> =>
  site.host.fetch(`/wp-json/svc/v1/chatbots/${String(id)}/embed-config`, { headers });

async function statusOf(site: WidgetSite, bot: Bot, origin: string): Promise<number> {
  return (await ask(site, bot.id, { origin })).status;
}

describeWidget('GET /chatbots/{bot_id}/embed-config', (site) => {
  it('has the built-in texts in the language of the site, and those of the bot as they are', async () => {
    const bot = await site().bot({ texts: { send: 'Los', copy: '' } });
    const read = async () =>
      ((await (await ask(site(), bot.id)).json()) as { config: Pick<Bot, 'greeting' | 'texts' | 'consent'> }).config;
    expect(await read()).to.deep.include({ greeting: 'Hello! How can I help you?' });
    await site().host.options.update('WPLANG', 'de_DE');
    const { greeting, texts, consent } = await read();
    await site().host.options.update('WPLANG', '');
    expect(greeting).to.equal('Hallo! Wie kann ich Ihnen helfen?');
    expect(texts).to.include({ send: 'Los', stop: 'Stoppen', copy: 'Kopieren', subtitle: '' });
    expect(consent.text).to.match(/^Ihre Nachrichten werden/);
  });

  it('returns config and markup without a key (contract 2.6)', async () => {
    const bot = await site().bot({ name: '<b>Anna & Co</b>', greeting: 'Hello!' });
    const response = await ask(site(), bot.id, { origin: shop });
    expect(response.status).to.equal(200);
    const { config, html, ...more } = (await response.json()) as { config: Record<string, unknown>; html: string };
    expect(more).to.deep.equal({});
    const root = `${site().host.url}/wp-json`;
    expect(config).to.deep.include({
      botId: bot.id,
      assetUrls: { css: `${root}/svc-widget/v1/widget.css`, mainJs: `${root}/svc-widget/v1/widget.js` },
      restRoot: root,
      greeting: 'Hello!',
      keeps: true,
    });
    expect(html)
      .to.contain(`<svc-chatbot bot="${String(bot.id)}" root="${root}">`)
      .and.contain('<noscript>')
      .and.contain('&lt;b&gt;Anna &amp; Co&lt;/b&gt;')
      .and.not.contain('<b>');
    // What visitors need not know stays here.
    expect(JSON.stringify(config)).not.to.match(/instructions|provider|moderation|allowed_domains|limits|rules/);
  });

  it('is served to the site itself, to the listed domains, and to requests without an origin; others get 403 (contract 4.8, D16)', async () => {
    const bot = await site().bot({
      embed: { allowed_domains: ['example.com', 'https://shop.example.com:8443', '*.example.org'] },
    });
    for (const origin of [
      'https://example.com',
      'http://example.com',
      'https://EXAMPLE.com',
      'https://example.com.',
      'https://shop.example.com:8443',
      'https://a.example.org',
      'http://a.b.example.org',
      site().host.url,
    ]) {
      expect(await statusOf(site(), bot, origin), origin).to.equal(200);
    }
    for (const origin of [
      'https://evilexample.com',
      'https://www.example.com',
      'https://shop.example.com',
      'http://shop.example.com:8443',
      'https://example.org',
      'https://evilexample.org',
      'https://example.com.evil.test',
      'null',
      'https://example.com/',
      'https://example.com https://evil.test',
      'file://',
      'chrome-extension://example.com',
      'https://user@example.com',
    ]) {
      const response = await ask(site(), bot.id, { origin });
      expect(response.status, origin).to.equal(403);
      expect(((await response.json()) as Failure).code).to.equal('rest_svc_origin_not_allowed');
      expect(response.headers.get('access-control-allow-origin'), origin).to.equal(null);
    }
    expect((await ask(site(), bot.id)).status).to.equal(200);
    expect((await ask(site(), bot.id, { referer: 'https://example.com/page?x=1' })).status).to.equal(200);
    expect((await ask(site(), bot.id, { referer: 'https://evil.test/https://example.com' })).status).to.equal(403);
    expect(
      (await ask(site(), bot.id, { origin: 'https://evil.test', referer: 'https://example.com/' })).status,
    ).to.equal(403);
  });

  it('is for the site itself without a list, for any site with the box, and for no site with embedding off', async () => {
    const bot = await site().bot({ embed: { allowed_domains: [] } });
    expect(await statusOf(site(), bot, shop)).to.equal(403);
    expect(await statusOf(site(), bot, site().host.url)).to.equal(200);
    await site().change(bot.id, { embed: { any_site: true } });
    for (const origin of [shop, 'null', 'http://localhost:8080', 'https://xn--bcher-kva.example'])
      expect(await statusOf(site(), bot, origin), origin).to.equal(200);
    expect(await statusOf(site(), bot, 'nonsense')).to.equal(403);
    await site().change(bot.id, { embed: { enabled: false } });
    for (const headers of [{ origin: shop }, { origin: site().host.url }, {}] as Fields[])
      expect((await ask(site(), bot.id, headers)).status).to.equal(403);
  });

  it('accepts names beyond ASCII as browsers send them', async () => {
    const bot = await site().bot({ embed: { allowed_domains: ['bücher.example', '[::1]:8080'] } });
    expect(await statusOf(site(), bot, 'https://xn--bcher-kva.example')).to.equal(200);
    expect(await statusOf(site(), bot, 'http://[::1]:8080')).to.equal(200);
    expect(await statusOf(site(), bot, 'http://[::1]:8081')).to.equal(403);
  });

  it('allows browsers one origin, never with credentials, also on preflights', async () => {
    const bot = await site().bot();
    await site().host.options.update('rest_allowed_origins', ['https://partner.example.com']);
    for (const route of [
      `svc/v1/chatbots/${String(bot.id)}/embed-config`,
      `svc-widget/v1/bots/${String(bot.id)}/start`,
      `svc-widget/v1/bots/${String(bot.id)}/messages`,
    ]) {
      const preflight = (origin: string): Promise<Response> =>
        site().host.fetch(`/wp-json/${route}`, {
          method: 'OPTIONS',
          headers: {
            origin,
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type',
          },
        });
      const allowed = await preflight(shop);
      expect(allowed.status).to.equal(200);
      expect(allowed.headers.get('access-control-allow-origin')).to.equal(shop);
      expect(allowed.headers.get('access-control-allow-headers')).to.contain('Content-Type');
      expect(allowed.headers.get('access-control-max-age')).to.equal('600');
      expect(allowed.headers.get('access-control-allow-credentials')).to.equal(null);
      expect(allowed.headers.get('vary')).to.contain('Origin');
      // The site's own setting opens other routes, not these.
      for (const origin of ['https://partner.example.com', 'https://evil.test']) {
        const { headers } = await preflight(origin);
        for (const name of ['origin', 'methods', 'credentials'])
          expect(headers.get(`access-control-allow-${name}`), `${route} ${origin}`).to.equal(null);
      }
    }
    const { headers } = await ask(site(), bot.id, { origin: shop });
    expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).to.deep.equal(
      [shop, null],
    );
    expect(headers.get('vary')).to.contain('Origin').and.contain('Referer');
    const partner = await site().host.fetch('/wp-json/', { headers: { origin: 'https://partner.example.com' } });
    expect(partner.headers.get('access-control-allow-origin')).to.equal('https://partner.example.com');
  });

  it('returns errors to pages that may read them: invalid parameters, and an unknown bot', async () => {
    const bot = await site().bot();
    const bad = await site().host.fetch(`/wp-json/svc-widget/v1/bots/${String(bot.id)}/messages`, {
      method: 'POST',
      headers: { origin: shop, 'content-type': 'application/json' },
      body: '{',
    });
    expect([bad.status, bad.headers.get('access-control-allow-origin')]).to.deep.equal([400, shop]);
    const missing = await ask(site(), 4711, { origin: 'https://anywhere.example' });
    expect([missing.status, missing.headers.get('access-control-allow-origin')]).to.deep.equal([
      404,
      'https://anywhere.example',
    ]);
    expect(await missing.json()).to.deep.equal({
      code: 'rest_svc_bot_not_found',
      message: 'No chatbot has the id 4711. It may have been deleted.',
      data: { status: 404 },
    });
    await site().change(bot.id, { status: 'inactive' });
    expect((await ask(site(), bot.id, { origin: shop })).status).to.equal(404);
    expect((await ask(site(), 'x')).status).to.equal(404);
  });

  it('is passed through the filter svc_chatbot_widget_config', async () => {
    const bot = await site().bot();
    site().host.hooks.addFilter('svc_chatbot_widget_config', (answer, { id }, origin) => ({
      config: { ...answer.config, extra: [id, origin] },
      html: '<p>Mine</p>',
    }));
    expect(await (await ask(site(), bot.id, { origin: shop })).json())
      .to.deep.include({ html: '<p>Mine</p>' })
      .and.have.nested.property('config.extra')
      .that.deep.equals([bot.id, shop]);
  });
});
