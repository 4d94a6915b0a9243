import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import { serviceEvents } from '../../plugins/svc/events.ts';
import type { Envelope } from '../../plugins/svc/webhooks/event.ts';
import type { AutomationItem } from '../../plugins/svc/kit/automation-task.ts';
import { callsByUser } from '../helpers/calls-by-user.ts';
import { describeSharedHosts } from '../helpers/dialects.ts';
import { shareSite } from '../helpers/share-site.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { startAutomationsSite, type AutomationsSite } from './automations-site.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- events are compared, not typed.
type Event = Envelope & { readonly data: any };

const entry = (id: number): string =>
  `<item><guid>e${String(id)}</guid><title>Entry ${String(id)}</title><link>https://news.example.com/${String(id)}</link><description>About ${String(id)}</description></item>`;

describeSharedHosts('sources and events of automations', ({ location }) => {
  describe('on a separate site', () => {
    let site: AutomationsSite;
    let feed: Server;
    let feedText = '';
    let feedStatus = 200;
    let validators: Readonly<Record<string, string>> = {};
    const statuses: number[] = [];
    const seen: AutomationItem[] = [];

    const shared = shareSite(() => {
      const { databaseUrl, dataDir } = location();
      return startAutomationsSite({ database: databaseUrl ?? dataDir });
    });

    beforeEach(async () => {
      site = shared();
      seen.splice(0);
      site.work = async (item) => {
        seen.push(item);
        return Promise.resolve({ message: 'Seen.' });
      };
      feedStatus = 200;
      validators = {};
      feed = createServer(({ headers }, response) => {
        const isKnown = Object.values(validators).some((value) =>
          [headers['if-none-match'], headers['if-modified-since']].includes(value),
        );
        statuses.push(isKnown ? 304 : feedStatus);
        if (isKnown) return response.writeHead(304).end();
        return response
          .writeHead(feedStatus, { 'content-type': 'application/rss+xml', ...validators })
          .end(`<rss version="2.0"><channel><title>News</title>${feedText}</channel></rss>`);
      });
      await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve));
    });
    afterEach(() => void feed.close());

    const run = (task: {
      readonly id: number;
    }): Promise<{ readonly found: number; readonly added: number; readonly message: string }> =>
      site.cli('svc', 'task', 'run', String(task.id));
    const feedUrl = (): string => `http://127.0.0.1:${String((feed.address() as AddressInfo).port)}/feed`;

    it('pass the columns of a row to the task type and queue a row once', async () => {
      const task = await site.task({
        source: { kind: 'csv', text: 'topic;tone\r\ntea;dry\r\nmilk;"warm; soft"\r\ntea;dry\r\n' },
      });
      expect(await run(task)).to.deep.include({ found: 3, added: 2 });
      await site.until(task, 'completed');
      expect(
        seen
          .map(({ target, input, attempt, task: { name, type } }) => ({ target, input, attempt, name, type }))
          .sort((one, other) => one.target.localeCompare(other.target)),
      ).to.deep.equal([
        { target: 'milk', input: { topic: 'milk', tone: 'warm; soft' }, attempt: 1, name: 'Notes', type: 'test_notes' },
        { target: 'tea', input: { topic: 'tea', tone: 'dry' }, attempt: 1, name: 'Notes', type: 'test_notes' },
      ]);
      expect(seen[0]?.origin).to.deep.include({ module: 'automations', reference: seen[0]?.key });
    });

    it('queue new entries of a feed and report why a feed cannot be read', async () => {
      const task = await site.task({ source: { kind: 'rss', url: feedUrl() } });
      expect(await run(task)).to.deep.include({ found: 0, message: 'The feed "News" has no entries.' });
      feedText = entry(1) + entry(2);
      expect(await run(task)).to.deep.include({ found: 2, added: 2 });
      await site.until(task, 'completed');
      expect(seen.find(({ target }) => target.endsWith('/1'))).to.deep.include({
        target: 'https://news.example.com/1',
        input: {
          title: 'Entry 1',
          url: 'https://news.example.com/1',
          summary: 'About 1',
          content: '',
          published: null,
          updated: null,
          created: null,
          id: 'e1',
          feed_title: 'News',
        },
      });
      feedText = entry(3) + feedText;
      expect(await run(task)).to.deep.include({ found: 3, added: 1 });
      feedStatus = 503;
      expect(String(await failureOf(run(task)))).to.match(/The feed's server returned status 503\. Open http/);
      feed.close();
      feed.closeAllConnections();
      expect(String(await failureOf(run(task)))).to.match(/127\.0\.0\.1/);
    });

    for (const [header, first, second] of [
      ['etag', '"one"', '"two"'],
      ['last-modified', 'Sat, 21 Nov 2026 07:28:00 GMT', 'Sun, 22 Nov 2026 07:28:00 GMT'],
    ] as const)
      it(`read a feed again only after a change, by ${header}, once all of it is queued`, async () => {
        statuses.splice(0);
        feedText = entry(1) + entry(2) + entry(3);
        validators = { [header]: first };
        const task = await site.task({ source: { kind: 'rss', url: feedUrl() }, limits: { run: 2 } });
        expect(await run(task)).to.deep.include({ added: 2 });
        expect(await run(task), 'the third waits for this run').to.deep.include({ found: 3, added: 1 });
        const unchanged = { found: 0, added: 0, message: 'The source has no new entries.' };
        expect(await run(task)).to.deep.include(unchanged);
        expect(statuses).to.deep.equal([200, 200, 304]);
        feedText += entry(4);
        validators = { [header]: second };
        expect(await run(task)).to.deep.include({ found: 4, added: 1 });
        expect(await run(task)).to.deep.include(unchanged);
        expect(statuses).to.deep.equal([200, 200, 304, 200, 304]);
      });

    it('queue matching posts, and posts again after others changed them', async () => {
      const { posts } = site.host.content;
      const one = await posts.create({
        title: 'Green tea',
        content: 'Leaves',
        status: 'publish',
        meta: { svc_category: 'Drinks' },
      });
      await posts.create({ title: 'Black tea', status: 'draft', meta: { svc_category: 'Drinks' } });
      await posts.create({
        title: 'Secret tea',
        status: 'publish',
        password: 'secret',
        meta: { svc_category: 'Drinks' },
      });
      await posts.create({ title: 'Tea pots', status: 'publish', meta: { svc_category: 'Dishes' } });
      const source = {
        kind: 'posts',
        post_type: 'post',
        status: 'publish',
        category: 'drinks',
        search: 'tea',
        again: true,
      };
      const task = await site.task({ source });
      site.work = async (item) => {
        seen.push(item);
        return Promise.resolve({
          message: 'Changed.',
          commit: async () => ({
            postId: (await posts.update(Number(item.input['post_id']), { content: `Changed ${String(item.id)}` })).id,
          }),
        });
      };
      expect(await run(task)).to.deep.include({ found: 1, added: 1 });
      await site.until(task, 'completed');
      expect(seen[0]).to.deep.include({ target: String(one.id) });
      expect(seen[0]?.input).to.deep.include({ post_id: one.id, title: 'Green tea' });
      // What the work itself changed is no reason.
      expect(await run(task)).to.deep.include({ found: 1, added: 0 });
      // The host tells changes apart by seconds.
      const before = (await posts.get(one.id))?.modified;
      for (let change = 1; (await posts.update(one.id, { content: `By hand ${String(change)}` })).modified === before;)
        change += 1;
      expect(await run(task)).to.deep.include({ added: 1 });
      await site.until(task, 'completed');
      await site.cli(
        'svc',
        'task',
        'update',
        '--json',
        JSON.stringify({ id: task.id, source: { ...source, again: false } }),
      );
      await posts.update(one.id, { content: 'By hand again' });
      expect(await run(task)).to.deep.include({ found: 1, added: 0 });
    });

    it('respect the limits per run and per day', async () => {
      const items = Array.from({ length: 250 }, (_, index) => `line ${String(index)}`);
      const task = await site.task({ source: { kind: 'list', items }, limits: { run: 120, day: 150 } });
      await site.cli('svc', 'task', 'pause', String(task.id));
      await site.cli('svc', 'task', 'resume', String(task.id));
      expect(await run(task)).to.deep.include({
        added: 120,
        message: '120 new items queued. The limit of 120 per run is reached. The next run queues the rest.',
      });
      expect(await run(task)).to.deep.include({
        added: 30,
        message: '30 new items queued. The daily limit of 150 is reached. Runs on later days queue the rest.',
      });
      expect(await run(task)).to.deep.include({ added: 0 });
    });

    it('run by their schedules, which cron validates', async () => {
      expect(String(await failureOf(site.task({ schedule: '0 0 30 2 *' })))).to.include(
        "'0 0 30 2 *' is not a schedule",
      );
      const task = await site.task({ schedule: 'daily' });
      const event = (await site.host.cron.list()).find(({ hook }) => hook === 'svc_automations_run');
      expect(event).to.deep.include({ args: [task.id], schedule: 'daily' });
      await site.host.cron.run('svc_automations_run');
      await site.until(task, 'completed');
      await site.cli('svc', 'task', 'pause', String(task.id));
      expect((await site.host.cron.list()).some(({ hook }) => hook === 'svc_automations_run')).to.equal(false);
      await site.cli('svc', 'task', 'resume', String(task.id));
      await site.cli('svc', 'task', 'delete', String(task.id), '--yes');
      expect((await site.host.cron.list()).some(({ hook }) => hook === 'svc_automations_run')).to.equal(false);
    });

    it('refuse invalid tasks with an error for each field', async () => {
      const refused = String(
        await failureOf(
          site.task({
            name: '',
            settings: { prompt: 'no hole', words: 3 },
            source: { kind: 'rss', url: 'ftp://x' },
            limits: { run: -1 },
            attempts: 99,
            author_id: 77,
            colour: 'red',
          }),
        ),
      );
      for (const sentence of [
        'Name must not be empty.',
        'Words must be from 10 to 1000.',
        'Feed URL',
        'New items per run must be',
        'Attempts must be',
        'this user does not exist',
        'Colour is unknown.',
      ])
        expect(refused).to.include(sentence);
      expect(String(await failureOf(site.task({ settings: { prompt: 'no hole' } })))).to.include(
        'Prompt must hold {target}.',
      );
      expect(String(await failureOf(site.task({ type: 'nothing' })))).to.include('Type must be one of');
    });

    it('send one complete event for every completed and finally failed item', async () => {
      const receiver = await startWebhookReceiver();
      try {
        // Slow, so that whoever waited for it would be seen to.
        receiver.answer = async () => {
          await new Promise((resolve) => setTimeout(resolve, 300));
          return 200;
        };
        await site.cli('svc', 'webhook', 'on');
        await site.cli(
          'svc',
          'webhook',
          'add',
          '--json',
          JSON.stringify({ name: 'Shop', url: receiver.url, events: ['task.item_completed'] }),
        );
        const task = await site.task();
        site.work = async ({ target }) => {
          if (target === 'two') throw new Error('This cannot be.');
          const ai = { provider: 'OpenAI', model: 'gpt-4o-mini' };
          return Promise.resolve({
            message: 'Done.',
            ai,
            ...(target === 'one' && {
              commit: async () => ({ postId: (await site.host.content.posts.create({ title: target })).id }),
            }),
          });
        };
        await run(task);
        const items = await site.until(task, 'completed', 'failed');
        const events = (await receiver.first(3)).map(({ body }) => JSON.parse(body.toString()) as Event);
        const definition = serviceEvents.find(({ name }) => name === 'task.item_completed');
        const ajv = addFormats.default(new Ajv({ allErrors: true, allowUnionTypes: true }));
        for (const event of events) {
          expect(ajv.validate(definition?.schema ?? false, event.data), ajv.errorsText()).to.equal(true);
          expect(event.source).to.deep.equal({ module: 'automated_tasks', origin: 'queue_processor' });
          expect(event.resource).to.deep.include({ type: 'queue_item', id: String(event.data.queue_item.id) });
        }
        const of = (target: string): Event | undefined =>
          events.find(({ data }) => data.queue_item.target_identifier === target);
        const parseId = (target: string): number | undefined => items.find((item) => item.target === target)?.id;
        expect(of('one')?.data).to.deep.equal({
          task: { id: task.id, name: 'Notes', type: 'test_notes' },
          queue_item: { id: parseId('one'), target_identifier: 'one', status: 'completed', attempts: 1 },
          result: { message: 'Done.', generated_post_id: items.find(({ target }) => target === 'one')?.post },
          ai: { provider: 'OpenAI', model: 'gpt-4o-mini' },
        });
        expect(of('two')?.data).to.deep.equal({
          task: { id: task.id, name: 'Notes', type: 'test_notes' },
          queue_item: { id: parseId('two'), target_identifier: 'two', status: 'failed', attempts: 1 },
          result: { message: 'This cannot be.' },
        });
        // Failed again after it was set to go again: another act.
        await site.cli('svc', 'task', 'retry', String(task.id), '--all');
        const again = JSON.parse((await receiver.first(4))[3]?.body.toString() ?? '{}') as Event;
        expect(again.data.queue_item).to.deep.include({ id: parseId('two'), status: 'failed', attempts: 2 });
        expect(new Set([...events, again].map(({ idempotency_key: key }) => key)).size).to.equal(4);
      } finally {
        await receiver.stop();
      }
    });

    it('write content with the content writer, at the cost of the item and of its author', async () => {
      const ada = await site.host.users.create({
        login: 'ada',
        email: 'ada@example.com',
        password: 'correct horse battery',
        role: 'administrator',
      });
      const task = await site.task({
        name: 'Articles',
        type: 'content_writing',
        source: { kind: 'list', items: ['mountain coffee'] },
        author_id: ada.id,
      });
      await run(task);
      const [item] = await site.until(task, 'completed', 'failed');
      expect(item).to.deep.include({ state: 'completed' });
      const post = await site.host.content.posts.get(item?.post ?? 0);
      expect(post).to.deep.include({ status: 'draft' });
      expect(post?.content).not.to.equal('');
      expect(Object.keys(await callsByUser(site.host, 'automations'))).to.deep.equal([String(ada.id)]);
    });
  });
});
