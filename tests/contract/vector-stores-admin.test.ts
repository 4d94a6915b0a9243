import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { openSandbox, type OpenSandbox } from '../sandbox/helpers/open-sandbox.ts';
import type { TestHost } from '#testing';
import { createMigratedHost } from '../helpers/migrated.ts';

const password = 'correct horse battery';
const secret = 'sandbox';

describe('vector stores in the admin and on the command line', () => {
  let host: TestHost;
  let sandbox: OpenSandbox;
  let cookie = '';
  const hanging: Server[] = [];
  before(async () => {
    sandbox = await openSandbox();
    host = await createMigratedHost({ plugins: ['svc'] });
    await host.users.create({ login: 'ada', email: 'ada@example.com', password, role: 'administrator' });
    await host.users.create({ login: 'sam', email: 'sam@example.com', password, role: 'subscriber' });
    cookie = await signIn('ada');
  });
  after(async () => {
    for (const server of hanging) server.close();
    await host.stop();
    await sandbox.close();
  });

  async function signIn(login: string): Promise<string> {
    const answer = await host.fetch('/admin/login', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login, password }),
    });
    return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  }
  const page = async (as = cookie): Promise<{ status: number; html: string }> => {
    const answer = await host.fetch('/admin/svc/vector-stores?list=all', {
      headers: { cookie: as },
      redirect: 'manual',
    });
    return { status: answer.status, html: await answer.text() };
  };
  /** Posts as a browser without JavaScript does, and follows the way back. */
  async function post(action: string, fields: Record<string, string>): Promise<string> {
    // The shell's own forms have nonces of their own.
    const form = (await page()).html.split('<form').find((part) => part.includes('name="store"')) ?? '';
    const nonce = /name="_nonce" value="([^"]+)"/.exec(form)?.[1] ?? '';
    const body = new URLSearchParams({ _nonce: nonce, ...fields });
    const answer = await host.fetch(`/admin/svc/vector-stores?action=${action}`, {
      method: 'POST',
      headers: { cookie },
      body,
      redirect: 'manual',
    });
    const location = answer.headers.get('location');
    if (location === null) return answer.text();
    const told = answer.headers.getSetCookie().map((line) => line.split(';')[0]);
    return (
      await host.fetch(new URL(location, host.url).href.slice(host.url.length), {
        headers: { cookie: [cookie, ...told].join('; ') },
      })
    ).text();
  }
  async function run(...argv: string[]): Promise<unknown> {
    const { code, out, err } = await host.cli('svc', 'vector-store', ...argv, '--json');
    expect(code, err).to.equal(0);
    return JSON.parse(out);
  }

  it('say that the database of the site is ready, and offer the settings of every store', async () => {
    const { html } = await page();
    expect(html)
      .to.match(/Site database[^]*?Ready/)
      .and.contain('targets-local')
      .and.contain('store-pinecone')
      .and.contain('store-qdrant')
      .and.contain('store-chroma');
    expect(html).not.to.contain('targets-qdrant');
  });

  it('are for administrators alone, and every form carries a nonce that is asked for', async () => {
    expect((await page(await signIn('sam'))).status).to.equal(403);
    const answer = await host.fetch('/admin/svc/vector-stores?action=delete-target', {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ store: 'qdrant', target: 'x', confirm: 'x' }),
      redirect: 'manual',
    });
    expect(answer.status).to.equal(403);
  });

  for (const store of ['pinecone', 'qdrant', 'chroma']) {
    it(`${store}: is set up, tested, and never shows its key`, async () => {
      const url = store === 'pinecone' ? `${sandbox.url}/pinecone` : sandbox.url;
      const tested = await post('test-store', {
        store,
        'settings[url]': url,
        'settings[api_key]': 'wrong-0123456789abcdef',
      });
      expect(tested)
        .to.contain('Settings saved, but the test failed.')
        .and.contain('refused the saved credentials')
        .and.not.contain('wrong-0123456789');
      expect(await post('test-store', { store, 'settings[url]': url, 'settings[api_key]': secret })).to.match(
        /Works, no (indexes|collections), \d+ ms/,
      );
      expect(
        String(
          await host.options.get(`svc_vector_store_${store}`).then((saved) => (saved as { api_key: string }).api_key),
        ),
      ).not.to.contain(secret);
      expect(await post('save-store', { store, 'settings[url]': url, 'settings[api_key]': '' })).to.contain(
        'settings saved.',
      );
      expect(await run('test', store)).to.deep.include({ id: store, works: true, targets: 0 });
    });

    it(`${store}: gives a refused form back with a sentence at the field`, async () => {
      expect(await post('save-store', { store, 'settings[url]': 'ftp://x' }))
        .to.contain('URL must be an http or https URL')
        .and.contain('value="ftp://x"');
    });

    it(`${store}: makes, lists and deletes what it holds, the last only where it is confirmed`, async () => {
      expect(await post('create-target', { store, 'target[name]': 'B A D/', 'target[dimension]': 'many' }))
        .to.contain('Dimension must be a whole number from 1 to 65536')
        .and.contain('value="B A D/"');
      expect(
        await post('create-target', {
          store,
          'target[name]': 'shop-notes',
          'target[dimension]': '12',
          'target[metric]': 'dotproduct',
        }),
      ).to.contain('shop-notes in ');
      const { html } = await page();
      expect(html).to.match(/shop-notes<\/code>[\s\S]*>12<[\s\S]*>Dot product<[\s\S]*>0</);
      expect(
        await post('create-target', {
          store,
          'target[name]': 'shop-notes',
          'target[dimension]': '12',
          'target[metric]': 'cosine',
        }),
      ).to.contain('refused the request');
      expect(await run('targets', store)).to.deep.equal([
        { name: 'shop-notes', dimension: 12, metric: 'dotproduct', count: 0 },
      ]);
      expect(await post('delete-target', { store, target: 'shop-notes' })).to.contain('shop-notes from ');
      expect(await run('targets', store)).to.deep.equal([]);
    });

    it(`${store}: does the same on the command line`, async () => {
      expect(await run('create', store, 'cli-notes', '--dimension=4')).to.deep.include({
        name: 'cli-notes',
        dimension: 4,
        metric: 'cosine',
        created: true,
      });
      const { code, err } = await host.cli('svc', 'vector-store', 'delete', store, 'cli-notes');
      expect([code, err]).to.satisfy(([ended, said]: [number, string]) => ended === 1 && said.includes('--yes'));
      expect(await run('delete', store, 'cli-notes', '--yes')).to.deep.include({ deleted: true });
      expect(await host.cli('svc', 'vector-store', 'delete', store, 'cli-notes', '--yes')).to.include({ code: 1 });
    });
  }

  it('say why a store cannot be listed, and show the others all the same', async () => {
    await run('set', 'qdrant', '--url=http://127.0.0.1:19999');
    const { status, html } = await page();
    expect(status).to.equal(200);
    expect(html).to.contain('Qdrant failed: it refused the connection').and.contain('targets-chroma');
  });

  it('are printed without keys, and set by the flags of the operator contract', async () => {
    const printed = await run('set', 'qdrant', '--url=http://qdrant.example:6333/', '--api-key=0123456789abcdef');
    expect(printed).to.deep.include({
      id: 'qdrant',
      configured: true,
      url: 'http://qdrant.example:6333',
      api_key: 'ends in cdef',
    });
    expect(JSON.stringify(await run('list'))).not.to.contain('0123456789');
    for (const [argv, sentence] of [
      [['set', 'qdrant'], /Name the settings to change/],
      [['set', 'nobody', '--url=http://x'], /Unknown vector store 'nobody'.*pinecone, qdrant, chroma/],
      [['test', 'qdrant'], /Qdrant/],
    ] as const) {
      const { code, err } = await host.cli('svc', 'vector-store', ...argv);
      expect([code, sentence.test(err)], err).to.deep.equal([1, true]);
    }
  });

  it('are on the page before a store has answered; the browser asks for its list afterwards', async () => {
    const { requests } = await hangingStore();
    const html = await (await host.fetch('/admin/svc/vector-stores', { headers: { cookie } })).text();
    expect(html)
      .to.contain('Loading the list from Qdrant')
      .and.match(/data-load="[^"]+list(=|&#x3D;)qdrant"/);
    expect(requests()).to.equal(0);
  });

  /** Qdrant leads to a server that never answers. */
  async function hangingStore(): Promise<{ readonly requests: () => number }> {
    let count = 0;
    const server = createServer(() => {
      count += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    hanging.push(server);
    await run('set', 'qdrant', `--url=http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
    return { requests: () => count };
  }

  it('go with the service when it is uninstalled', async () => {
    await host.plugins.deactivate('svc');
    await host.plugins.uninstall('svc');
    expect(Object.keys(await host.options.list('svc_vector_store'))).to.deep.equal([]);
  });
});
