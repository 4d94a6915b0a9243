import { expect } from 'chai';
import { createTestHost, type SignedIn, type TestHost } from '#testing';
import { shownFilters } from '../../host/hooks/shown-filters.ts';
import * as service from '../../plugins/svc/shown-filters.ts';
import { makeForm } from '../contract/ai-forms-site.ts';
import { createPluginFolders, type PluginFolders } from '../loader/helpers/plugin-folders.ts';

const key = 'the REST key of filters that fail';
const filters = [...shownFilters, ...service.shownFilters];

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const adminPages = [
  ...['', '/alerts', '/search?q=shown', '/settings', '/tools/cron', '/tools/site-health?results=1'],
  ...['/svc', '/svc/content/templates'],
];
const restPaths = [
  ...['posts', 'pages', 'media', 'categories', 'comments', 'users', 'types'].map((path) => `/wp/v2/${path}`),
  ...['/', '/wp/v2', '/wp/v2/openapi.json'],
];
const model = { provider: 'openai', model: 'gpt-4o-mini' };
const answers = {
  '/svc/v1/generate': { ...model, messages: [{ role: 'user', content: 'Hi' }] },
  '/svc/v1/embeddings': { provider: 'openai', model: 'text-embedding-3-small', input: 'a' },
  '/svc/v1/images/generate': { provider: 'openai', model: 'gpt-image-1', prompt: 'a' },
};
/** Run by doors that need more than this site has. */
const elsewhere = [
  ...['comment_text', 'mcp_prompts', 'mcp_resources'],
  ...['svc_chatbot_demo_site', 'svc_chatbot_pretend_shop', 'svc_chatbot_widget_config', 'svc_event_schemas'],
  ...['svc_provider_users', 'svc_automation_task_types'],
];

/** A plugin with a callback on each filter, and a post type for its links. */
const sloppy = (callback: string): string => `export default { register({ hooks, content }) {
  content.registerPostType('book', { label: 'Books', singularLabel: 'Book', public: true });
  for (const name of ${JSON.stringify(filters)}) hooks.addFilter(name, ${callback});
} };`;

async function write(host: TestHost): Promise<readonly string[]> {
  const { posts, media, permalink } = host.content;
  const form = await makeForm({ host } as never);
  const image = await media.save({ bytes: Buffer.from(png, 'base64'), name: 'dot.png', title: 'Dot' });
  const content = `One [svc_form id=${String(form.id)}] ${'word '.repeat(60)}`;
  const written = [{ content, featuredMediaId: image.id, commentStatus: 'open' as const, authorId: 1 }];
  const others = [{ type: 'page' }, { type: 'book' }, { password: 'secret' }];
  const made = [];
  for (const each of [...written, ...others])
    made.push(await posts.create({ title: 'Shown', content: 'Two', status: 'publish', ...each }));
  return Promise.all(made.map(async (post) => new URL(await permalink(post)).pathname));
}

for (const [title, callback] of [
  ['throws', "() => { throw new TypeError('Cannot read properties of undefined'); }"],
  ['rejects', "async () => { throw new TypeError('Cannot read properties of undefined'); }"],
  ['returns nothing', '() => undefined'],
] as const)
  describe(`a plugin with a callback that ${title} on each of ${String(filters.length)} filters whose value is shown`, () => {
    let folders: PluginFolders;
    let host: TestHost;
    let browser: SignedIn;
    let paths: readonly string[];
    before(async () => {
      folders = await createPluginFolders();
      await folders.write('sloppy', { files: { 'index.js': sloppy(callback) } });
      host = await createTestHost({ plugins: ['svc', 'sandbox', 'sloppy'], pluginDirs: [folders.directory] });
      await host.cli('svc', 'sandbox', 'on');
      await host.cli('svc', 'key', 'set', key);
      browser = await host.signIn();
      paths = await write(host);
    });
    after(async () => {
      await host.stop();
      await folders.remove();
    });

    const visit = async (
      path: string,
      init: { json?: unknown; headers?: Record<string, string> } = {},
    ): Promise<void> => {
      const { json, headers = {} } = init;
      const response = await host.fetch(path, {
        method: json === undefined ? 'GET' : 'POST',
        headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      const text = await response.text();
      expect([path, response.status], text.slice(0, 300)).to.deep.equal([path, 200]);
    };

    it('takes nothing else away behind any door, and is named in the log and in the list of plugins', async () => {
      for (const path of ['/', '/feed/', '/?s=shown', ...paths]) await visit(path);
      const signed = { headers: { cookie: browser.cookie } };
      for (const page of adminPages) await visit(`/admin${page}`, signed);
      const keyed = { headers: { authorization: `Bearer ${key}`, origin: 'https://shop.example.com' } };
      for (const path of restPaths) await visit(`/wp-json${path}`, keyed);
      for (const [path, json] of Object.entries(answers)) await visit(`/wp-json${path}`, { ...keyed, json });

      const logged = host.logged.map((line) => JSON.parse(line) as Record<string, unknown>);
      const failed = logged.filter(({ event }) => event === 'hook_callback_failed' || event === 'hook_result_refused');
      expect(failed.map(({ owner, plugin }) => owner ?? plugin)).to.satisfy((all: string[]) =>
        all.every((each) => each === 'sloppy'),
      );
      const missing = filters.filter((name) => !failed.some(({ hook }) => hook === name));
      expect(missing.filter((name) => !elsewhere.includes(name))).to.deep.equal([]);
      const status = host.plugins.list().find(({ slug }) => slug === 'sloppy');
      expect([status?.state, status?.lastError?.stage]).to.satisfy(
        ([state, stage]: string[]) => state === 'active' && stage?.startsWith('filter '),
      );
    });

    it('leaves the value as it was where the filter runs elsewhere', async () => {
      // The sandbox has a demo site, whose address is the value.
      for (const name of elsewhere)
        expect(await host.hooks.applyFiltersAsync(name as 'unknown', [{ id: 'former' }]), name).to.satisfy(
          (value: object) => 'origin' in value || JSON.stringify(value).includes('former'),
        );
    });
  });
