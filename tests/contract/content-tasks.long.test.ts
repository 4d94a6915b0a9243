import { Ajv } from 'ajv';
import { expect } from 'chai';
import type { AutomationItem, AutomationTaskType } from '../../plugins/svc/kit/automation-task.ts';
import { imageGeneratedEvent } from '../../plugins/svc/modules/images/image-generated.event.ts';
import type { Provider } from '../../plugins/svc/providers/provider.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { checkEvent, startContentSite, type ContentSite, type Event } from './content-site.ts';
import { picture } from './images-service.ts';

describeHosts('content in automations', ({ location }) => {
  describe('of the content writer', () => {
    let site: ContentSite;
    beforeEach(async function () {
      this.timeout(60_000);
      site = await startContentSite({ database: location().databaseUrl ?? location().dataDir });
    });
    afterEach(() => site.stop());

    async function typeOf(id: string): Promise<AutomationTaskType> {
      const types = await site.host.hooks.applyFiltersAsync('svc_automation_task_types', [], {} as never);
      return (types as readonly AutomationTaskType[]).find((one) => one.id === id)!;
    }
    const toItem = (init: Partial<AutomationItem>): AutomationItem => ({
      key: 'automation:1:7',
      id: 7,
      target: 'Coffee',
      input: {},
      settings: {},
      attempt: 1,
      signal: new AbortController().signal,
      task: { id: 1, name: 'Weekly', type: 'content_writing', authorId: site.userId },
      origin: { module: 'automations', route: null, botId: null, reference: 'automation:1:7' },
      ...init,
    });
    const posts = () => site.host.content.posts.find({ status: 'any', order: 'asc' });

    it('create the post and its event with the commit of the item, not before', async () => {
      const type = await typeOf('content_writing');
      const result = await type.run(toItem({ settings: { save: 'publish', category: 'Drinks', tags: 'hot' } }));
      expect(result.ai).to.deep.equal({ provider: 'OpenAI', model: 'gpt-4o-mini-answered' });
      expect(await posts()).to.deep.equal([]);
      const failed = await failureOf(
        site.host.database.transaction(async (transaction) => {
          await result.commit?.(transaction);
          throw new Error('taken over');
        }),
      );
      expect(String(failed)).to.include('taken over');
      expect(await posts()).to.deep.equal([]);
      const committed = await site.host.database.transaction(async (transaction) => result.commit?.(transaction));
      const [post] = await posts();
      expect(committed).to.deep.equal({ postId: post!.id });
      expect(post).to.deep.include({ title: 'Coffee: up there', status: 'publish', authorId: site.userId });
      expect((await site.host.content.meta.all(post!.id))['svc_category']).to.deep.equal(['Drinks']);
      const [event] = (await site.events(1)) as [Event];
      checkEvent(event);
      expect(event.source).to.deep.equal({ module: 'content_writer', origin: 'automated_task_content_writing' });
      expect(event.data.task).to.deep.equal({ id: 1 });
      expect(event.data.post).to.deep.include({ id: post!.id, status: 'publish' });
    });

    it('send image.generated with their texts: of the task with the commit, of a command at once, each once', async () => {
      const png = picture(7);
      const painter = {
        id: 'painter',
        label: 'Painter',
        required: [],
        settings: { type: 'object', properties: {} },
        images: {
          perCall: () => 1,
          generate: async () =>
            Promise.resolve({
              images: [{ url: null, b64_json: png, revised_prompt: 'Steam', mimeType: 'image/png' }],
              usage: { output_tokens: 5 },
              model: 'oil-1',
              ignored: [],
            }),
        },
        listModels: async () => Promise.resolve([]),
      } satisfies Provider;
      site.host.hooks.addFilter('svc_providers', (providers) => [...providers, painter]);
      const emitted: Event[] = [];
      site.host.hooks.addAction('svc_event_image_generated', (_data: unknown, envelope: Event) => {
        emitted.push(envelope);
      });
      const image = { enabled: true, provider: 'painter', model: 'oil-1', prompt: 'Draw {topic}' };
      const template = { kind: 'write', parts: { title: { enabled: true, prompt: 'Write one title' }, image } };
      await site.run('content', 'templates', 'set', '--json', JSON.stringify({ name: 'Drawn', ...template }));
      const type = await typeOf('content_writing');
      const result = await type.run(toItem({ settings: { template: 'Drawn' } }));
      expect(emitted).to.deep.equal([]);
      await site.host.database.transaction(async (transaction) => result.commit?.(transaction));
      const drawn = await site.run(
        'content',
        'generate',
        '--json',
        JSON.stringify({ topic: 'Tea', template: 'Drawn', author: site.userId }),
      );
      const [post] = await posts();
      const sizes = Buffer.from(png, 'base64').length;
      const outputs = emitted.map(({ data }) => data.outputs.images[0]);
      expect(outputs.map(({ size, mime_type: mime, revised_prompt: revised }) => [size, mime, revised])).to.deep.equal([
        [sizes, 'image/png', 'Steam'],
        [sizes, 'image/png', 'Steam'],
      ]);
      expect(outputs.map(({ media_id: id }) => id)).to.deep.equal([post?.featuredMediaId, drawn.image_id]);
      expect(emitted.map(({ source, resource }) => [source, resource?.id])).to.deep.equal([
        [{ module: 'image_generator', origin: 'automated_task_images' }, 'automation:1:7'],
        [{ module: 'image_generator', origin: 'admin_image_generator' }, drawn.id],
      ]);
      const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
      for (const { data } of emitted)
        expect(ajv.validate(imageGeneratedEvent.schema, data), ajv.errorsText()).to.equal(true);
      expect(emitted.map(({ data }) => [data.prompt, data.provider, data.model, data.usage, data.actor])).to.deep.equal(
        ['Coffee', 'Tea'].map((topic) => [
          `Draw ${topic}`,
          'Painter',
          'oil-1',
          { output_tokens: 5 },
          { type: 'user', user_id: site.userId },
        ]),
      );
    });

    it('belong to the first administrator if a command created the task', async () => {
      const type = await typeOf('content_writing');
      const item = toItem({});
      const result = await type.run({ ...item, task: { ...item.task, authorId: 0 } });
      await site.host.database.transaction(async (transaction) => result.commit?.(transaction));
      const [first] = await site.host.users.ids({ role: 'administrator' });
      expect((await posts()).map(({ authorId }) => authorId)).to.deep.equal([first]);
      const gone = await failureOf(type.run({ ...item, task: { ...item.task, authorId: 999_999 } }));
      expect(String(gone)).to.include('was deleted');
    });

    it('read rows, feed entries and lines', async () => {
      const type = await typeOf('content_writing');
      await type.run(
        toItem({ target: 'x', input: { Title: 'Tea', Keywords: 'green' }, settings: { instructions: 'Short.' } }),
      );
      await type.run(
        toItem({
          target: 'https://example.com/1',
          input: { title: 'Entry', url: 'https://example.com/1', summary: 'Told', published: null },
          settings: { template: 'News from a source' },
        }),
      );
      const told = site.upstream.calls.map(({ messages }) => messages.at(-1)?.content ?? '');
      expect(told[0]).to.include('Tea').and.to.include('green');
      expect(told.find((prompt) => prompt.startsWith('Write a short piece'))).to.include(
        'Source (https://example.com/1):\nTold',
      );
    });

    it('rewrite a post by its template: links, images and shortcodes stay, the previous version is a revision', async () => {
      site.host.content.addShortcode('gallery', () => '');
      const text =
        '<p>Old <a href="https://example.com/a">link</a></p>[gallery ids="1"]<img src="/uploads/cat.png" alt="A cat">';
      const post = await site.host.content.posts.create({
        title: 'Old title',
        content: text,
        status: 'publish',
        authorId: site.userId,
      });
      const prompt = (part: string): object => ({ enabled: true, prompt: part });
      await site.run(
        'content',
        'templates',
        'set',
        '--json',
        JSON.stringify({
          name: 'Mine',
          kind: 'rewrite',
          parts: { content: prompt('As it is: {content}'), meta_description: prompt('Write a meta {title}') },
        }),
      );
      site.upstream.answer = (turn) => {
        const said = turn.call.messages.at(-1)?.content ?? '';
        turn.piece(
          said.startsWith('As it is')
            ? `New [link](https://example.com/a) [gallery ids="1"] [svc_chatbot id=1]\n\n<img src="/uploads/cat.png" alt="A cat"> ![x](https://tracker.example/x.png)`
            : '{"meta_description":"Described."}',
        );
        turn.end();
      };
      const type = await typeOf('post_rewriting');
      const result = await type.run(
        toItem({ target: String(post.id), input: { post_id: post.id }, settings: { template: 'Mine' } }),
      );
      expect(site.upstream.calls[0]?.messages.at(-1)?.content).to.equal(`As it is: ${text}`);
      await site.host.database.transaction(async (transaction) => result.commit?.(transaction));
      const after = await site.host.content.posts.get(post.id);
      expect(after).to.include({
        title: 'Old title',
        status: 'publish',
        content:
          '<p>New <a href="https://example.com/a">link</a> [gallery ids="1"] &#91;svc_chatbot id=1]</p>\n<p><img src="/uploads/cat.png" alt="A cat" /> </p>',
      });
      expect((await site.host.content.revisions.list(post.id)).map(({ content }) => content)).to.include(text);
      expect((await site.host.content.meta.all(post.id))['svc_meta_description']).to.deep.equal(['Described.']);
      const [event] = (await site.events(1)) as [Event];
      checkEvent(event);
      expect(event.data).to.deep.include({ title: 'Old title', task: { id: 1 } });
    });

    it('overwrite no concurrent edits and no posts that the author is not allowed to edit', async () => {
      const post = await site.host.content.posts.create({ title: 'Old', content: '<p>Old</p>', authorId: site.userId });
      const type = await typeOf('post_rewriting');
      const item = toItem({ target: String(post.id), input: {}, settings: { template: 'Texts for search results' } });
      const result = await type.run(item);
      await new Promise((resolve) => setTimeout(resolve, 5));
      await site.host.content.posts.update(post.id, { title: 'Mine' });
      const refused = await failureOf(
        site.host.database.transaction(async (transaction) => result.commit?.(transaction)),
      );
      expect(refused).to.include({ code: 'rest_svc_post_changed' });
      const { id } = await site.host.users.create({
        login: 'bob',
        email: 'bob@example.com',
        password: 'a long password',
        role: 'author',
      });
      expect(await failureOf(type.run({ ...item, task: { ...item.task, authorId: id } }))).to.include({
        code: 'rest_cannot_edit',
      });
      expect(await failureOf(type.run({ ...item, target: '999' }))).to.include({ code: 'rest_post_invalid_id' });
      const calls = site.upstream.calls.length;
      await site.host.content.posts.update(post.id, { password: 'secret' });
      expect(String(await failureOf(type.run(item)))).to.contain('protected by a password');
      expect(site.upstream.calls.length).to.equal(calls);
    });

    it('keep the id of a template, by whatever name it was given: a renamed template stays theirs', async () => {
      const template = (settings: object) =>
        site.run('content', 'templates', 'set', '--json', JSON.stringify(settings));
      const made = (await template({
        name: 'Gazette',
        kind: 'write',
        parts: { content: { enabled: true, prompt: 'Write about {topic}.' } },
      })) as { id: string };
      const create = async (given: unknown) =>
        (await site.run(
          'task',
          'create',
          '--json',
          JSON.stringify({
            type: 'content_writing',
            settings: { template: given },
            source: { kind: 'list', items: ['Tea'] },
          }),
        )) as { id: number; settings: { template: string } };
      const task = await create(' gazette ');
      expect(task.settings.template).to.equal(made.id);
      for (const given of [made.id, Number(made.id), 'Gazette'])
        expect((await create(given)).settings.template).to.equal(made.id);
      expect((await create('Article')).settings.template).to.equal('article');
      const { err } = await site.host.cli(
        ...['svc', 'task', 'update', '--json', JSON.stringify({ id: task.id, settings: { template: 'Nothing' } })],
      );
      expect(err).to.contain('article').and.to.contain(`${made.id} (Gazette)`);
      // Tasks of earlier versions have names.
      const { knex } = site.host.database;
      await knex('svc_tasks').where({ id: task.id }).update({ settings: '{"template":"GAZETTE","save":"draft"}' });
      const { taskTemplatesMigration } = await import('../../plugins/svc/modules/content-writer/content-tables.ts');
      await taskTemplatesMigration.up(knex as never, { dialect: site.host.database.dialect } as never);
      const [row] = (await knex('svc_tasks').where({ id: task.id }).pluck('settings')) as string[];
      expect(JSON.parse(row ?? '')).to.deep.equal({ template: made.id, save: 'draft' });
    });

    it('refuse a template of the wrong kind', async () => {
      const [writing, rewriting] = [await typeOf('content_writing'), await typeOf('post_rewriting')];
      expect(await writing.check?.({ template: 'Refresh a post' })).to.have.keys('template');
      expect(await writing.check?.({ template: 'Article', post_type: 'nothing' })).to.deep.equal({
        post_type: 'The post type nothing does not exist or has no editor.',
      });
      expect(await rewriting.check?.({ template: 'Refresh a post' })).to.deep.equal({});
    });

    it('come from commands too: a text with its cost, post and event', async () => {
      const alone = await site.run(
        'content',
        'generate',
        '--json',
        JSON.stringify({ topic: 'Coffee', parts: ['title', 'content'] }),
      );
      expect(alone).to.deep.include({
        title: 'Coffee: up there',
        provider: 'OpenAI',
        input_tokens: 200,
        output_tokens: 20,
        post_id: null,
      });
      expect(alone.cost).to.be.above(0).and.to.be.below(0.01);
      const saved = await site.run(
        'content',
        'generate',
        '--json',
        JSON.stringify({ topic: 'Coffee', save: 'publish', type: 'page', tags: ['a'] }),
      );
      expect(saved).to.deep.include({ post_id: 1, post_status: 'publish' });
      const events = await site.events(2);
      for (const event of events) checkEvent(event);
      expect(events.map(({ source, resource }) => [source.origin, resource?.type])).to.deep.equal([
        ['manual_content_writer', 'content_generation'],
        ['manual_content_writer', 'post'],
      ]);
      const bad = await failureOf(site.run('content', 'generate', '--json', '{"topic": "x", "save": "nowhere"}'));
      expect(String(bad)).to.include('save must be one of');
    });

    it('let plugins change prompts, results and posts', async () => {
      site.host.hooks.addFilter('svc_content_prompt', (prompt, part) =>
        part === 'title' ? { ...prompt, prompt: 'A title, please' } : prompt,
      );
      site.host.hooks.addFilter('svc_content_result', (draft) => ({ ...draft, excerpt: 'Mine.' }));
      site.host.hooks.addFilter('svc_content_post', (post) => ({ ...post, title: `${post.title ?? ''}!` }));
      const saved: number[] = [];
      site.host.hooks.addAction('svc_content_saved', (post) => saved.push(post.id));
      const {
        title,
        excerpt,
        post_id: id,
      } = await site.run('content', 'generate', '--json', '{"topic": "Coffee", "save": "draft", "parts": ["title"]}');
      expect([title, excerpt]).to.deep.equal(['You said: A title, please', 'Mine.']);
      expect((await site.host.content.posts.get(id as number))?.title).to.equal('You said: A title, please!');
      expect(saved).to.deep.equal([id]);
    });
  });
});
