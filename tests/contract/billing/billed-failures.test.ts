import { expect } from 'chai';
import { describeHosts } from '../../helpers/dialects.ts';
import { restKey } from '../service.ts';
import { openBilledSite, type BilledSite } from './billed-calls.ts';
import type { Ending } from './vendor-server.ts';
import { vendors, type Finish } from './vendors.ts';

const counted = { input: 11, cached: 0, written: 0, output: 500, reasoning: 400 };
const openai = vendors.find(({ id }) => id === 'openai')!;
/** Millionths of a dollar of one such failure by the vendor's list: 11 * 2 + 500 * 8. */
const cost = 4022;

const doors = {
  'POST svc/v1/generate': ['svc/v1/generate', { provider: 'openai', model: 'gpt-4.1' }],
  'the OpenAI-compatible routes': ['svc-openai/v1/chat/completions', { model: 'openai/gpt-4.1' }],
  'the OpenAI-compatible routes, streamed': [
    'svc-openai/v1/chat/completions',
    { model: 'openai/gpt-4.1', stream: true },
  ],
} as const;

const failures: readonly Finish[] = ['refusal', 'content_filter', 'stop'];

describeHosts('a budget of dollars under failures that are billed', ({ location }) => {
  let site: BilledSite;
  beforeEach(async function () {
    this.timeout(60_000);
    const { databaseUrl, dataDir } = location();
    site = await openBilledSite(databaseUrl ?? dataDir);
    await site.host.options.update('svc_budgets', []);
    const budget = { id: 'cents', name: 'Cents', unit: 'dollars', amount: 0.05 };
    const { code, err } = await site.host.cli('svc', 'budget', 'set', JSON.stringify(budget));
    expect(code, err).to.equal(0);
  });
  afterEach(() => site.stop());

  async function fail(door: keyof typeof doors, finish: Finish) {
    const [path, body] = doors[door];
    const text: Ending = { kind: 'text', text: { model: 'gpt-4.1', pieces: [], finish, counted } };
    const bills = [] as NonNullable<typeof site.server.call>['bills'];
    site.server.call = { vendor: openai, endings: [text], bills, onPause: () => undefined };
    const response = await site.host.fetch(`/wp-json/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${restKey}` },
      body: JSON.stringify({ ...body, messages: [{ role: 'user', content: 'Hello' }], ...limitFor(door) }),
    });
    return { status: response.status, text: await response.text(), attempts: bills.length };
  }

  it('is used up by 30 of them, through each door', async function () {
    this.timeout(60_000);
    for (const door of Object.keys(doors) as (keyof typeof doors)[]) {
      await site.host.database.knex('svc_budget_counters').delete();
      await site.host.database.knex('svc_usage_days').delete();
      await site.host.database.knex('svc_usage').delete();
      const responses = [];
      for (let count = 0; count < 30; count += 1)
        responses.push(await fail(door, failures[count % failures.length] as Finish));
      const refused = responses.filter(({ status }) => status === 429);
      const attempts = responses.reduce((sum, response) => sum + response.attempts, 0);
      const [row] = await site.host.database.knex('svc_budget_counters').where('counter', 'like', 'cents/%');
      expect(Number(row?.['used']), door).to.equal(attempts * cost);
      expect(attempts * cost, door).to.be.within(50_000 - 2 * cost, 50_000);
      expect(refused.length, door).to.be.within(17, 20);
      expect(
        responses.slice(-10).every(({ status }) => status === 429),
        door,
      ).to.equal(true);
      for (const { text } of refused) expect(text).to.include('Cents');
    }
  });
});

/** The reservation of a call is hardly more than what it uses. */
function limitFor(door: keyof typeof doors): object {
  return door === 'POST svc/v1/generate'
    ? { ai_params: { max_completion_tokens: 500 } }
    : { max_completion_tokens: 500 };
}
