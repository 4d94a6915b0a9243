import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { createSystemClock } from '../../host/clock.ts';
import type { Budget } from '../../plugins/svc/modules/budgets/budget.ts';
import { describeHosts, sharedSite } from '../helpers/dialects.ts';
import { startUpstream, type Upstream } from './upstream.ts';
import { until } from '../helpers/until.ts';

const restKey = 'the REST key of these tests';
const model = 'gpt-5.6-terra';
/** Millionths of a dollar for a million tokens: the price of an answer does not hang on the built-in table. */
const prices = [
  { provider: 'openai', model, input: 1000, output: 3000 },
  { provider: 'openai', model: 'drawn', image: 0.05 },
  { provider: 'openai', model: 'embedded', input: 1000 },
];

describeHosts('budgets over REST', ({ location, dialect }) => {
  describe('on two nodes', () => {
    let upstream: Upstream;
    let nodes: TestHost[] = [];

    beforeEach(async function () {
      this.timeout(60_000);
      const site = sharedSite(location());
      upstream = await startUpstream();
      nodes = [];
      for (let count = 0; count < 2; count += 1) {
        const host = await createTestHost({
          plugins: ['svc', 'sandbox'],
          ...site,
          clock: createSystemClock(),
        });
        host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
          id === 'openai' ? { ...settings, api_key: 'sk-upstream', base_url: upstream.url } : settings,
        );
        nodes.push(host);
      }
      await nodes[0]!.options.update('svc_api_key', nodes[0]!.secrets.encrypt(restKey));
      await nodes[0]!.options.update('svc_prices', prices);
      await untilAllSee('svc_api_key');
      await untilAllSee('svc_prices');
    });
    afterEach(async () => {
      for (const node of nodes) await node.stop();
      await upstream.stop();
    });

    async function untilAllSee(option: string): Promise<void> {
      for (const node of nodes)
        await until(`${option} on each node`, async () => (await node.options.get(option, false)) !== false);
    }

    async function setBudgets(...budgets: Partial<Budget>[]): Promise<void> {
      for (const budget of budgets) {
        const { code, err } = await nodes[0]!.cli(
          'svc',
          'budget',
          'set',
          JSON.stringify({ name: budget.id, ...budget }),
        );
        expect(code, err).to.equal(0);
      }
      for (const node of nodes)
        await until(
          'the budgets on each node',
          async () => ((await node.options.get<unknown[]>('svc_budgets', [])) ?? []).length >= budgets.length,
        );
    }

    async function post(node: TestHost, route: string, body: object) {
      const response = await node.fetch(`/wp-json/svc/v1/${route}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
        body: JSON.stringify({ provider: 'openai', ...body }),
      });
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as { code?: string; message?: string },
      };
    }

    const generate = (node: TestHost, changes: object = {}) =>
      post(node, 'generate', { model, messages: [{ role: 'user', content: 'Hello' }], ...changes });

    /** Sums of the ledger beside the counter of each budget. */
    async function sums(): Promise<{
      calls: number;
      tokens: number;
      cost: number;
      counters: Record<string, number>;
      reserved: number;
    }> {
      const { knex } = nodes[0]!.database;
      const [row] = await knex('svc_usage')
        .where('outcome', 'ok')
        .select({
          calls: knex.raw('count(*)'),
          tokens: knex.raw('coalesce(sum(input_tokens + output_tokens), 0)'),
          cost: knex.raw('coalesce(sum(cost), 0)'),
        });
      const counters = await knex('svc_budget_counters').select('*');
      return {
        calls: Number(row.calls),
        tokens: Number(row.tokens),
        cost: Number(row.cost),
        counters: Object.fromEntries(counters.map(({ unit, used }) => [unit, Number(used)])),
        reserved:
          counters.reduce((sum, { reserved }) => sum + Number(reserved), 0) +
          (await knex('svc_budget_reservations')).length,
      };
    }

    it('let 10 of 64 calls through that come at once, refuse 54, and count what the ledger does', async function () {
      this.timeout(60_000);
      await setBudgets(
        { id: 'calls', unit: 'calls', amount: 10 },
        { id: 'usd', unit: 'dollars', amount: 1000 },
        { id: 'tokens', unit: 'tokens', amount: 10_000_000 },
      );
      const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => generate(nodes[index % 2]!)));
      const refused = answers.filter(({ status }) => status === 429);
      expect([answers.filter(({ status }) => status === 200).length, refused.length]).to.deep.equal([10, 54]);
      for (const { headers, body } of refused) {
        expect(body).to.include({ code: 'rest_svc_budget_exhausted' });
        expect(body.message).to.include('“calls”');
        const wait = Number(headers.get('retry-after'));
        expect(wait).to.be.within(1, 31 * 24 * 3600);
        expect(headers.get('x-should-retry')).to.equal(wait > 60 ? 'false' : null);
      }
      expect(upstream.requests.length).to.equal(10);
      const { calls, tokens, cost, counters, reserved } = await sums();
      expect(calls).to.equal(10);
      expect(cost).to.be.greaterThan(0);
      expect(counters).to.deep.equal({ calls, tokens, dollars: cost });
      expect(reserved).to.equal(0);
    });

    it('give back what failed calls held', async () => {
      await setBudgets({ id: 'usd', unit: 'dollars', amount: 1000 }, { id: 'calls', unit: 'calls', amount: 2 });
      upstream.answer({ status: 400, body: { error: { message: 'No.' } } });
      for (let count = 0; count < 4; count += 1) expect((await generate(nodes[count % 2]!)).status).to.equal(400);
      expect(await sums()).to.deep.equal({
        calls: 0,
        tokens: 0,
        cost: 0,
        counters: { calls: 0, dollars: 0 },
        reserved: 0,
      });
    });

    it('refuse a call without a price under a budget of dollars', async () => {
      await setBudgets({ id: 'usd', unit: 'dollars', amount: 1000 });
      const unpriced = 'a-model-without-a-price';
      const answers = [
        await generate(nodes[0]!, { model: unpriced }),
        await post(nodes[0]!, 'embeddings', { model: unpriced, input: 'Hello' }),
        await post(nodes[0]!, 'images/generate', { model: unpriced, prompt: 'A lamp' }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.code]).to.deep.equal([400, 'rest_svc_budget_no_price']);
        expect(body.message).to.include('in the admin under Prices, or with the command svc prices set.');
      }
      expect(upstream.requests.length).to.equal(0);
      const prices = [{ provider: 'openai', model: unpriced, input: 1, output: 2 }];
      expect((await nodes[0]!.cli('svc', 'prices', 'set', JSON.stringify(prices))).code).to.equal(0);
      await until('the price', async () => (await generate(nodes[0]!, { model: unpriced })).status === 200);
      await setBudgets({ id: 'usd', unit: 'dollars', amount: 1000, unpriced: 'free' });
      await until('the choice', async () => (await generate(nodes[0]!, { model: 'another' })).status === 200);
    });

    it(`take a call of its longest answer into account, and leave room for what it really used (${dialect})`, async () => {
      // 100,000 tokens of answer at most: 300 dollars.
      await setBudgets({ id: 'usd', unit: 'dollars', amount: 301 });
      const long = { ai_params: { max_completion_tokens: 100_000 } };
      expect((await generate(nodes[0]!, long)).status).to.equal(200);
      expect((await generate(nodes[1]!, long)).status).to.equal(200);
      expect((await generate(nodes[1]!, { ai_params: { max_completion_tokens: 110_000 } })).status).to.equal(429);
    });
  });
});
