import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import { describeHosts } from '../helpers/dialects.ts';
import { startWidgetSite, type WidgetSite } from './widget-site.ts';

interface QuestionRow {
  readonly id: number;
  readonly base: number;
  readonly question: string;
  readonly reason: string;
  readonly best_score: number | null;
  readonly asked: number;
  readonly asked_of: string;
}

describeHosts('questions without an answer', ({ location }) => {
  describe('on a separate site', () => {
    let site: WidgetSite;
    const found: { id: string; content: string; score: number }[] = [];

    beforeEach(async function () {
      this.timeout(60_000);
      const { databaseUrl, dataDir } = location();
      site = await startWidgetSite({ database: databaseUrl ?? dataDir, clock: createSystemClock() });
      // A vector store and an embedding model of the test's own: what is found is what the test says.
      site.host.hooks.addFilter('svc_vector_stores', (stores) => [
        ...stores,
        {
          id: 'shelf',
          label: 'Shelf',
          targetKind: 'collection' as const,
          required: [],
          metrics: ['cosine' as const],
          settings: { type: 'object', properties: {} },
          open: () => ({
            list: () => Promise.resolve([]),
            describe: (name: string) => Promise.resolve({ name, dimension: 3, metric: 'cosine' as const }),
            create: () => Promise.resolve(),
            remove: () => Promise.resolve(),
            writeLimits: () => Promise.resolve({ records: 100, bytes: 1_000_000 }),
            write: () => Promise.resolve(),
            query: () => Promise.resolve(found.map((one) => ({ ...one, metadata: { title: 'T' } }))),
            fetch: () => Promise.resolve([]),
            deleteIds: () => Promise.resolve(),
            deleteWhere: () => Promise.resolve(),
            count: () => Promise.resolve(0),
          }),
        },
      ]);
      site.host.hooks.addFilter(
        'svc_providers',
        (providers) =>
          [
            ...providers,
            {
              id: 'acme',
              label: 'Acme',
              required: [],
              settings: { type: 'object', properties: {} },
              listModels: () => Promise.resolve([]),
              embeddings: {
                limits: { inputs: 100 },
                embed: ({ input, model }: { input: readonly string[]; model: string }) =>
                  Promise.resolve({
                    embeddings: input.map(() => [1, 0, 0]),
                    model,
                    usage: { input_tokens: 1, output_tokens: 0, total_tokens: 1 },
                    ignored: [],
                  }),
              },
            },
          ] as never,
      );
      found.length = 0;
    });
    afterEach(() => site.stop());

    const run = async <T>(...words: string[]): Promise<T> => {
      const { code, out, err } = await site.host.cli('svc', ...words, '--json');
      if (code !== 0) throw new Error(err);
      return JSON.parse(out) as T;
    };
    const questions = (state = 'open'): Promise<QuestionRow[]> => run('knowledge', 'questions', `--state=${state}`);
    const open = async (changes: object = {}) => {
      const { id } = await run<{ id: number }>(
        'knowledge',
        'create',
        'Help',
        '--store=shelf',
        '--target=help',
        '--provider=acme',
        '--model=m',
      );
      const bot = await site.bot({ knowledge: { enabled: true, base: id, min_score: 30 }, ...changes });
      return { base: id, guest: await site.started(bot), bot };
    };

    it('are listed once each with how often they were asked, when nothing was alike enough', async () => {
      const { base, guest, bot } = await open();
      found.push({ id: 'a', content: 'Something else', score: 0 });
      await guest.send('Do you sell  kites?');
      await guest.send('do you sell kites');
      found[0] = { id: 'a', content: 'Kites are sold in May.', score: 0.9 };
      await guest.send('When are kites sold?');
      const all = await questions();
      expect(all.map((one) => ({ ...one, id: 0 }))).to.deep.equal([
        {
          id: 0,
          base,
          question: 'Do you sell kites?',
          reason: 'score',
          best_score: 0,
          asked: 2,
          asked_of: `chatbot:${String(bot.id)}`,
        },
      ]);
    });

    it('are those whose answer was rated badly, until the rating is taken back', async () => {
      const { guest } = await open();
      found.push({ id: 'a', content: 'Kites are sold in May.', score: 0.9 });
      const { body } = await guest.send('When are kites sold?');
      const rate = (value: string) =>
        guest.post('feedback', {
          conversation: guest.conversation,
          message_id: body.message?.id,
          value,
          comment: value === 'down' ? 'Wrong month' : '',
        });
      expect((await rate('down')).status).to.equal(200);
      expect((await questions()).map(({ question, reason }) => [question, reason])).to.deep.equal([
        ['When are kites sold?', 'rating'],
      ]);
      await rate('none');
      expect(await questions()).to.deep.equal([]);
    });

    it('become a source of the base when somebody writes the answer', async () => {
      const { base, guest } = await open();
      await guest.send('Do you sell kites?');
      const [question] = await questions();
      await run('knowledge', 'answer', String(question?.id), 'Yes, in May.');
      expect(await questions()).to.deep.equal([]);
      expect((await questions('answered')).map((one) => one.question)).to.deep.equal(['Do you sell kites?']);
      const [source] = await run<{ id: number; kind: string; title: string; state: string }[]>(
        'knowledge',
        'sources',
        String(base),
      );
      expect(source).to.deep.include({ kind: 'qa', title: 'Do you sell kites?', state: 'indexed' });
      // The administrator's answer stays, so the receipt of who asked names its vectors.
      const listed: Record<string, unknown> = {};
      const identity = { userId: null, conversations: [String(guest.conversation)] };
      const receipt = { add: (kind: string, entries: unknown) => void (listed[kind] = entries) };
      const person = { sessionId: 'x' };
      await site.host.hooks.applyFiltersAsync('svc_personal_data_erase', {}, person, identity, receipt);
      expect(listed['vectors']).to.deep.equal([{ knowledge_base: base, source: source?.id, state: 'kept' }]);
    });

    it('are not kept of a chatbot that keeps nothing, and go when the data of who asked are erased', async () => {
      const { guest } = await open();
      await guest.send('Do you sell kites?');
      const silent = await site.started(
        await site.bot({ knowledge: { enabled: true, base: 1, min_score: 30 }, privacy: { keep: false } }),
      );
      await silent.send('Do you sell boats?');
      const { conversation } = guest;
      const kept = await questions();
      expect(kept.map(({ question }) => question)).to.deep.equal(['Do you sell kites?']);
      const identity = { userId: null, conversations: [String(conversation)] };
      const exported = await site.host.hooks.applyFiltersAsync(
        'svc_personal_data_export',
        [],
        { sessionId: 'x' },
        identity,
      );
      expect(exported.map(({ type, data }) => [type, data['question']])).to.deep.equal([
        ['unanswered_question', 'Do you sell kites?'],
      ]);
      const counts = await site.host.hooks.applyFiltersAsync(
        'svc_personal_data_erase',
        {},
        { sessionId: 'x' },
        identity,
        { add: () => undefined },
      );
      expect(counts).to.deep.include({ unanswered_questions: 1 });
      expect(await questions()).to.deep.equal([]);
    });
  });
});
