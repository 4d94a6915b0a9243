import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { createPostgresDatabase } from '../helpers/postgres.ts';
import { createConversationStore } from '../../plugins/svc/modules/chatbots/conversations/conversation-store.ts';
import type {
  ConversationStore,
  NewConversation,
} from '../../plugins/svc/modules/chatbots/conversations/conversation.ts';
import { createMigratedHost } from '../helpers/migrated.ts';

const restKey = 'the REST key of these tests';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are compared, not typed.
  readonly body: any;
}

for (const dialect of ['SQLite', 'PostgreSQL'] as const) {
  describe(`GET /logs (${dialect})`, () => {
    let host: TestHost;
    let store: ConversationStore;
    let drop = async (): Promise<void> => {};
    let bot = 0;

    before('starts a site with a chatbot and users', async function () {
      this.timeout(120_000);
      const database = dialect === 'PostgreSQL' ? await createPostgresDatabase() : null;
      drop = database?.drop ?? drop;
      host = await createMigratedHost({ plugins: ['svc'], ...(database !== null && { database: database.url }) });
      await host.options.update('svc_api_key', host.secrets.encrypt(restKey));
      store = createConversationStore({ host: { database: host.database, clock: host.clock } });
      const made = await host.cli('svc', 'bot', 'create', '--json', '{"name": "Shop <assistant>"}');
      bot = Number((JSON.parse(made.out) as { id: number }).id);
    });
    after('stops it', async () => {
      await host.stop();
      await drop();
    });
    beforeEach('empties the logs', async () => {
      for (const id of (await host.database.knex('svc_conversations').pluck('id')) as number[]) await store.delete(id);
    });

    async function logs(
      query: Record<string, string | number> = {},
      headers: Record<string, string> = { authorization: `Bearer ${restKey}` },
    ): Promise<Answer> {
      const address = new URLSearchParams(
        Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
      );
      const response = await host.fetch(`/wp-json/svc/v1/logs?${address.toString()}`, { headers });
      return { status: response.status, headers: response.headers, body: await response.json() };
    }

    async function add(texts: readonly string[], given: Partial<NewConversation> = {}): Promise<number> {
      await host.clock.advance(1000);
      const { id } = await store.start({
        uuid: randomUUID(),
        botId: bot,
        userId: 0,
        sessionId: 'session-1',
        module: 'chatbot',
        pageUrl: '',
        ip: '',
        consentedAt: null,
        ...given,
      });
      const messages = texts.map((content, index) => ({
        id: randomUUID(),
        role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
        content,
        ...(index % 2 === 1 && {
          provider: 'OpenAI',
          model: 'gpt-4o-mini',
          usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
        }),
      }));
      await store.append(id, messages);
      return id;
    }

    const ids = ({ body }: Answer): number[] => (body as { id: string }[]).map(({ id }) => Number(id));
    const totals = ({ headers }: Answer): (string | null)[] =>
      ['X-SVC-Total', 'X-SVC-TotalPages', 'X-WP-Total', 'X-WP-TotalPages'].map((name) => headers.get(name));

    it('shows the name of a chatbot that an earlier version stored with NUL or half of a pair', async () => {
      await add(['Hello']);
      const row = host.database.knex('svc_bots').where({ id: bot });
      const { settings } = (await row.clone().first('settings')) as { settings: string };
      const old = { ...(JSON.parse(settings) as object), name: 'a\0b\ud800', instructions: 'c\0' };
      await row.clone().update({ settings: JSON.stringify(old) });
      const { status, body } = await logs();
      expect([status, (body as { bot_name: string }[])[0]?.bot_name]).to.deep.equal([200, 'a\ufffdb\ufffd']);
      const shown = await host.cli('svc', 'bot', 'get', String(bot), '--json');
      expect(shown.out)
        .to.include('c\ufffd')
        .and.not.include(String.raw`\u0000`);
      await row.clone().update({ settings });
    });

    it('returns every field of a row as text', async () => {
      const id = await add(['Do you ship to Norway?', 'Yes.']);
      const { status, body } = await logs();
      expect(status).to.equal(200);
      expect(body).to.have.length(1);
      const [row] = body as Record<string, string>[];
      const found = await host.database.knex('svc_conversations').where({ id }).first();
      expect(row).to.deep.equal({
        id: String(id),
        bot_id: String(bot),
        user_id: '0',
        session_id: 'session-1',
        conversation_uuid: found.uuid,
        is_guest: '1',
        module: 'chatbot',
        messages: row?.['messages'],
        message_count: '2',
        last_message_ts: String(Math.floor(found.last_message_at / 1000)),
        created_at: new Date(found.created_at).toISOString().slice(0, 19).replace('T', ' '),
        bot_name: 'Shop <assistant>',
        user_display_name: 'Guest',
      });
      const timestamp = Math.floor(found.last_message_at / 1000);
      const messages = JSON.parse(row?.['messages'] ?? '') as { id: string }[];
      expect(messages).to.deep.equal([
        { id: messages[0]?.id, role: 'user', content: 'Do you ship to Norway?', timestamp },
        {
          id: messages[1]?.id,
          role: 'assistant',
          content: 'Yes.',
          timestamp,
          provider: 'OpenAI',
          model: 'gpt-4o-mini',
          usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
        },
      ]);
    });

    it('shows current names and marks deleted ones', async () => {
      const user = await host.users.create({
        login: `anna-${dialect.toLowerCase()}`,
        email: `anna.${dialect.toLowerCase()}@example.com`,
        password: 'a long password',
        displayName: 'Anna Årud',
      });
      await add(['Hello'], { userId: user.id, sessionId: null, botId: 999_999 });
      const before = (await logs()).body[0];
      expect(before).to.include({
        user_id: String(user.id),
        session_id: null,
        is_guest: '0',
        user_display_name: 'Anna Årud',
        bot_id: '999999',
        bot_name: '(deleted chatbot)',
      });
      await host.users.update(user.id, { displayName: 'Anna B.' });
      expect((await logs()).body[0]).to.include({ user_display_name: 'Anna B.' });
      for (const part of ['anna b', 'ANNA-', `ANNA.${dialect}@EXAMPLE`])
        expect(totals(await logs({ user_search: part }))[0], part).to.equal('1');
      expect(totals(await logs({ user_search: 'Årud' }))[0]).to.equal('0');
      await host.users.delete(user.id);
      expect((await logs()).body[0]).to.include({ user_display_name: '(deleted user)' });
      expect(totals(await logs({ user_search: 'anna' }))[0]).to.equal('0');
    });

    it('finds conversations of earlier versions before and after the job that indexes them', async () => {
      const id = await add(['An earlier question', 'An answer']);
      await host.database.knex('svc_conversation_texts').delete();
      await host.database.knex('svc_conversations').update({ indexed: 0 });
      expect(ids(await logs({ message_search: 'EARLIER' }))).to.deep.equal([id]);
      await host.hooks.doActionAsync('svc_logs_retention');
      await host.jobs.drain();
      const [job] = await host.jobs.forOwner('svc').list({ name: 'index-chat-logs' });
      expect(job).to.deep.include({ state: 'completed', result: 1 });
      expect(job?.progress).to.include({ done: 1, total: 1 });
      expect((await host.cli('svc', 'logs', 'index')).out).to.include('The index is up to date.');
      expect(ids(await logs({ message_search: 'EARLIER' }))).to.deep.equal([id]);
      expect(await host.database.knex('svc_conversation_texts')).to.have.length(1);
    });

    it('is sorted by the last message, then by id, and paged with totals and links', async () => {
      const made = [await add(['one']), await add(['two']), await add(['three'])] as const;
      expect(ids(await logs())).to.deep.equal([...made].reverse());
      await host.clock.advance(1000);
      await store.append(made[0], [{ id: randomUUID(), role: 'user', content: 'again' }]);
      expect(ids(await logs())).to.deep.equal([made[0], made[2], made[1]]);
      const middle = await logs({ page: 2, per_page: 1, bot_id: bot });
      expect(ids(middle)).to.deep.equal([made[2]]);
      expect(totals(middle)).to.deep.equal(['3', '3', '3', '3']);
      const link = (page: number, relation: string): string =>
        `<${host.url}/wp-json/svc/v1/logs?page=${String(page)}&per_page=1&bot_id=${String(bot)}>; rel="${relation}"`;
      expect(middle.headers.get('Link')).to.include(link(1, 'prev')).and.to.include(link(3, 'next'));
      const past = await logs({ page: 9, per_page: 2 });
      expect(past.status).to.equal(200);
      expect(past.body).to.deep.equal([]);
      expect(totals(past)).to.deep.equal(['3', '2', '3', '2']);
      expect(past.headers.get('Link')).to.include('page=2').and.not.include('next');
    });

    it('returns at most 100 rows per page, and rejects invalid pages (contract 4.6, D14)', async () => {
      expect((await logs({ per_page: 1000 })).status).to.equal(200);
      for (let count = 0; count < 101; count++)
        await store.start({
          uuid: randomUUID(),
          botId: bot,
          userId: 0,
          sessionId: null,
          module: 'rest_api',
          pageUrl: '',
          ip: '',
          consentedAt: null,
        });
      const many = await logs({ per_page: 1000 });
      expect(many.body).to.have.length(100);
      expect(totals(many)).to.deep.equal(['101', '2', '101', '2']);
      expect((await logs()).body).to.have.length(20);
      for (const bad of [
        { page: 0 },
        { page: -1 },
        { page: 'x' },
        { page: 1.5 },
        { per_page: 0 },
        { per_page: -3 },
        { bot_id: 'seven' },
      ] as const) {
        const { status, body } = await logs(bad);
        expect(status, JSON.stringify(bad)).to.equal(400);
        expect(body.code).to.equal('rest_invalid_param');
        expect(Object.keys(body.data.params)).to.deep.equal(Object.keys(bad));
      }
    });

    it('shows what a filter changed in place', async () => {
      await add(['Where is my order?']);
      await add(['My address is 1 Main Street.']);
      const undo = host.hooks.addFilter('svc_logs_rows', (rows) => {
        const [newest, oldest] = rows;
        Object.assign(newest ?? {}, { messages: '[]', session_id: null });
        Object.assign(oldest ?? {}, { note: 'first' });
        return rows;
      });
      try {
        const { body } = await logs();
        expect(body[0]).to.include({ messages: '[]', session_id: null });
        expect(body[1]).to.include({ note: 'first', session_id: 'session-1' });
        expect(body[1].messages).to.contain('Where is my order?');
      } finally {
        undo();
      }
    });

    it('searches only messages: any part, ignoring case and accents', async () => {
      const id = await add(['Wo bleibt die Größe "50%_off"?', 'Bestellung #1234 kommt.']);
      await add(['etwas anderes']);
      for (const part of [
        'GRÖSSE'.replace('SS', 'ß'),
        'grosse'.replace('ss', 'ß'),
        'bleibt die',
        '50%',
        '%_',
        '"50',
        '#1234',
        'K',
        'ko',
        'kom',
        'komm',
        'LUNG #12',
      ])
        expect(ids(await logs({ message_search: part })), part).to.deep.equal([id]);
      for (const part of [
        'content',
        'role',
        'assistant',
        'timestamp',
        'gpt-4o',
        'OpenAI',
        '50__',
        'G%e',
        '? Bestell',
        '?bestell',
        '{',
        ':',
      ])
        expect(totals(await logs({ message_search: part })), part).to.deep.equal(['0', '0', '0', '0']);
      expect(totals(await logs({ message_search: '' }))[0]).to.equal('2');
    });

    it('combines filters', async () => {
      const id = await add(['needle here'], { botId: bot });
      await add(['needle there'], { botId: 77 });
      await add(['nothing'], { botId: bot });
      const found = await logs({ bot_id: bot, message_search: 'needle', user_search: 'guest' });
      expect(ids(found)).to.deep.equal([id]);
      expect(totals(found)[0]).to.equal('1');
      expect(totals(await logs({ bot_id: 77 }))[0]).to.equal('1');
      expect(totals(await logs({ bot_id: 5_000_000_000 }))[0]).to.equal('0');
      expect(totals(await logs({ user_search: 'nobody at all' }))[0]).to.equal('0');
    });

    it('requires the key first', async () => {
      const { status, body } = await logs({ page: 0 }, {});
      expect(status).to.equal(401);
      expect(body).to.deep.equal({
        code: 'rest_svc_invalid_api_key',
        message: 'Invalid or missing API Key.',
        data: { status: 401 },
      });
      await add(['one']);
      await add(['two']);
      const byParameter = await logs({ per_page: 1, svc_api_key: restKey }, {});
      expect(byParameter.status).to.equal(200);
      expect(byParameter.headers.get('Link')).to.include('page=2').and.not.include('svc_api_key');
    });
  });
}
