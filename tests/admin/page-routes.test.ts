import { expect } from 'chai';

import { RestError, type AdminActionResult, type AdminPage, type AdminRequest } from '#plugin-api';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

/** The body of a page that no test opens. */
const never = { render: async () => ({ template: 'probe/page' }) };

describe('pages of plugins in the admin', () => {
  let host: OpenAdmin;
  let browser: Browser;
  let seen: AdminRequest[];
  const target = '/admin/probe?action=save';
  const json = { Accept: 'application/json' };

  const addPage = (
    answer: () => AdminActionResult | Promise<AdminActionResult>,
    more: Partial<AdminPage> = {},
  ): void => {
    host.admin.api.addPage({
      slug: 'probe',
      title: 'Probe <script>',
      menu: 'Probe & co',
      icon: 'chat',
      render: async (request) => ({
        template: 'probe/page',
        data: { greeting: request.query['greeting'] ?? '<i>hello</i>' },
      }),
      actions: { save: async (request) => (seen.push(request), answer()) },
      ...more,
    });
  };
  const post = async (fields: Record<string, string> | string = {}, headers = {}): ReturnType<Browser['post']> => {
    const nonce = (await browser.get('/admin/probe')).nonce(target.replace('=', '&#x3D;'));
    return browser.post(
      target,
      typeof fields === 'string' ? `${fields}&_nonce=${nonce}` : { ...fields, _nonce: nonce },
      headers,
    );
  };

  beforeEach(async () => {
    host = await openAdmin();
    browser = await host.signedIn();
    seen = [];
  });
  afterEach(() => host.close());

  it('stand in the menu and in the shell, with every value escaped', async () => {
    addPage(() => ({}));
    const page = await browser.get('/admin/probe?greeting=%3Cscript%3E');
    expect(page.status).to.equal(200);
    expect(page.text)
      .to.contain('<p id="greeting">&lt;script&gt;</p>')
      .and.contain('Probe &lt;script&gt;')
      .and.contain('Probe &amp; co');
    expect(page.text).to.contain('Tea &amp; &lt;b&gt;biscuits&lt;/b&gt;').and.contain('aria-current="page"');
    expect(page.text).not.to.match(/<script>|<style|style="|\son\w+="/);
  });

  it('stand in a group that a plugin added, below breadcrumbs, under the name of the shown object', async () => {
    const undo = host.admin.api.addMenuGroup({ id: 'shop', title: 'Shop', icon: 'tag' });
    addPage(() => ({}), {
      group: 'shop',
      render: async () => ({
        template: 'probe/page',
        title: 'Tea & Co',
        trail: [{ title: 'Orders <1>', href: '/admin/orders' }],
      }),
    });
    host.admin.api.addPage({ slug: 'stock', title: 'Stock', menu: 'Stock', group: 'shop', body: async () => never });
    const { text } = await browser.get('/admin/probe');
    expect(text)
      .to.match(/<title>Tea &amp; Co · /)
      .and.contain('<h1>Tea &amp; Co</h1>');
    expect(text.replace(/\s+/g, ' '))
      .to.match(/<details class="menu-group" name="menu" open> <summary>.*?<span>Shop<\/span><\/summary>/)
      .and.contain('<li>Shop</li> <li><a href="/admin/orders">Orders &lt;1&gt;</a></li>');
    expect(() => host.admin.api.addMenuGroup({ id: 'shop', title: 'Again', icon: 'tag' })).to.throw(
      "'shop' is already",
    );
    undo();
    expect((await browser.get('/admin/probe')).text)
      .to.contain('<span>Stock</span>')
      .and.not.contain('menu-group');
  });

  it('take the theme that the browser chose, and keep it where the form came from', async () => {
    addPage(() => ({}));
    expect((await browser.get('/admin/probe')).text).to.contain('data-theme="system"');
    const chosen = await browser.post('/admin/theme', { theme: 'dark', to: '/admin/probe?x=1' });
    expect([chosen.status, chosen.headers.get('location')]).to.deep.equal([303, '/admin/probe?x=1']);
    const { text } = await browser.get('/admin/probe');
    expect(text)
      .to.contain('data-theme="dark"')
      .and.match(/value="dark"\s+aria-pressed="true"/);
    expect((await browser.post('/admin/theme', { theme: 'dark' }, { 'Sec-Fetch-Site': 'cross-site' })).status).to.equal(
      403,
    );
    const elsewhere = await browser.post('/admin/theme', { theme: '<b>', to: '//evil.example' });
    expect(elsewhere.headers.get('location')).to.equal('/admin/');
    expect(elsewhere.headers.get('set-cookie')).to.contain('svc_admin_theme=system; Path=/; Max-Age=0');
    expect((await browser.post('/admin/theme', { theme: 'light' }, json)).text).to.contain('"theme":"light"');
  });

  it('may be loaded when first opened: in the menu before that, once for all, and again after a load that failed', async () => {
    let loads = 0;
    host.admin.api.addPage({
      slug: 'late',
      title: 'Late',
      menu: 'Late',
      body: async () => {
        loads += 1;
        if (loads === 1) throw new Error('The disk is slow.');
        return {
          render: async () => ({ template: 'probe/page', data: { greeting: `load ${String(loads)}` } }),
          actions: { save: async () => ({ data: 'saved' }) },
        };
      },
    });
    expect((await browser.get('/admin/')).text).to.contain('Late');
    expect((await (await host.signedIn('reader')).get('/admin/late')).status).to.equal(403);
    expect(loads).to.equal(0);
    expect((await browser.get('/admin/late')).status).to.equal(500);
    expect(host.logged.map(({ fields }) => String((fields as { error?: unknown }).error))).to.include(
      'Error: The disk is slow.',
    );
    const [page] = await Promise.all([browser.get('/admin/late'), browser.get('/admin/late')]);
    expect(page.text).to.contain('load 2');
    const nonce = await browser.post('/admin/late?action=save', { _nonce: 'wrong' }, json);
    expect(nonce.status).to.equal(403);
    expect(loads).to.equal(2);
  });

  it('are hidden from and refused to users without the capability, actions too', async () => {
    addPage(() => ({ notice: { kind: 'success', text: 'Done.' } }));
    const reader = await host.signedIn('reader');
    expect((await reader.get('/admin/')).text).not.to.contain('Probe');
    expect((await reader.get('/admin/probe')).status).to.equal(403);
    const answer = await reader.post(target, { _nonce: 'x' }, json);
    expect(answer.status).to.equal(403);
    expect(answer.json()).to.include({ code: 'rest_forbidden' });
    expect(seen).to.deep.equal([]);
  });

  it('run no action without the nonce, with a wrong one, or with that of another page or session', async () => {
    addPage(() => ({}));
    const other = await host.signedIn();
    const othersNonce = (await other.get('/admin/probe')).nonce(target.replace('=', '&#x3D;'));
    const page = await browser.get('/admin/probe');
    const logoutNonce = page.nonce('/admin/logout');
    addPage(() => ({}), { slug: 'second' });
    const pageNonce = (await browser.get('/admin/second')).nonce('/admin/second?action&#x3D;save');
    for (const fields of [
      {},
      { _nonce: '' },
      { _nonce: 'wrong' },
      { _nonce: othersNonce },
      { _nonce: logoutNonce },
      { _nonce: pageNonce },
    ] as Record<string, string>[]) {
      expect((await browser.post(target, fields)).status).to.equal(403);
      const answer = await browser.post(target, fields, json);
      expect([answer.status, answer.json()['code']]).to.deep.equal([403, 'rest_cookie_invalid_nonce']);
    }
    expect((await browser.post(target, '_nonce[]=x')).status).to.equal(403);
    expect(seen).to.deep.equal([]);
  });

  it('take the nonce from the header too, and give the action the form without it', async () => {
    addPage(() => ({}));
    const nonce = (await browser.get('/admin/probe')).nonce(target.replace('=', '&#x3D;'));
    await browser.post(target, 'a[b]=1&a[c][]=2&a[c][]=3&d=4', { ...json, 'X-WP-Nonce': nonce });
    expect(seen[0]?.form).to.deep.equal({ a: { b: '1', c: ['2', '3'] }, d: '4' });
    await post('e=5');
    expect(seen[1]?.form).to.deep.equal({ e: '5' });
    expect(seen[1]?.user.login).to.equal('admin');
    expect(seen[1]?.id).to.equal('request-7');
  });

  it('drop names that would reach a prototype', async () => {
    addPage(() => ({}));
    await post('__proto__[admin]=1&constructor[prototype][x]=1&a[__proto__][y]=1&ok=1');
    expect(seen[0]?.form).to.deep.equal({ ok: '1' });
    expect(({} as Record<string, unknown>)['admin']).to.equal(undefined);
    expect(
      (
        await browser.post('/admin/probe?action=constructor', {
          _nonce: (await browser.get('/admin/probe')).nonce(target.replace('=', '&#x3D;')),
        })
      ).status,
    ).to.equal(404);
  });

  it('send the browser back with a notice that is shown once', async () => {
    addPage(() => ({ notice: { kind: 'success', text: 'Saved <b>it</b>.' } }));
    const answer = await post();
    expect([answer.status, answer.location]).to.deep.equal([303, '/admin/probe']);
    expect((await browser.get('/admin/probe')).text)
      .to.contain('Saved &lt;b&gt;it&lt;/b&gt;.')
      .and.contain('notice-success');
    expect((await browser.get('/admin/probe')).text).not.to.contain('Saved');
  });

  it('show no notice that nobody signed', async () => {
    addPage(() => ({}));
    const payload = Buffer.from(JSON.stringify(['success', 'Call this number'])).toString('base64url');
    for (const value of [`${payload}.AAAAAAAAAA`, payload, '.', 'x.y.z']) {
      browser.cookies.set('svc_notice', value);
      expect((await browser.get('/admin/probe')).text).not.to.contain('Call this number');
    }
  });

  it('follow a redirect below the admin root only', async () => {
    const redirects = {
      'svc/webhooks?tab=log': '/admin/svc/webhooks?tab=log',
      '/admin/svc': '/admin/svc',
      '//evil.example/x': '/admin/evil.example/x',
      'https://evil.example': '/admin/https%3A//evil.example',
    };
    for (const [redirect, location] of Object.entries(redirects)) {
      const undo = host.admin.api.addPage({
        slug: 'probe',
        title: 'Probe',
        render: async () => ({ template: 'probe/page' }),
        actions: { save: async () => ({ redirect }) },
      });
      expect((await post()).location).to.equal(location);
      expect((await post({}, json)).json()['redirect']).to.equal(location);
      undo();
    }
  });

  it('show a revealed value in the answer itself, once, and nowhere else', async () => {
    addPage(() => ({
      reveal: { label: 'REST key', value: 'sk-<single>' },
      notice: { kind: 'success', text: 'Made.' },
    }));
    const answer = await post();
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    expect(answer.text).to.contain('sk-&lt;single&gt;').and.contain('Made.').and.contain('id="greeting"');
    expect(answer.headers.getSetCookie().join()).not.to.contain('single');
    expect((await browser.get('/admin/probe')).text)
      .not.to.contain('single')
      .and.not.contain('Made.');
  });

  it('may answer a page of their own, with the status of the fault', async () => {
    addPage(() => ({ page: { template: 'probe/finish', data: { text: 'Not like this.' } }, status: 400 }));
    const answer = await post();
    expect(answer.status).to.equal(400);
    expect(answer.text).to.contain('<p id="finish">Not like this.</p>').and.contain('Sign out');
  });

  it('answer scripts in JSON with notice, reveal and data', async () => {
    addPage(() => ({
      notice: { kind: 'success', text: 'Works.' },
      reveal: { label: 'Key', value: 'k' },
      data: { models: 3 },
    }));
    const answer = await post({}, json);
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.deep.equal({
      notice: { kind: 'success', text: 'Works.' },
      reveal: { label: 'Key', value: 'k' },
      data: { models: 3 },
      redirect: null,
    });
  });

  it('answer scripts with 400 for an error notice unless the action says otherwise', async () => {
    const extra: { status?: number } = {};
    addPage(() => ({ notice: { kind: 'error', text: 'No.' }, ...extra }));
    expect((await post({}, json)).status).to.equal(400);
    extra.status = 502;
    expect((await post({}, json)).status).to.equal(502);
  });

  it('turn a thrown RestError into a notice, or into its status and code for scripts', async () => {
    addPage(() => {
      throw new RestError({ code: 'rest_busy', status: 409, message: 'Busy <now>.', data: { retry: 1 } });
    });
    expect((await post()).status).to.equal(303);
    expect((await browser.get('/admin/probe')).text)
      .to.contain('Busy &lt;now&gt;.')
      .and.contain('notice-error');
    const answer = await post({}, json);
    expect(answer.status).to.equal(409);
    expect(answer.json()).to.deep.include({
      code: 'rest_busy',
      data: { retry: 1 },
      notice: { kind: 'error', text: 'Busy <now>.' },
    });
  });

  it('keep any other error in the log and tell the browser its number', async () => {
    addPage(
      () => {
        throw new Error('password=hunter2 at /srv/app');
      },
      { render: async () => ({ template: 'probe/page' }) },
    );
    const answer = await post({}, json);
    expect(answer.status).to.equal(500);
    expect(answer.text).to.contain('request-7').and.not.contain('hunter2').and.not.contain('/srv');
    expect(host.logged.some(({ fields }) => (fields as { error?: Error }).error?.message.includes('hunter2'))).to.equal(
      true,
    );
  });

  it('fail alone: a page that throws is shown inside the menu', async () => {
    addPage(() => ({}), {
      render: async () => {
        throw new Error('secret reason');
      },
    });
    const page = await browser.get('/admin/probe');
    expect(page.status).to.equal(500);
    expect(page.text).to.contain('Sign out').and.contain('request-7').and.not.contain('secret reason');
    expect((await browser.get('/admin/')).status).to.equal(200);
  });

  it('are found under their address alone; anything else is 404 in page or JSON', async () => {
    addPage(() => ({}));
    expect((await browser.get('/admin/probe/')).status).to.equal(200);
    const missing = await browser.get('/admin/nothing<x>');
    expect(missing.status).to.equal(404);
    expect(missing.text).to.contain('This admin page does not exist').and.not.contain('<x>');
    expect((await browser.get('/admin/nothing', json)).json()).to.include({ code: 'rest_no_route' });
    expect((await browser.get('/admin/%E0%A4%A')).status).to.be.within(400, 404);
    const unknown = await browser.post('/admin/probe?action=other', {
      _nonce: (await browser.get('/admin/probe')).nonce(target.replace('=', '&#x3D;')),
    });
    expect(unknown.status).to.equal(404);
  });

  it('refuse a form above 1 MB', async () => {
    addPage(() => ({}));
    const answer = await browser.post(target, `a=${'x'.repeat(1_100_000)}`, json);
    expect([answer.status, answer.json()['code']]).to.deep.equal([413, 'rest_body_too_large']);
  });

  it('refuse a form above 64 KB of who has not signed in, and one that is compressed', async () => {
    const large = await host.browser().post('/admin/login', `login=${'x'.repeat(66_000)}`, json);
    expect([large.status, large.json()['code']]).to.deep.equal([413, 'rest_body_too_large']);
    const compressed = await host.browser().post('/admin/login', 'login=x', { ...json, 'Content-Encoding': 'gzip' });
    expect(compressed.status).to.equal(415);
    addPage(() => ({}));
    const own = await browser.post(target, `a=${'x'.repeat(100_000)}`, json);
    expect(own.json()['code']).to.equal('rest_cookie_invalid_nonce');
  });

  it("vanish with their undo, and refuse a slug that is taken or the admin's own", async () => {
    const page: AdminPage = { slug: 'probe', title: 'P', render: async () => ({ template: 'probe/page' }) };
    const undo = host.admin.api.addPage(page);
    expect(() => host.admin.api.addPage(page)).to.throw("'probe' is already registered in the admin");
    undo();
    expect((await browser.get('/admin/probe')).status).to.equal(404);
    for (const slug of ['login', 'setup/choice', '', 'plugins', '../x', 'A B'])
      expect(() => host.admin.api.addPage({ ...page, slug })).to.throw();
  });

  it('load the script and style of the plugin that their slug begins with', async () => {
    addPage(() => ({}), { script: 'settings.js', style: 'other/look.css' });
    const { text } = await browser.get('/admin/probe');
    expect(text).to.contain('src="/assets/probe/settings.js"').and.contain('href="/assets/other/look.css"');
  });

  it('show the notices of plugins to those who may see them, and leave out one that fails', async () => {
    addPage(() => ({}), { capability: 'read' });
    host.admin.api.addNotice({ show: async () => ({ kind: 'warning', text: 'Enter <a> key.', href: 'settings' }) });
    host.admin.api.addNotice({
      capability: 'read',
      pages: ['probe'],
      show: async ({ user, page }) => ({ kind: 'info', text: `${user.login} on ${page}` }),
    });
    host.admin.api.addNotice({ show: async () => null });
    host.admin.forOwner('shop').addNotice({
      show: async () => {
        throw new Error('no notice');
      },
    });
    const { text } = await browser.get('/admin/probe');
    expect(text).to.contain('Enter &lt;a&gt; key. <a href="/admin/settings">Show</a>').and.contain('admin on probe');
    expect((await browser.get('/admin/')).text)
      .to.contain('Enter &lt;a&gt; key.')
      .and.not.contain('admin on');
    const reader = await host.signedIn('reader');
    expect((await reader.get('/admin/probe')).text)
      .to.contain('reader on probe')
      .and.not.contain('key.');
    expect(host.logged.find(({ message }) => message === 'Admin notice failed')?.fields).to.include({ plugin: 'shop' });
  });

  it('show the badges of plugins, and leave out one that fails', async () => {
    host.admin.api.addBadge(async () => ({ text: 'SANDBOX', kind: 'warning' }));
    host.admin.api.addBadge(async () => null);
    host.admin.api.addBadge(async () => {
      throw new Error('no badge');
    });
    const { status, text } = await browser.get('/admin/');
    expect(status).to.equal(200);
    expect(text).to.contain('<span class="badge badge-warning">SANDBOX</span>');
  });
});
