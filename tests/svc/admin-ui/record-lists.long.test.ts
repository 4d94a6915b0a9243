import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { createMigratedHost, createMigratedPostgres } from '../../helpers/migrated.ts';
import type { PostgresDatabase } from '../../helpers/postgres.ts';
import { leastProcessorTime } from '../../helpers/processor-time.ts';

const many = 10_000;
/** Bytes of a page. */
const largestPage = 200_000;
/** Milliseconds of processor time: several times what a page takes, and half of what it took to read the settings of all. */
const longest = 300;

for (const dialect of ['sqlite', 'postgresql'] as const)
  describe(`a site with ${String(many)} chatbots and forms, and 1,000 keys (${dialect})`, () => {
    let host: TestHost;
    let key = '';
    let postgres: PostgresDatabase | undefined;
    let open: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
    let submit: Awaited<ReturnType<TestHost['signIn']>>['submit'];

    const authorized = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });

    async function multiply(table: string, count: number, change: (row: Row, index: number) => object): Promise<void> {
      const row = (await host.database.knex(table).orderBy('id', 'desc').first()) as Row;
      const rows = Array.from({ length: count - 1 }, (_, index) => ({ ...row, id: index + 2, ...change(row, index) }));
      for (let start = 0; start < rows.length; start += 500)
        await host.database.knex(table).insert(rows.slice(start, start + 500));
    }

    before(async () => {
      postgres = dialect === 'postgresql' ? await createMigratedPostgres() : undefined;
      host = await createMigratedHost({
        plugins: ['svc', 'sandbox'],
        ...(postgres !== undefined && { database: postgres.url }),
      });
      const run = async (...argv: string[]): Promise<void> => {
        const { code, err } = await host.cli('svc', ...argv);
        if (code !== 0) throw new Error(err);
      };
      await run('sandbox', 'on');
      await run('bot', 'create', '--json', JSON.stringify({ name: 'First', forms: [contactForm] }));
      await run(
        'form',
        'create',
        '--json',
        JSON.stringify({ name: 'First', elements: [{ id: 'topic', type: 'text', label: 'Topic' }], prompt: '{topic}' }),
      );
      const { out } = await host.cli('svc', 'key', 'create', '--name=First', '--routes=openai,chat');
      key = /svck_\S+/.exec(out)?.[0] ?? '';
      const chat = {
        method: 'POST',
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], conversation_uuid: randomUUID() }),
        headers: authorized(),
      };
      const chatted = await host.fetch('/wp-json/svc/v1/chat/1/message', chat);
      expect(chatted.status, await chatted.text()).to.equal(200);
      const sent = { uuid: randomUUID(), form_name: 'Contact', user_id: 0, page_url: '', created_at: host.clock.now() };
      const answers = JSON.stringify({ inputs: {}, display_values: {}, labels: {} });
      await host.database
        .knex('svc_submissions')
        .insert({ ...sent, bot_id: 1, form_id: 'contact', conversation: '', answers, found_by: '' });
      const named = ({ settings }: Row, index: number): object => ({
        settings: JSON.stringify({ ...(JSON.parse(settings) as object), name: `Number ${String(index)}` }),
      });
      await multiply('svc_bots', many, named);
      await multiply('svc_ai_forms', many, named);
      await multiply('svc_keys', 1_000, (_row, index) => ({ name: `Key ${String(index)}`, digest: String(index) }));
      const browser = await host.signIn();
      open = (path) => browser.open(path);
      submit = browser.submit;
    });
    after(async () => {
      await host.stop();
      await postgres?.drop();
    });

    for (const path of [
      ...[
        '',
        'svc',
        'svc/bots?s=number+99&sort=name',
        'svc/logs?bot=7',
        'svc/submissions?bot=7',
        'svc/check-site?bot=7',
      ],
      ...[
        'svc/ai-forms?page=50',
        'svc/ai-forms/submissions?form=7',
        'svc/budgets',
        'svc/keys?test=7',
        'svc/keys?new=1',
      ],
      ...['svc/usage', 'alerts', 'svc/tasks', 'search?q=number'],
    ])
      it(`opens /admin/${path} as fast as a small one`, async () => {
        const time = await leastProcessorTime(async () => {
          const { status, text } = await open(path);
          expect(status).to.equal(200);
          expect(Buffer.byteLength(text)).to.be.below(largestPage);
        });
        expect(time).to.be.below(longest);
      });

    it('lists the models of the OpenAI-compatible routes in pages', async () => {
      const list = async (query: string): Promise<ModelPage> => {
        const response = await host.fetch(`/wp-json/svc-openai/v1/models${query}`, {
          headers: authorized(),
        });
        const text = await response.text();
        expect(Buffer.byteLength(text)).to.be.below(largestPage);
        return JSON.parse(text) as ModelPage;
      };
      const ids = new Set<string>();
      let after = '';
      for (let more = true; more;) {
        const { data, has_more } = await list(after);
        for (const { id } of data) ids.add(id);
        after = `?after=${encodeURIComponent(data.at(-1)?.id ?? '')}`;
        more = has_more;
      }
      expect([...ids].filter((id) => id.startsWith('bot:'))).to.have.length(many);
      const two = await list('?limit=2&after=bot:7');
      expect(two.data.map(({ id }) => id)).to.deep.equal(['bot:8', 'bot:9']);
      expect(await list('?after=gone')).to.deep.equal({ object: 'list', data: [], has_more: false });
    });

    it('switches several at once, and keeps what a typed id names', async () => {
      const { text } = await submit('svc/bots?page=2', 'bulk', { do: 'inactive', ids: '21,22,9000' });
      expect(text).to.include('3 chatbots deactivated.');
      const budget = { name: 'One', amount: '5', unit: 'calls', period: 'day', whose: 'bot', alert_percent: '80' };
      expect((await submit('svc/budgets', 'save', { ...budget, bot_id: '9000' })).text).to.include('Number 8998');
      expect((await open('svc/logs?bot=9000')).text).to.include('Chatbot: Number 8998');
    });
  });

interface ModelPage {
  readonly data: readonly { readonly id: string }[];
  readonly has_more: boolean;
}

interface Row {
  readonly id: number;
  readonly settings: string;
}

const contactForm = { id: 'contact', name: 'Contact', elements: [{ id: 'email', type: 'email', label: 'Email' }] };
