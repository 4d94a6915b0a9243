import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { parseTypedUrl } from '../../../../../plugins/svc/modules/chatbots/site-check/fetch-page.ts';
import { describeBotsAdmin, type BotsAdmin } from '../pages/bots-admin.ts';

interface Row {
  readonly check: string;
  readonly verdict: string;
  readonly text: string;
  readonly copy: string;
}

interface Shown {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly html?: string;
}

describeBotsAdmin('Checking a site', (admin) => {
  let server: Server;
  let shop: string;
  let shown: Shown;
  beforeEach(async () => {
    shown = {};
    server = createServer((_request, response) => {
      response
        .writeHead(shown.status ?? 200, { 'content-type': 'text/html; charset=utf-8', ...shown.headers })
        .end(shown.html ?? '');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    shop = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const embed = { enabled: true, allowed_domains: ['127.0.0.1'], any_site: false };
  const script = ({ host }: BotsAdmin): string => `${host.url}/wp-json/svc-widget/v1/widget.js`;
  const tag = (site: BotsAdmin, bot: number | string): string =>
    `<script async data-bot='${String(bot)}' src="${script(site)}"></script>`;

  async function check(bot: number, address = shop, ...flags: string[]): Promise<Readonly<Record<string, Row>>> {
    const { code, out, err } = await admin().host.cli('svc', 'bot', 'check', String(bot), address, ...flags, '--json');
    if (code !== 0) throw new Error(err);
    return Object.fromEntries((JSON.parse(out) as Row[]).map((row) => [row.check, row]));
  }
  const verdicts = (rows: Readonly<Record<string, Row>>): Record<string, string> =>
    Object.fromEntries(Object.values(rows).map(({ check: name, verdict }) => [name, verdict]));

  it('passes a page that shows an active chatbot correctly', async () => {
    const { id } = await admin().add({ embed });
    shown = { html: `<!doctype html><p>Hello</p>${tag(admin(), id)}` };
    expect(verdicts(await check(id))).to.deep.equal({
      reached: 'passed',
      bot: 'passed',
      origin: 'passed',
      snippet: 'passed',
      script: 'passed',
      cors: 'passed',
      mixed: 'passed',
      csp: 'passed',
    });
  });

  it('names the domain to allow for an origin that is not allowed', async () => {
    const { id } = await admin().add({ embed: { ...embed, allowed_domains: ['other.example'] } });
    shown = { html: tag(admin(), id) };
    const { origin, cors } = await check(id);
    expect([origin?.verdict, origin?.copy, cors?.verdict]).to.deep.equal(['failed', shop, 'failed']);
    const { browser } = admin();
    const path = '/admin/svc/check-site';
    const entered = { bot: String(id), url: shop, internal: '1' };
    const found = await browser.submit(`${path}?bot=${id}`, 'check', entered);
    expect(found.html).to.contain('Allow this domain').and.contain('?action&#x3D;allow');
    const allowed = await browser.submit(`${path}?bot=${id}`, 'check', entered);
    const nonce = /name="_nonce" value="([^"]+)"/.exec(allowed.html.split('action&#x3D;allow')[1] ?? '')?.[1] ?? '';
    const fixed = await browser.post(`${path}?action=allow`, { ...entered, origin: shop, _nonce: nonce });
    expect(fixed.html).to.contain('it is on the list of allowed domains').and.not.contain('Allow this domain');
    const [bot] = await admin().bots();
    expect(bot?.embed.allowed_domains).to.deep.equal(['other.example', shop]);
  });

  it('reports a chatbot that is inactive or has embedding off', async () => {
    const inactive = await admin().add({ embed, status: 'inactive' });
    shown = { html: tag(admin(), inactive.id) };
    const rows = await check(inactive.id);
    expect([
      rows['bot']?.verdict,
      rows['snippet']?.verdict,
      rows['snippet']?.text.includes('is inactive'),
    ]).to.deep.equal(['failed', 'failed', true]);
    const hidden = await admin().add({ embed: { ...embed, enabled: false } });
    expect((await check(hidden.id))['bot']?.text).to.contain('Embedding');
  });

  it('finds the script tag and offers the correct one to copy', async () => {
    const { id } = await admin().add({ embed });
    const right = `<script src="${script(admin())}" data-bot="${String(id)}" async></script>`;
    for (const [html, verdict, words] of [
      ['<p>Nothing</p>', 'failed', 'does not contain the script tag'],
      [
        `<!-- ${tag(admin(), id)} --><noscript>${tag(admin(), id)}</noscript><template>${tag(admin(), id)}</template>`,
        'failed',
        'does not contain the script tag',
      ],
      [
        `<script src="https://old.example/wp-json/svc-widget/v1/widget.js" data-bot="${String(id)}"></script>`,
        'failed',
        'https://old.example/wp-json',
      ],
      [`<script src="${script(admin())}"></script>`, 'failed', 'data-bot is missing'],
      [tag(admin(), 999), 'failed', 'Chatbot 999 does not exist'],
      [tag(admin(), 'seven'), 'failed', 'not the id of a chatbot'],
      [tag(admin(), (await admin().add({ embed })).id), 'warning', 'not'],
    ] as const) {
      shown = { html };
      const { snippet } = await check(id);
      expect([snippet?.verdict, snippet?.copy], html).to.deep.equal([verdict, right]);
      expect(snippet?.text, html).to.contain(words);
    }
    shown = { html: tag(admin(), id).replace('<script', '<script type="text/plain"') };
    expect((await check(id))['snippet']?.text).to.contain('text/plain');
    shown = { html: tag(admin(), id).repeat(2) };
    expect((await check(id))['snippet']?.text).to.contain('more than once');
    shown = {
      html: `<base href="${admin().host.url}/"><script src="wp-json/svc-widget/v1/widget.js?v=1"></script><svc-chatbot bot="${String(id)}"></svc-chatbot>`,
    };
    expect((await check(id))['snippet']?.verdict).to.equal('passed');
  });

  it('names the sources that a policy of the page lacks', async () => {
    const { id } = await admin().add({ embed });
    shown = { headers: { 'content-security-policy': "default-src 'self'" }, html: tag(admin(), id) };
    const { csp } = await check(id);
    expect([csp?.verdict, csp?.copy]).to.deep.equal([
      'failed',
      `script-src 'self' ${admin().host.url}; connect-src 'self' ${admin().host.url};`,
    ]);
  });

  it('reports a page that is missing, not HTML, redirected, or unreachable', async () => {
    const { id } = await admin().add({ embed });
    shown = { status: 404 };
    expect((await check(id))['reached']?.text).to.contain('404');
    shown = { headers: { 'content-type': 'application/pdf' } };
    expect((await check(id))['html']?.text).to.contain('application/pdf');
    shown = { status: 302, headers: { location: `${admin().host.url}/` } };
    expect((await check(id, shop.replace('127.0.0.1', 'localhost')))['reached']?.verdict).to.equal('failed');
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    const rows = await check(id);
    expect([rows['reached']?.verdict, rows['reached']?.text.includes('The connection failed')]).to.deep.equal([
      'failed',
      true,
    ]);
    expect((await check(id, 'ftp://x.example'))['address']?.verdict).to.equal('failed');
    await check(id, shop, '--strict').then(
      () => expect.fail('It did not fail.'),
      (error: Error) => expect(error.message).to.contain('The connection failed'),
    );
  });

  it('runs on its page, which says how to fix problems', async () => {
    const { id } = await admin().add({ embed: { ...embed, allowed_domains: [] } });
    shown = { html: '<p>Nothing</p>' };
    const { status, html } = await admin().browser.submit(`/admin/svc/check-site?bot=${String(id)}`, 'check', {
      bot: String(id),
      url: shop,
    });
    expect(status).to.equal(200);
    expect(html)
      .to.contain('The chatbot cannot load on this page. See how to fix it below.')
      .and.to.contain('Failed')
      .and.to.contain('Passed')
      .and.to.contain(shop);
    expect(html).not.to.match(/ style=|onclick=/);
    expect(
      (await admin().browser.post('/admin/svc/check-site?action=check', { bot: String(id), url: shop })).status,
      'without a nonce',
    ).to.equal(403);
  });

  it('offers a demo site on another origin that shows the chatbot by its script tag', async () => {
    const { id } = await admin().add({ embed: { ...embed, allowed_domains: [] } });
    const before = (await admin().browser.get(`/admin/svc/check-site?bot=${String(id)}`)).html;
    const url =
      /href="(http:\/\/127\.0\.0\.1:\d+\/\?bot(?:&#x3D;|=)\d+)"/.exec(before)?.[1]?.replaceAll('&#x3D;', '=') ?? '';
    expect(before).to.contain('may not show this chatbot yet');
    const page = await (await fetch(url)).text();
    expect(page).to.contain(`<script src="${script(admin())}" data-bot="${String(id)}" async></script>`);
    expect(verdicts(await check(id, url))['origin']).to.equal('failed');
    await admin().host.cli(
      'svc',
      'bot',
      'update',
      '--json',
      JSON.stringify({ id, embed: { allowed_domains: ['127.0.0.1'] } }),
    );
    expect((await admin().browser.get(`/admin/svc/check-site?bot=${String(id)}`)).html).not.to.contain(
      'may not show this chatbot yet',
    );
    for (const variant of ['', '&css=hostile', '&csp=strict'])
      expect(Object.values(verdicts(await check(id, url + variant))), variant).not.to.include('failed');
    expect((await check(id, `${url}&csp=closed`))['csp']?.verdict).to.equal('failed');
    const hostile = await fetch(`${url}&css=hostile`);
    expect(await hostile.text()).to.contain('/hostile.css');
    expect((await fetch(url, { method: 'POST' })).status).to.equal(405);
    expect(
      await fetch(`${new URL(url).origin}/?bot=%22%3E%3Cscript%3E`).then((response) => response.text()),
    ).not.to.contain('"><script>');
  });
});

describe('An address that is typed', () => {
  for (const [typed, read] of [
    ['shop.example', 'https://shop.example/'],
    [' https://shop.example/a?b=c ', 'https://shop.example/a?b=c'],
    ['localhost:8080/x', 'http://localhost:8080/x'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000/'],
    ['', null],
    ['ftp://shop.example', null],
    ['https://user:secret@shop.example', null],
    ['javascript:alert(1)', null],
    ['https://', null],
  ] as const) {
    it(`is read: ${JSON.stringify(typed)}`, () => {
      expect(parseTypedUrl(typed)?.href ?? null).to.equal(read);
    });
  }
});
