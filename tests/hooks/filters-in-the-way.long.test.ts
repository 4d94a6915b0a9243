import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createTestHost, type SignedIn, type TestHost } from '#testing';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

/** Names of the filters in the reference. */
const filters = [
  ...readFileSync(new URL('../../host/plugin-api/HOOKS.md', import.meta.url), 'utf8').matchAll(
    /^### `(.+)`\n\nFilter/gm,
  ),
].map(([, name = '']) => name);

/** What must open whatever a plugin throws: where it is deactivated, and what a visitor asks for most. */
const paths = ['/admin/plugins', '/wp-json/wp/v2/posts', '/'];

/** Those that let a request in, or with which plugins hide: a mistake refuses the request. */
const refusing: Readonly<Record<string, readonly string[]>> = {
  '/wp-json/wp/v2/posts': [
    ...['rest_authentication_errors', 'rest_pre_dispatch', 'rest_request_before_callbacks', 'rest_dispatch_request'],
    ...['rest_request_after_callbacks', 'rest_post_dispatch', 'rest_pre_serve_request'],
  ],
  '/': ['pre_get_posts'],
};

describe('a plugin with a callback that throws on one filter', () => {
  let folders: PluginFolders;
  let host: TestHost;
  let browser: SignedIn;
  before(async () => {
    folders = await createPluginFolders();
    await folders.write('thrower', {
      files: {
        'index.js': `export default { register({ hooks }) {
          for (const name of ${JSON.stringify(filters)})
            hooks.addFilter(name, (value) => {
              if (globalThis.throwingFilter === name) throw new Error('thrown by ' + name);
              return value;
            });
        } };`,
      },
    });
    host = await createTestHost({ plugins: ['svc', 'thrower'], pluginDirs: [folders.directory] });
    browser = await host.signIn();
    await host.content.posts.create({ title: 'Hello', status: 'publish', content: 'Hi' });
  });
  afterEach(() => Reflect.deleteProperty(globalThis, 'throwingFilter'));
  after(async () => {
    await host.stop();
    await folders.remove();
  });

  for (const name of filters)
    it(`opens the page Plugins, a REST route and the front page: ${name}`, async () => {
      Object.assign(globalThis, { throwingFilter: name });
      const found = host.logged.length;
      for (const path of paths) {
        const { status } = await host.fetch(path, { headers: path === '/' ? {} : { cookie: browser.cookie } });
        expect([path, status]).to.deep.equal([path, refusing[path]?.includes(name) ? 500 : 200]);
      }
      const lines = host.logged.slice(found).filter((line) => line.includes(`thrown by ${name}`));
      if (lines.length === 0) return;
      expect(lines.join('\n')).to.match(/"plugin":"thrower"|"owner":"thrower"/);
      const status = host.plugins.list().find(({ slug }) => slug === 'thrower');
      expect(status?.lastError?.message).to.equal(`thrown by ${name}`);
    });

  it('requires two-step sign-in, but for who deactivates the plugin and has what the site asks', async () => {
    Object.assign(globalThis, { throwingFilter: 'two_factor_required' });
    const visit = async (path: string): Promise<unknown> => {
      const { status, headers } = await host.fetch(path, { headers: { cookie: browser.cookie }, redirect: 'manual' });
      return [status, headers.get('location')];
    };
    expect(await visit('/admin/settings')).to.deep.equal([302, '/admin/profile/two-step']);
    expect(await visit('/admin/plugins')).to.deep.equal([200, null]);
    await host.options.update('two_factor_roles', ['administrator']);
    expect(await visit('/admin/plugins')).to.deep.equal([302, '/admin/profile/two-step']);
    await host.options.update('two_factor_roles', []);
    Reflect.deleteProperty(globalThis, 'throwingFilter');
    const undo = host.hooks.addFilter('two_factor_required', () => true);
    expect(await visit('/admin/plugins'), 'a filter that decides').to.deep.equal([302, '/admin/profile/two-step']);
    undo();
  });
});
