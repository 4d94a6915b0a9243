import { expect } from 'chai';
import { callsByUser } from '../helpers/calls-by-user.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { signIn } from '../helpers/sign-in.ts';
import { checkEvent, readEvents, startContentSite, type ContentSite, type Event } from './content-site.ts';

describeHosts('a text that is streamed on the page', ({ location }) => {
  // Inside, so that the site has stopped when its database is removed.
  describe('of the content writer', () => {
    let site: ContentSite;
    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startContentSite({ database: databaseUrl ?? dataDir });
    });
    afterEach(() => site.stop());

    const topic = {
      source: 'topic',
      topic: 'Brewing coffee in the mountains',
      keywords: 'altitude',
      template: 'article',
    };
    const edited = {
      'draft[title]': 'Coffee, mine',
      'draft[content]': 'My **own** words <script>alert(1)</script>',
      'draft[meta_description]': 'Mine "too"',
      'draft[tags]': 'one, two',
      'post[save]': 'publish',
      'post[category]': 'Food',
    };

    it('streams section by section, emits one event and becomes one edited post', async () => {
      const events = await site.stream(topic);
      expect(events.map(({ event }) => event).filter((event) => event !== 'text')).to.deep.equal([
        'begin',
        ...['title', 'content', 'excerpt', 'meta_description', 'focus_keyword', 'tags'].flatMap(() => ['part', 'done']),
        'end',
      ]);
      // The other sections are data, which come whole.
      const texts = events.filter(({ event }) => event === 'text').map(({ data }) => data);
      expect(texts.length).to.be.greaterThan(5);
      expect(texts.filter(({ part }) => part !== 'content')).to.deep.equal([]);
      expect(texts.map(({ text }) => text).join('')).to.match(/^# Coffee.*more\)$/s);
      const excerpt = events.find(({ event, data }) => event === 'done' && data.part === 'excerpt');
      expect(excerpt?.data.value).to.equal('Why it tastes different.');
      const end = events.at(-1)!.data;
      expect(end.draft).to.deep.include({
        title: 'Coffee: up there',
        excerpt: 'Why it tastes different.',
        focus_keyword: 'Mountain Coffee',
        tags: ['coffee', 'Mountains'],
        input_tokens: 600,
        output_tokens: 60,
      });
      expect(end.html).to.equal(
        '<p>Water <strong>boils</strong> earlier.</p>\n<h2>Grind &#91;svc_chatbot id=1]</h2>\n<ul>\n<li>finer</li>\n</ul>\n<p> <a href="https://example.com/more">more</a></p>',
      );
      expect(end.spent).to.match(/^660 tokens, \$0\.000\d+$/);
      const [event] = (await site.events(1)) as [Event];
      checkEvent(event);
      expect(event.source).to.deep.equal({ module: 'content_writer', origin: 'direct_stream' });
      const uuid = events[0]!.data.uuid as string;
      expect(event.resource).to.deep.equal({ type: 'content_generation', id: uuid, label: 'Coffee: up there' });
      expect(event.data).to.deep.equal({
        title: 'Coffee: up there',
        content: end.html,
        excerpt: 'Why it tastes different.',
        meta_description: 'Brewing in the mountains: what changes, and what to do about it.',
        focus_keyword: 'Mountain Coffee',
        tags: ['coffee', 'Mountains'],
        ai: { provider: 'OpenAI', model: 'gpt-4o-mini-answered' },
      });

      const saved = await Promise.all([
        site.post('save', { uuid, ...topic, ...edited }),
        site.post('save', { uuid, ...topic, ...edited }),
      ]);
      expect(saved.map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(saved.map(({ body }) => body.redirect)).to.deep.equal([
        '/admin/posts/edit?id=1',
        '/admin/posts/edit?id=1',
      ]);
      const [post, ...others] = await site.host.content.posts.find({ status: 'any' });
      expect(others).to.deep.equal([]);
      expect(post).to.deep.include({
        title: 'Coffee, mine',
        content: '<p>My <strong>own</strong> words </p>',
        status: 'publish',
        authorId: site.userId,
      });
      expect(await site.host.content.meta.all(post!.id)).to.deep.equal({
        svc_meta_description: ['Mine "too"'],
        svc_category: ['Food'],
        svc_tags: ['one', 'two'],
        svc_ai_generated: [true],
        svc_ai_disclosure: ['This text was written by AI.'],
      });
      const terms = (await site.host.content.terms.ofPosts([post!.id])).get(post!.id) ?? [];
      expect(terms.map(({ name }) => name).sort()).to.deep.equal(['Food', 'one', 'two']);
      const head = await (await site.host.fetch(`/?p=${String(post!.id)}`)).text();
      expect(head.match(/<meta name="description"[^>]*>/g)).to.deep.equal([
        '<meta name="description" content="Mine &quot;too&quot;">',
      ]);
      expect(head)
        .to.include('<meta property="article:section" content="Food">')
        .and.to.include('<meta property="article:tag" content="two">')
        .and.to.include('<meta name="ai-disclosure" content="ai-generated">')
        .and.to.include(
          '<p class="ai-disclosure" data-ai-disclosure="ai-generated"><small>This text was written by AI.</small></p>',
        );
      await site.host.content.posts.update(post!.id, { meta: { svc_ai_disclosure: '', svc_seo_title: 'Best coffee' } });
      expect(await (await site.host.fetch(`/?p=${String(post!.id)}`)).text())
        .to.include('<title>Best coffee ')
        .and.to.include('<meta name="ai-disclosure"')
        .and.to.not.include('class="ai-disclosure"');
      expect(site.receiver.received).to.have.length(1);
      expect(await callsByUser(site.host, 'content-writer')).to.deep.equal({ [site.userId]: 6 });
    });

    it('shows category, tags, description and keyword in the editor of the post', async () => {
      const uuid = (await site.stream(topic))[0]!.data.uuid as string;
      const draft = { 'draft[meta_description]': 'Brewing "up there"', 'draft[focus_keyword]': 'mountain coffee' };
      const { body } = await site.post('save', { uuid, ...topic, ...edited, ...draft });
      const editor = await (await signIn(site.host)).get((body.redirect as string).replace('/admin/', ''));
      expect(editor)
        .to.match(/name="terms\[category\]\[\]" value="\d+"\s+checked> <span>Food<\/span>/)
        .and.match(/name="terms\[post_tag\]" value="one, two"/)
        .and.match(/name="meta\[svc_meta_description\]"[^>]*>Brewing &quot;up there&quot;<\/textarea>/)
        .and.match(/name="meta\[svc_focus_keyword\]" value="mountain coffee"/);
    });

    it('emits no event when stopped until the partial text is saved', async () => {
      const abort = new AbortController();
      let hangUp: () => void = () => undefined;
      const hung = new Promise<void>((resolve) => {
        hangUp = resolve;
      });
      const asModel = site.upstream.answer;
      site.upstream.answer = (turn) => {
        if (!turn.call.messages.at(-1)?.content.startsWith('Sum up')) return asModel(turn);
        turn.piece('Half an ');
        hangUp();
      };
      const response = await site.open(topic, { signal: abort.signal });
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const first = Buffer.from((await reader.read()).value ?? []).toString();
      const { uuid } = readEvents(first)[0]!.data as { uuid: string };
      await hung;
      abort.abort();
      await site.until(
        async () =>
          (
            (await site.host.database.knex('svc_content_items').where({ uuid }).first()) as
              { status: string } | undefined
          )?.status === 'cancelled',
      );
      expect(site.upstream.calls).to.have.length(3);
      const row = (await site.host.database.knex('svc_content_items').where({ uuid }).first()) as {
        draft: string;
        tokens: number;
      };
      expect(JSON.parse(row.draft)).to.include({ title: 'Coffee: up there' }).and.to.not.have.property('excerpt');
      expect(row.tokens).to.equal(220);
      expect(site.receiver.received).to.deep.equal([]);
      await site.post('save', { uuid, ...topic, ...edited, 'post[save]': 'draft' });
      const [event] = (await site.events(1)) as [Event];
      checkEvent(event);
      expect(event.source.origin).to.equal('manual_content_writer');
      expect(event.resource).to.deep.equal({ type: 'post', id: '1', label: 'Coffee, mine' });
      expect(event.data.post).to.deep.include({ id: 1, status: 'draft' });
    });

    it('reports why it failed, stores the partial text and emits no event', async () => {
      const asModel = site.upstream.answer;
      site.upstream.answer = (turn) => {
        if (turn.call.messages.at(-1)?.content.startsWith('Write a meta')) turn.fail(400, 'That is too much.');
        else asModel(turn);
      };
      const events = await site.stream(topic);
      expect(events.at(-1)).to.deep.include({ event: 'failed' });
      expect(events.at(-1)!.data.message).to.include('That is too much.');
      const [row] = (await site.host.database.knex('svc_content_items')) as { status: string; message: string }[];
      expect(row).to.deep.include({ status: 'failed' });
      expect(site.receiver.received).to.deep.equal([]);
    });

    it('is refused with an error at each field before anything is sent', async () => {
      const bad = await site.post('stream', {
        ...topic,
        topic: ' ',
        'parts[title][prompt]': 'About {nothing}',
        'parts[title][enabled]': '1',
      });
      expect(bad.status).to.equal(400);
      expect(Object.keys((bad.body.data as { errors: object }).errors)).to.deep.equal(['parts[title][prompt]']);
      expect(
        Object.keys(((await site.post('stream', { ...topic, topic: ' ' })).body.data as { errors: object }).errors),
      ).to.deep.equal(['topic']);
      expect(site.upstream.calls).to.deep.equal([]);
    });

    it('shows an estimate first', async () => {
      const { body } = await site.post('estimate', topic);
      expect((body.data as { text: string }).text).to.match(/^About [\d,]+ tokens, \$0\.00\d+\.$/);
    });

    it('is saved only by its owner and with the owner’s rights', async () => {
      const events = await site.stream(topic);
      const { uuid } = events[0]!.data as { uuid: string };
      await site.host.database.knex('svc_content_items').where({ uuid }).update({ user_id: 999 });
      expect((await site.post('save', { uuid, ...topic, ...edited })).status).to.equal(404);
      await site.host.database.knex('svc_content_items').where({ uuid }).update({ user_id: site.userId });
      expect((await site.post('save', { uuid, ...topic, ...edited, 'post[type]': 'attachment' })).status).to.equal(400);
      expect((await site.post('save', { uuid, ...topic, ...edited, 'post[author_id]': '999' })).status).to.equal(400);
      expect(await site.host.content.posts.count({ status: 'any' })).to.equal(0);
    });
  });
});
