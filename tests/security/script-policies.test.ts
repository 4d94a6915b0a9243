import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type SignedIn, type TestHost } from '#testing';

const attack = '<script type="module" src="/assets/admin/rest-trial.js"></script>';

describe('which scripts a page runs', () => {
  let host: TestHost;
  let administrator: SignedIn;
  before(async () => {
    host = await createTestHost({ plugins: ['svc', 'orders'] });
    administrator = await host.signIn();
    host.content.addShortcode('own', (_attributes, content) => `<script src="/assets/own.js"></script>${content}`);
  });
  after(() => host.stop());

  const read = async (path: string, init: RequestInit = {}) => {
    const response = await host.fetch(path, init);
    const policy = response.headers.get('content-security-policy') ?? '';
    const part = (name: string): string => new RegExp(`${name} ([^;]+)`).exec(policy)?.[1] ?? '';
    const text = await response.text();
    return {
      scripts: part('script-src').replace(/[\w+/=]{24}/, 'N'),
      frames: part('frame-ancestors'),
      nonce: /'nonce-([^']+)'/.exec(policy)?.[1] ?? '',
      text,
    };
  };
  const publish = async (content: string): Promise<string> => {
    const post = await host.content.posts.create({ title: 'A', content, status: 'publish' });
    return `/?p=${String(post.id)}`;
  };

  it('is its own on public pages, any of the site in the admin, and none elsewhere', async () => {
    const post = await publish('<p>Text</p>');
    const publicPaths = ['/', post, '/?s=text', '/none/', '/?p=99999', '/%E0%A4%A', '/feed/', '/assets/none.js'];
    for (const path of publicPaths) {
      const { scripts, frames, nonce } = await read(path);
      expect([scripts, frames], path).to.deep.equal(["'nonce-N'", "'self'"]);
      expect((await read(path)).nonce, 'another one for each response').not.to.equal(nonce);
    }
    const cookie = administrator.cookie;
    const pages = [
      '',
      'login',
      'forgot-password',
      'set-password?token=x',
      'users',
      'none',
      'posts/edit',
      'rest',
      'svc',
    ];
    for (const path of pages)
      for (const headers of [{ cookie }, {}]) {
        const { scripts, frames } = await read(`/admin/${path}`, { headers });
        expect([scripts, frames], path).to.deep.equal(["'self'", "'none'"]);
      }
    for (const path of ['/wp-json/', '/wp-json/none', '/wp-json/wp/v2/posts', '/wp-json/svc-widget/v1/widget.js'])
      expect((await read(path)).scripts, path).to.equal("'none'");
  });

  it('is what plugins and templates add, and not what the text of a post says', async () => {
    const path = await publish(`${attack}[own /]${attack}[own]<b>${attack}</b>[/own]`);
    const { text, nonce } = await read(path);
    const scripts = text.match(/<script[^>]*>/g) ?? [];
    expect(scripts).to.include(`<script nonce="${nonce}" src="/assets/own.js">`);
    for (const script of scripts.filter((tag) => tag.includes('rest-trial')))
      expect(script, 'existing posts keep their HTML').not.to.contain('nonce');
  });

  it('is the script of a public page of a plugin, and of what is added to the head and the end', async () => {
    const undo = [
      host.hooks.addFilter('wp_head', (html: string) => `${html}<script src="/head.js"></script>`),
      host.hooks.addFilter('wp_footer', (html: string) => `${html}<script type="module" src="/foot.js"></script>`),
    ];
    const { text, nonce } = await read(await publish('[svc_images]'));
    for (const stop of undo) stop();
    const scripts = (text.match(/<script [^>]*>/g) ?? []).filter((tag) => tag.includes('src='));
    expect(scripts.length).to.be.at.least(2);
    for (const script of scripts) expect(script).to.contain(`nonce="${nonce}"`);
  });

  it('of the admin does nothing outside of it', async () => {
    // They act on what a visitor of the site sees, or only translate.
    const elsewhere = new Set(['texts.js', 'images-visitor.js']);
    for (const folder of ['host/admin/assets', 'plugins/svc/assets'])
      for (const name of (await readdir(folder)).filter((file) => file.endsWith('.js') && !elsewhere.has(file)))
        expect(await readFile(join(folder, name), 'utf8'), name).to.contain(":root.admin')) throw");
    expect(await read('/admin/login').then(({ text }) => text)).to.contain('<html class="admin"');
    expect((await read('/')).text).to.contain('<html class="site"');
  });
});
