import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { createTestHost } from '#testing';
import { contentTableNames } from '../../plugins/svc/modules/content-writer/content-tables.ts';
import { callsByUser } from '../helpers/calls-by-user.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { answerAsModel, checkEvent, startContentSite, type ContentSite } from './content-site.ts';

interface Row {
  readonly id: number;
  readonly topic: string;
  readonly status: string;
  readonly message: string;
  readonly attempts: number;
  readonly post_id: number | null;
  readonly cost: number;
}

describeHosts('a batch of texts', ({ location }) => {
  describe('of the content writer', () => {
    let site: ContentSite;
    const init = (): { readonly database: string } => ({ database: location().databaseUrl ?? location().dataDir });
    // A node that claims nothing before its provider is set, and then works by command.
    const web = { env: { ROLE: 'web' } };
    beforeEach(async function () {
      this.timeout(60_000);
      site = await startContentSite(init());
    });
    afterEach(() => site.stop());

    const rows = async (): Promise<Row[]> =>
      (await site.host.database.knex(contentTableNames.items).orderBy('position')) as Row[];
    const list = {
      source: 'list',
      template: 'article',
      keywords: '',
      instructions: '',
      'post[save]': 'draft',
      'post[type]': 'post',
    };
    async function review(fields: Readonly<Record<string, string>>): Promise<string> {
      const { body, status } = await site.post('review', fields);
      expect(status, body.notice?.text).to.equal(200);
      return /id=(\d+)/.exec(body.redirect ?? '')?.[1] ?? '';
    }
    async function start(fields: Readonly<Record<string, string>>): Promise<string> {
      const id = await review(fields);
      await site.post('start', { id }, 'svc/content/batch');
      return id;
    }
    const settled = (): Promise<void> =>
      site.until(async () =>
        (await rows()).every(({ status }) => ['completed', 'failed', 'cancelled'].includes(status)),
      );

    it('costs nothing before it starts, then creates one post and one event per text with its cost', async () => {
      const id = await review({
        ...list,
        list: 'Coffee\n\n  Tea \nCocoa',
        'post[save]': 'schedule',
        'post[schedule_at]': '2099-05-15 12:00',
        'post[interval_minutes]': '60',
        'post[tags]': 'drinks, coffee',
      });
      expect((await rows()).map(({ topic, status }) => [topic, status])).to.deep.equal([
        ['Coffee', 'waiting'],
        ['Tea', 'waiting'],
        ['Cocoa', 'waiting'],
      ]);
      await site.worked();
      expect(site.upstream.calls).to.deep.equal([]);
      await Promise.all([
        site.post('start', { id }, 'svc/content/batch'),
        site.post('start', { id }, 'svc/content/batch'),
      ]);
      await settled();
      expect((await rows()).map(({ status, attempts }) => [status, attempts])).to.deep.equal([
        ['completed', 1],
        ['completed', 1],
        ['completed', 1],
      ]);
      const posts = await Promise.all(
        (await rows()).map(({ post_id: post }) => site.host.content.posts.get(post ?? 0)),
      );
      expect(posts.map((post) => [post?.status, post?.date])).to.deep.equal(
        [0, 1, 2].map((hour) => ['future', Date.UTC(2099, 4, 15, 12 + hour)]),
      );
      expect((await site.host.content.meta.all(posts[0]!.id))['svc_tags']).to.deep.equal([
        'drinks',
        'coffee',
        'Mountains',
      ]);
      const events = await site.events(3);
      for (const event of events) checkEvent(event);
      expect(events.map(({ source }) => source.origin)).to.deep.equal(Array(3).fill('manual_content_writer'));
      expect(
        events.map(({ resource, data }) => [resource?.type, resource?.id === String(data.post.id), data.post.status]),
      ).to.deep.equal(Array(3).fill(['post', true, 'future']));
      expect(new Set(events.map(({ idempotency_key: key }) => key)).size).to.equal(3);
      expect(site.upstream.calls).to.have.length(18);
      const { body } = await site.post('progress', { id, page: '1' }, 'svc/content/batch');
      expect(body.data).to.deep.include({ total: 3, finished: 3, isRunning: false, summary: '3 of 3 finished' });
      expect((body.data as { spent: string }).spent).to.match(/^1,980 tokens, \$0\.00\d+$/);
      expect(site.receiver.received).to.have.length(3);
      expect(await callsByUser(site.host, 'content-writer')).to.deep.equal({ [site.userId]: 18 });
    });

    it('reads keywords and categories from lines and columns; the post gets them', async () => {
      await start({
        ...list,
        list: 'Coffee | beans, roast | Drinks\nTea|green\nCocoa',
        keywords: 'hot',
        'post[category]': 'Kitchen',
      });
      await settled();
      const inputs = (
        (await site.host.database.knex(contentTableNames.items).orderBy('position')) as { input: string }[]
      ).map(({ input }) => JSON.parse(input) as Record<string, string>);
      expect(inputs.map(({ topic, keywords, category }) => [topic, keywords, category])).to.deep.equal([
        ['Coffee', 'beans, roast', 'Drinks'],
        ['Tea', 'green', undefined],
        ['Cocoa', 'hot', undefined],
      ]);
      const categories = [];
      for (const { post_id: id } of await rows())
        categories.push((await site.host.content.meta.all(Number(id)))['svc_category']?.[0]);
      expect(categories).to.deep.equal(['Drinks', 'Kitchen', 'Kitchen']);
      const refused = await site.post('review', { ...list, list: 'Coffee\n| only keywords' });
      expect(refused.status).to.equal(400);
    });

    it('guesses the columns of a CSV and applies a changed mapping', async () => {
      const id = await review({
        ...list,
        source: 'csv',
        csv: 'Name;Keywords;About;Extra;Category\nCoffee;"a; b";Short;x;Drinks\nTea;;;y;',
      });
      await site.post(
        'map',
        { id, topic: 'Name', keywords: 'Extra', instructions: 'About', category: 'Category' },
        'svc/content/batch',
      );
      const inputs = (
        (await site.host.database.knex(contentTableNames.items).orderBy('position')) as { input: string }[]
      ).map(({ input }) => JSON.parse(input) as Record<string, string>);
      expect(
        inputs.map(({ topic, keywords, instructions, category }) => [topic, keywords, instructions, category]),
      ).to.deep.equal([
        ['Coffee', 'x', 'Short', 'Drinks'],
        ['Tea', 'y', '', undefined],
      ]);
    });

    describe('from a local site', () => {
      let server: Server;
      let origin = '';
      before(async () => {
        server = createServer(({ url }, response) => {
          if (url === '/feed')
            response
              .setHeader('content-type', 'application/rss+xml')
              .end(
                `<rss><channel><title>Near</title>${[1, 2, 3].map((n) => `<item><title>Entry ${String(n)}</title><link>${origin}/page</link><description>Told ${String(n)}</description></item>`).join('')}</channel></rss>`,
              );
          else if (url === '/page')
            response
              .setHeader('content-type', 'text/html')
              .end(
                '<html><head><title>A page</title></head><body><main><h1>Hello</h1><p>What the page says. {topic}</p></main></body></html>',
              );
          else response.writeHead(404).end();
        });
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
      });
      after(() => {
        server.close();
      });

      it('passes the newest entries of a feed to the model', async () => {
        await start({
          ...list,
          source: 'feed',
          feed_url: `${origin}/feed`,
          feed_limit: '2',
          read_pages: '0',
          template: 'news',
          'post[save]': 'none',
        });
        await settled();
        expect((await rows()).map(({ topic, status }) => [topic, status])).to.deep.equal([
          ['Entry 1', 'completed'],
          ['Entry 2', 'completed'],
        ]);
        expect(site.upstream.calls.some(({ messages }) => messages.at(-1)?.content.includes('Told 2'))).to.equal(true);
        const [event] = await site.events(2);
        expect(event?.data).to.not.have.property('post');
      });

      it('reads pages that an administrator typed, fails unreadable ones with the reason, and follows no feed into the local network', async () => {
        await start({
          ...list,
          source: 'pages',
          pages: `${origin}/page\n${origin}/gone\nhttp://localhost.example.invalid/`,
          template: 'news',
        });
        await settled();
        const [read, gone, unknown] = await rows();
        expect(read).to.include({ status: 'completed' });
        const told = site.upstream.calls
          .map(({ messages }) => messages.at(-1)?.content ?? '')
          .find((prompt) => prompt.includes('What the page says.'));
        expect(told).to.include('What the page says. {topic}');
        expect(gone).to.include({ status: 'failed', message: `${origin}/gone: The server returned status 404.` });
        expect(unknown?.status).to.equal('failed');
        await start({
          ...list,
          source: 'feed',
          feed_url: `${origin}/feed`,
          feed_limit: '1',
          read_pages: '1',
          template: 'news',
        });
        await settled();
        const inside = (await rows()).find(({ topic }) => topic === 'Entry 1');
        expect(inside?.status).to.equal('failed');
        expect(inside?.message).to.include(`${origin}/page: `);
      });
    });

    it('stores the reason of each failure and retries without paying twice for finished sections', async () => {
      let broken = true;
      site.upstream.answer = (turn) => {
        const prompt = turn.call.messages.at(-1)?.content ?? '';
        if (broken && prompt.startsWith('Sum up')) turn.fail(400, 'Not this one.');
        else answerAsModel(turn);
      };
      const id = await start({ ...list, list: 'Coffee\nTea' });
      await settled();
      expect((await rows()).map(({ status, message, post_id: post }) => [status, message, post])).to.deep.equal(
        Array(2).fill(['failed', 'OpenAI refused the request: Not this one.', null]),
      );
      expect(await site.host.content.posts.count({ status: 'any' })).to.equal(0);
      expect(site.receiver.received).to.deep.equal([]);
      broken = false;
      const before = site.upstream.calls.length;
      const [first] = await rows();
      await site.post('retry', { id, item: String(first!.id) }, 'svc/content/batch');
      await site.until(async () => (await rows())[0]?.status === 'completed');
      expect((await rows())[1]?.status).to.equal('failed');
      expect(site.upstream.calls.length - before).to.equal(4);
      await site.post('retry', { id }, 'svc/content/batch');
      await settled();
      expect((await rows()).map(({ status }) => status)).to.deep.equal(['completed', 'completed']);
      expect(await site.events(2)).to.have.length(2);
    });

    it('creates no post and no event of a cancelled text', async () => {
      const turn = site.upstream.next();
      const id = await start({ ...list, list: 'Coffee' });
      const held = await turn;
      await site.post('cancel', { id }, 'svc/content/batch');
      answerAsModel(held);
      await site.worked();
      expect((await rows()).map(({ status }) => status)).to.deep.equal(['cancelled']);
      expect(await site.host.content.posts.count({ status: 'any' })).to.equal(0);
      expect(site.receiver.received).to.deep.equal([]);
    });

    it('continues with the finished sections after its lease expires', async () => {
      const waiting: (() => void)[] = [];
      site.upstream.answer = (turn) => {
        const prompt = turn.call.messages.at(-1)?.content ?? '';
        if (prompt.startsWith('Sum up') && waiting.length === 0)
          waiting.push(() => {
            answerAsModel(turn);
          });
        else answerAsModel(turn);
      };
      await start({ ...list, list: 'Coffee' });
      await site.until(async () => waiting.length === 1);
      // Its lease ran out, as far as the others can see.
      await site.host.database.knex('jobs').where({ state: 'running' }).update({ due_at: 1 });
      const other = await createTestHost({ plugins: ['svc'], clock: createSystemClock(), ...init(), ...web });
      try {
        other.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, name: string) =>
          name === 'openai'
            ? { ...settings, api_key: 'sk-upstream', base_url: site.upstream.url, model: 'gpt-4o-mini' }
            : settings,
        );
        await other.cli('svc', 'content', 'work');
        expect((await rows()).map(({ status, attempts }) => [status, attempts])).to.deep.equal([['completed', 2]]);
        waiting[0]?.();
        await site.worked();
        expect((await rows()).map(({ status, attempts }) => [status, attempts])).to.deep.equal([['completed', 2]]);
        expect(await site.host.content.posts.count({ status: 'any' })).to.equal(1);
        expect(
          site.upstream.calls.filter(({ messages }) => messages.at(-1)?.content.startsWith('Write an article')),
        ).to.have.length(1);
        expect(await site.events(1)).to.have.length(1);
      } finally {
        await other.stop();
      }
    });

    it('continues after a restart', async () => {
      const turn = site.upstream.next();
      await start({ ...list, list: 'Coffee\nTea' });
      await turn;
      const { upstream } = site;
      await site.host.stop();
      upstream.answer = answerAsModel;
      const again = await createTestHost({ plugins: ['svc'], clock: createSystemClock(), ...init(), ...web });
      try {
        again.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, name: string) =>
          name === 'openai'
            ? { ...settings, api_key: 'sk-upstream', base_url: upstream.url, model: 'gpt-4o-mini' }
            : settings,
        );
        await again.cli('svc', 'content', 'work');
        const after = (await again.database.knex(contentTableNames.items).orderBy('position')) as Row[];
        expect(after.map(({ status }) => status)).to.deep.equal(['completed', 'completed']);
        expect(await again.content.posts.count({ status: 'any' })).to.equal(2);
      } finally {
        await again.stop();
      }
    });

    it('creates no posts for a user who lost the capability', async () => {
      const id = await review({ ...list, list: 'Coffee', 'post[save]': 'publish' });
      await site.host.users.create({
        login: 'boss',
        email: 'boss@example.com',
        password: 'a long password',
        role: 'administrator',
      });
      await site.post('start', { id }, 'svc/content/batch');
      await settled();
      expect((await rows())[0]).to.include({ status: 'completed' });
      await site.host.users.update(site.userId, { roles: ['contributor'] });
      await site.host.database.knex(contentTableNames.items).update({ status: 'pending', post_id: null });
      await site.host.jobs.forOwner('svc').addMany('write-text', [{ args: { item: 1 } }]);
      await site.worked();
      expect((await rows())[0]).to.include({
        status: 'failed',
        message: 'Your account is not allowed to publish posts. Save them as drafts or for review.',
      });
    });
  });
});
