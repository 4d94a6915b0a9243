import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import type { AutomationItem, AutomationTaskType } from '../../plugins/svc/kit/automation-task.ts';
import { startKnowledgeSite, type KnowledgeSite } from './knowledge-site.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';
import { becomes, until } from '../helpers/until.ts';

interface SourceRow {
  readonly id: number;
  readonly kind: string;
  readonly title: string;
  readonly url: string;
  readonly state: string;
  readonly message: string;
}

describeHosts('the sources of a knowledge base', ({ location }) => {
  describe('on a separate site', () => {
    let site: KnowledgeSite;
    let base: number;
    let far: Server;
    let origin: string;
    let pages: Record<string, string>;

    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startKnowledgeSite({ database: databaseUrl ?? dataDir });
      base = await site.base();
      pages = {};
      far = createServer((request, response) => {
        const body = pages[request.url ?? ''];
        response
          .writeHead(body === undefined ? 404 : 200, {
            'content-type': request.url?.endsWith('.xml') === true ? 'application/xml' : 'text/html; charset=utf-8',
          })
          .end(body ?? '');
      });
      await new Promise<void>((resolve) => far.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${String((far.address() as AddressInfo).port)}`;
    });
    afterEach(async () => {
      await site.stop();
      far.close();
    });

    const sources = async (): Promise<SourceRow[]> =>
      ((await site.run('knowledge', 'sources', String(base))) as SourceRow[]).sort((left, right) => left.id - right.id);
    const states = async (): Promise<string[]> => (await sources()).map(({ title, state }) => `${title}: ${state}`);
    const find = async (question: string): Promise<{ text: string; title: string; url: string }> =>
      (
        (await site.run('knowledge', 'search', String(base), question, '--limit=1')) as {
          text: string;
          title: string;
          url: string;
        }[]
      )[0]!;

    it('follow posts: published ones come, changed ones are indexed again, those taken back are gone', async () => {
      const { posts } = site.host.content;
      const [tea, draft] = [
        await posts.create({
          title: 'Tea',
          content: '<h2>Green</h2><p>Green tea is steeped for two minutes.</p>',
          status: 'publish',
        }),
        await posts.create({ title: 'Draft', content: 'Nobody reads this.' }),
      ];
      expect(await site.run('knowledge', 'add', String(base), '--type=post')).to.match(
        /^\d of \d posts are new or changed\.$/,
      );
      await site.settled(base);
      const found = await find('How long is green tea steeped?');
      expect(found).to.deep.include({ title: 'Tea', text: 'Tea > Green\n\nGreen tea is steeped for two minutes.' });
      expect(found.url).to.contain('/tea');
      expect((await states()).filter((state) => state.startsWith('Draft'))).to.deep.equal([]);
      await site.run('knowledge', 'add', String(base), '--type=post');
      await site.settled(base);
      await site.host.database.knex('svc_knowledge_bases').update({ follows: '["post"]' });
      await posts.update(draft.id, { status: 'publish', content: '<p>Black tea needs four minutes.</p>' });
      await posts.update(tea.id, { content: '<p>White tea is steeped for one minute.</p>' });
      await site.settled(base);
      expect((await find('black tea minutes')).text).to.contain('four minutes');
      expect((await find('white tea minute')).text).to.contain('one minute');
      const single = ['knowledge', 'add', String(base), `--post=${String(tea.id)}`] as const;
      await posts.update(tea.id, { password: 'secret' });
      await site.settled(base);
      expect((await states()).filter((state) => state.startsWith('Tea'))).to.deep.equal([]);
      expect((await site.host.cli('svc', ...single)).err).to.contain('protected by a password');
      await site.run('knowledge', 'add', String(base), '--type=post');
      await site.settled(base);
      expect((await states()).filter((state) => state.startsWith('Tea'))).to.deep.equal([]);
      await posts.update(tea.id, { password: '' });
      await site.settled(base);
      expect((await states()).filter((state) => state.startsWith('Tea'))).to.deep.equal(['Tea: indexed']);
      await posts.update(tea.id, { status: 'draft' });
      await posts.delete(draft.id, { force: true });
      await site.settled(base);
      expect((await states()).filter((state) => /^(?:Tea|Draft)/.test(state))).to.deep.equal([]);
    });

    it('follow a single post: changes, drafts, the trash, deletion; also one that an automation added', async () => {
      const { posts } = site.host.content;
      const state = async (title: string): Promise<string[]> =>
        (await states()).filter((line) => line.startsWith(title));
      const page = await posts.create({
        type: 'page',
        title: 'Returns',
        content: '<p>Returns take ten days.</p>',
        status: 'publish',
      });
      await site.run('knowledge', 'add', String(base), `--post=${String(page.id)}`);
      await site.settled(base);
      await posts.update(page.id, { content: '<p>Returns take twenty days.</p>' });
      await site.settled(base);
      expect((await find('How long do returns take?')).text).to.contain('twenty days');
      for (const status of ['draft', 'trash', 'private'] as const) {
        if (status === 'trash') await posts.delete(page.id);
        else await posts.update(page.id, { status });
        await site.settled(base);
        expect(await state('Returns'), status).to.deep.equal([]);
        await posts.update(page.id, { status: 'publish', content: `<p>Returns take ${status} days.</p>` });
        await site.settled(base);
        expect(await state('Returns'), status).to.deep.equal(['Returns: indexed']);
        expect((await find('How long do returns take?')).text).to.contain(`${status} days`);
      }
      // What an administrator removes stays away.
      const [source] = (
        (await site.run('knowledge', 'sources', String(base))) as { id: number; title: string }[]
      ).filter(({ title }) => title === 'Returns');
      await site.run('knowledge', 'remove', String(source?.id));
      await site.settled(base);
      await posts.update(page.id, { content: '<p>Returns are free.</p>' });
      await site.settled(base);
      expect(await state('Returns')).to.deep.equal([]);
      await becomes(() => site.host.database.knex('svc_knowledge_posts').where({ post_id: page.id }), []);
      await site.run('knowledge', 'add', String(base), `--post=${String(page.id)}`);
      await posts.delete(page.id, { force: true });
      await site.settled(base);
      await becomes(() => site.host.database.knex('svc_knowledge_posts').where({ post_id: page.id }), []);
    });

    it('are the pages of a sitemap: those it names no more go, the others are looked at again', async () => {
      const map = (...paths: string[]): string =>
        `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${paths.map((path) => `<url><loc>${path.startsWith('http') ? path : origin + path}</loc></url>`).join('')}</urlset>`;
      pages = {
        '/index.xml': `<sitemapindex><sitemap><loc>${origin}/map.xml</loc></sitemap></sitemapindex>`,
        '/map.xml': map('/a', '/b', '/a', 'https://elsewhere.example/'),
        '/a': '<title>A</title><p>Apples are red.</p>',
        '/b': '<title>B</title><p>Blueberries are blue.</p>',
      };
      await site.run('knowledge', 'add', String(base), `--sitemap=${origin}/index.xml`);
      await site.settled(base);
      expect((await states()).slice(1)).to.deep.equal(['A: indexed', 'B: indexed']);
      expect((await sources())[0]?.message).to.equal('2 pages. Each page is a source.');
      pages['/map.xml'] = map('/a', '/c');
      pages['/c'] = '<title>C</title><p>Cherries are dark.</p>';
      await site.run('knowledge', 'index', String(base), `--source=${String((await sources())[0]?.id)}`);
      await site.settled(base);
      expect((await states()).slice(1)).to.deep.equal(['A: indexed', 'C: indexed']);
      expect((await sources())[1]?.message).to.equal('Nothing has changed since the last indexing.');
      // A request for indexing that comes while the sitemap is read makes it read once more.
      await until('the second reading', async () => (await sources())[0]?.message.startsWith('Reading') !== true);
      expect((await sources())[0]?.message).to.equal('2 pages, 1 deleted. Each page is a source.');
      await site.run('knowledge', 'remove', String((await sources())[0]?.id));
      await site.settled(base);
      expect(await sources()).to.deep.equal([]);
    });

    it('are fetched guarded, and say what is wrong with an address', async () => {
      pages['/none'] = '<title>Empty</title>';
      for (const url of [`${origin}/missing`, `${origin}/none`, 'http://169.254.169.254/latest'])
        await site.run('knowledge', 'add', String(base), `--url=${url}`);
      await site.settled(base);
      const messages = (await sources()).map(({ state, message }) => `${state}: ${message}`);
      expect(messages[0]).to.match(/^failed: .*404/);
      expect(messages[1]).to.equal('failed: This page contains no text. Pages that need JavaScript cannot be read.');
      expect(messages[2]).to.match(/^failed: /);
      expect(messages[2]).not.to.contain('latest 200');
      const refused = await failureOf(site.run('knowledge', 'add', String(base), '--url=ftp://x'));
      expect(String(refused)).to.contain('https://');
    });

    it('stop nothing else while they are split, as 600 kB in one line without a break', async () => {
      pages['/long'] = `<main>${'This is one. '.repeat(46_000)}</main>`;
      const delay = monitorEventLoopDelay();
      delay.enable();
      await site.run('knowledge', 'add', String(base), `--url=${origin}/long`);
      await site.settled(base);
      expect((await states())[0]).to.match(/: indexed$/);
      delay.disable();
      // Nanoseconds. Splitting took 7 seconds at once.
      expect(delay.max / 1e6).to.be.below(3_000);
    });

    it('are indexed by an automation, once, with its origin and its reference for the costs', async () => {
      const receiver = await startWebhookReceiver();
      await site.host.cli('svc', 'webhook', 'on');
      await site.host.cli(
        'svc',
        'webhook',
        'add',
        '--json',
        JSON.stringify({ name: 'Shop', url: receiver.url, events: ['kb.source_indexed'] }),
      );
      pages['/news'] = '<title>News</title><p>The shop opens on Sunday.</p>';
      const types = (await site.host.hooks.applyFiltersAsync(
        'svc_automation_task_types',
        [],
        {} as never,
      )) as readonly AutomationTaskType[];
      const type = types.find(({ id }) => id === 'knowledge_indexing')!;
      expect(await type.check?.({ base })).to.deep.equal({});
      expect(await type.check?.({ base: 99 })).to.have.property('base');
      const reference = 'automation:1:1';
      const item = (changes: Partial<AutomationItem> = {}): AutomationItem => ({
        key: '1',
        id: 1,
        target: `${site.host.url}/`,
        input: {},
        settings: { base },
        task: { id: 1, name: 'T', type: 'knowledge_indexing', authorId: 1 },
        attempt: 1,
        origin: { module: 'automations', route: null, botId: null, reference },
        signal: new AbortController().signal,
        ...changes,
      });
      const post = await site.host.content.posts.create({
        title: 'Sunday',
        content: '<p>The shop opens on Sunday at noon.</p>',
        status: 'publish',
      });
      const first = await type.run(item({ target: String(post.id), input: { post_id: post.id } }));
      expect(first.message).to.equal('Sunday: 1 passage: all new.');
      // Nobody took it meanwhile, and nothing is told before the item is completed.
      expect(receiver.received).to.have.length(0);
      await site.host.database.transaction(async (transaction) => {
        await first.commit?.(transaction);
      });
      const again = await type.run(item({ target: String(post.id), input: { post_id: post.id }, attempt: 2 }));
      expect(again.message).to.equal('Sunday: Nothing has changed since the last indexing.');
      await site.host.database.transaction(async (transaction) => {
        await again.commit?.(transaction);
      });
      await receiver.first(1);
      expect(
        receiver.received.map(
          ({ body }) => (JSON.parse(body.toString()) as { source: { origin: string } }).source.origin,
        ),
      ).to.deep.equal(['automated_task_indexing']);
      // What a feed names is not what an administrator typed: addresses inside stay shut.
      expect(String(await failureOf(type.run(item({ target: `${origin}/news` }))))).not.to.equal('');
      expect((await states()).at(-1)).to.match(/127\.0\.0\.1.*failed/);
      await receiver.stop();
      const sunday = async (): Promise<string[]> => (await states()).filter((state) => state.startsWith('Sunday'));
      await site.host.content.posts.update(post.id, { status: 'draft' });
      await site.settled(base);
      expect(await sunday()).to.deep.equal([]);
      await site.host.content.posts.update(post.id, { status: 'publish' });
      await site.settled(base);
      expect(await sunday()).to.deep.equal(['Sunday: indexed']);
    });
  });
});
