import { expect } from 'chai';
import { Parser } from 'htmlparser2';
import { describeHosts } from '../helpers/dialects.ts';
import { openPages, type AdminBrowser, type PagesSite } from '../pages/pages-site.ts';

interface Form {
  readonly action: string;
  /** Every field with its value, and those that people type text into. */
  readonly fields: Readonly<Record<string, string>>;
  readonly texts: readonly string[];
}

const textTypes = new Set(['text', 'search', 'url', 'email', 'password', 'tel']);

/** The forms of a page that post. */
function formsOf(html: string): Form[] {
  const forms: { action: string; fields: Record<string, string>; texts: string[] }[] = [];
  let form: (typeof forms)[number] | undefined;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'form')
        form =
          attributes['method'] === 'post' ? { action: attributes['action'] ?? '', fields: {}, texts: [] } : undefined;
      const field = attributes['name'] ?? '';
      if (form === undefined || field === '' || (name !== 'input' && name !== 'textarea')) return;
      form.fields[field] = attributes['value'] ?? '';
      if (name === 'textarea' || textTypes.has(attributes['type'] ?? 'text')) form.texts.push(field);
    },
    onclosetag(name) {
      if (name !== 'form' || form === undefined) return;
      forms.push(form);
      form = undefined;
    },
  });
  parser.end(html);
  return forms;
}

/** Numbers beyond what a column holds, where lists and pages read numbers. */
const beyond = ['2147483648', '99999999999999999999', '999999999999999.999999999999999'].map((number) =>
  ['id', 'before', 'paged', 'page', 'user', 'bot'].map((name) => `${name}=${number}`).join('&'),
);

describeHosts('text that cannot be stored', (dialectCase) => {
  let site: PagesSite;
  let admin: AdminBrowser;

  beforeEach(async () => {
    site = await openPages(dialectCase, {}, { plugins: 'found' });
    await site.create({ login: 'root', role: 'administrator' });
    admin = await site.signIn('root');
  });
  afterEach(() => site.host.stop());

  /** Every page of the menu and those that they link to, opened once. */
  async function openAll(): Promise<ReadonlyMap<string, string>> {
    const pages = new Map<string, string>();
    const waiting = ['/admin/'];
    for (const path of waiting) {
      const { html } = await admin.get(path);
      pages.set(path, html);
      for (const [, found = ''] of html.matchAll(/href="(\/admin\/[\w/-]*)"/g))
        if (!waiting.includes(found) && !/login|logout|setup/.test(found)) waiting.push(found);
    }
    return pages;
  }

  it('and numbers beyond all columns are refused by every page and form of the admin, which names the field and shows what was typed', async () => {
    const pages = await openAll();
    expect(pages.size).to.be.greaterThan(30);
    let count = 0;
    for (const [page, opened] of pages) {
      expect((await admin.get(`${page}?s=a%00b`)).status, page).to.be.oneOf([400, 403, 404]);
      for (const query of beyond)
        expect((await admin.get(`${page}?${query}`)).status, `${page}?${query}`).to.be.below(500);
      for (const { action, fields, texts } of formsOf(opened)) {
        const [name] = texts;
        if (name === undefined || !action.startsWith('/admin/') || /action=(?:logout|delete)|\/logout/.test(action))
          continue;
        // Each field alone would test the same code a thousand times.
        const broken = Object.fromEntries(texts.map((text) => [text, 'typed\0here']));
        const { status, text, html } = await admin.post(action, { ...fields, ...broken, _question: '' });
        expect([status, text.includes(`${name} must not contain NUL characters`)], action).to.deep.equal([400, true]);
        if (!/pass|secret|key|token/i.test(texts.join())) expect(html, action).to.contain('typed\ufffdhere');
        count += texts.length;
      }
    }
    expect(count).to.be.greaterThan(100);
  }).timeout(120_000);

  it('is refused by the site, the sign-in and the credentials of programs', async () => {
    const get = async (path: string, headers = {}) => (await site.host.fetch(path, { headers })).status;
    for (const path of ['/?s=%00', '/?s=a%00b', '/?p=%00', '/feed?s=%00', '/?author=%00&feed=rss2'])
      expect(await get(path), path).to.equal(400);
    for (const path of ['/%00', '/a%00b/feed', '/admin/%00', '/admin/login?to=%00', '/admin/set-password?token=%00'])
      expect(await get(path), path).to.be.below(500);
    const form = (path: string, fields: Record<string, string>) => site.open().post(path, fields);
    for (const [path, field, shown] of [
      ['/admin/login', 'login', 'typed\ufffdhere'],
      ['/admin/login', 'password', ''],
      ['/admin/login/passkey', 'credential', ''],
      ['/admin/set-password', 'password', ''],
    ] as const) {
      const { status, html, text } = await form(path, {
        ...{ login: 'root', password: 'x', credential: '{}', challenge: 'x', token: 'x' },
        [field]: 'typed\0here',
      });
      expect(status, `${path} ${field}`).to.be.oneOf([400, 403, 404]);
      if (status === 400) expect(text).to.contain(`${field} must not contain NUL characters`);
      expect(html).to.contain(shown);
    }
    const basic = `Basic ${Buffer.from('a\0b:x').toString('base64')}`;
    expect(await get('/wp-json/wp/v2/users/me', { authorization: basic })).to.equal(400);
  });

  it('is refused at every door where its bytes are not UTF-8, instead of repaired', async () => {
    await site.host.options.update('comment_registration', false);
    const { id } = await site.host.content.posts.create({ title: 'Open', status: 'publish', commentStatus: 'open' });
    const send = async (
      path: string,
      body: string | Uint8Array<ArrayBuffer>,
      type = 'application/x-www-form-urlencoded',
    ) => {
      const headers = { 'content-type': type, accept: 'text/html' };
      const response = await site.host.fetch(path, { method: 'POST', headers, body, redirect: 'manual' });
      return { status: response.status, text: await response.text() };
    };
    for (const broken of ['a%ED%A0%80b', 'a%ffb', 'a%C3', Buffer.from([0x61, 0xed, 0xa0, 0x80]), Buffer.from([0xff])]) {
      const form = (name: string): Uint8Array<ArrayBuffer> =>
        Buffer.concat([Buffer.from(`comment_post_ID=${String(id)}&x=ä&${name}=`), Buffer.from(broken)]);
      for (const [path, name] of [
        ['/admin/login', 'login'],
        ['/post-comment', 'comment'],
        ['/wp-json/wp/v2/comments', 'content'],
      ] as const) {
        const { status, text } = await send(path, form(name));
        expect([path, status, /(?:must be|is not) valid UTF-8/.test(text)]).to.deep.equal([path, 400, true]);
      }
    }
    const basic = `Basic ${Buffer.from([0x61, 0xff, 0x3a, 0x78]).toString('base64')}`;
    expect((await site.host.fetch('/wp-json/wp/v2/users/me', { headers: { authorization: basic } })).status).to.equal(
      400,
    );
    for (const path of ['/?s=a%ED%A0%80', '/?s=%C3', '/?s=%ff%20b'])
      expect((await site.host.fetch(path)).status, path).to.be.oneOf([400, 403]);
    expect((await admin.get('/admin/posts?s=%ff')).status).to.equal(400);
    // Umlauts, incomplete escapes and U+FFFD are text.
    for (const path of ['/?s=%C3%A4', '/?s=100%', '/?s=%EF%BF%BD', '/?s=%F0%9F%92%A5'])
      expect((await site.host.fetch(path)).status, path).to.equal(200);
  });

  it('is refused by the command line, which names the flag or argument', async () => {
    const errors: string[] = [];
    const run = async (...argv: string[]): Promise<number> => {
      const { code, err } = await site.host.cli(...argv);
      errors.push(err);
      return code;
    };
    const before = await site.host.options.get('site_name');
    for (const text of ['a\0b', 'a\ud800b', '"\\u0000"'])
      expect(await run('option', 'set', 'site_name', text), JSON.stringify(text)).to.equal(1);
    expect(await run('svc', 'bot', 'create', '--name', 'a\ud800')).to.equal(1);
    expect(errors.join('\n')).to.contain('must not contain').and.to.contain('--name');
    expect(await site.host.options.get('site_name')).to.equal(before);
  });
});
