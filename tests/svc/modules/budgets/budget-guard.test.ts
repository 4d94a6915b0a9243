import { expect } from 'chai';
import { RestError } from '#plugin-api';
import type { Caller } from '../../../../plugins/svc/kit/caller.ts';
import type { BudgetAlert } from '../../../../plugins/svc/modules/budgets/guard/hooks.ts';
import { createFakeClock } from '../../../../host/testing/fake-clock.ts';
import { BudgetRefusal } from '../../../../plugins/svc/modules/budgets/guard/budget-guard.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { budget, countersOf, openNode } from './budgeted-node.ts';

const outcomes = (settled: readonly PromiseSettledResult<unknown>[]) => ({
  paid: settled.filter(({ status }) => status === 'fulfilled').length,
  refused: settled.filter(
    (one) =>
      one.status === 'rejected' && one.reason instanceof RestError && one.reason.code === 'rest_svc_budget_exhausted',
  ).length,
});

describeDialects('budgets', (open) => {
  for (const [unit, amount] of [
    ['calls', 10],
    ['tokens', 12_000],
    ['dollars', 0.32],
  ] as const) {
    it(`let ten of 64 calls through that come at once on two nodes, where there is enough ${unit} for ten`, async () => {
      const budgets = [budget({ unit, amount })];
      const nodes = [await openNode(await open(), { budgets }), await openNode(await open(), { budgets })];
      let openGate = (): void => undefined;
      const gate = new Promise<void>((resolve) => (openGate = resolve));
      let started = 0;
      const calls = Array.from({ length: 64 }, (_, index) =>
        nodes[index % 2]!.call({
          run: async () => {
            started += 1;
            if (started === 10) openGate();
            await gate;
            return { inputTokens: 1000, outputTokens: 200 };
          },
        }),
      );
      expect(outcomes(await Promise.allSettled(calls))).to.deep.equal({ paid: 10, refused: 54 });
      expect(started).to.equal(10);
      const used = { calls: 10, tokens: 12_000, dollars: 320_000 }[unit];
      const { database } = nodes[0]!;
      expect(await countersOf(database)).to.deep.equal({
        [`main/all/${unit} 2026-01`]: { used, reserved: 0, refused: 54 },
      });
      expect(await database.knex('svc_budget_reservations')).to.deep.equal([]);
      const [sum] = await database.knex('svc_usage').select({
        calls: database.knex.raw('count(*)'),
        cost: database.knex.raw('sum(cost)'),
        tokens: database.knex.raw('sum(input_tokens + output_tokens)'),
      });
      expect([sum.calls, sum.cost, sum.tokens].map(Number)).to.deep.equal([10, 320_000, 12_000]);
    });
  }

  it('of a key, a user and the site are none exceeded by calls that come at once on two nodes', async () => {
    const budgets = [
      budget({ id: 'site', amount: 14 }),
      budget({ id: 'key', scope: 'key', key_id: 3, unit: 'tokens', amount: 9_600 }),
      budget({ id: 'user', scope: 'user', user_id: 5, unit: 'dollars', amount: 0.16 }),
    ];
    const nodes = [await openNode(await open(), { budgets }), await openNode(await open(), { budgets })];
    const ofKey = (id: number): Caller => ({ kind: 'named-key', id, name: `Key ${String(id)}`, scopes: null });
    const origins = [{ caller: ofKey(3) }, { caller: ofKey(4), userId: 5 }, { caller: ofKey(3), userId: 5 }, {}];
    const calls = Array.from({ length: 64 }, (_, index) =>
      nodes[index % 2]!.call({
        origin: { module: 'rest', route: '/generate', botId: null, ...origins[Math.floor(index / 2) % 4] },
      }),
    );
    const { paid, refused } = outcomes(await Promise.allSettled(calls));
    expect([paid, paid + refused]).to.deep.equal([14, 64]);
    const counters = await countersOf(nodes[0]!.database);
    const used = (name: string): number => counters[`${name} 2026-01`]?.used ?? 0;
    expect(used('site/all/calls')).to.equal(14);
    expect(used('key/key.3/tokens')).to.be.at.most(9_600);
    expect(used('user/user.5/dollars')).to.be.at.most(160_000);
    const rows = await nodes[0]!.database.knex('svc_usage');
    expect(rows.filter((row) => Number(row.key_id) === 3).length * 1200).to.equal(used('key/key.3/tokens'));
    expect(rows.filter((row) => Number(row.user_id) === 5).length * 32_000).to.equal(used('user/user.5/dollars'));
    expect(Object.values(counters).map(({ reserved }) => reserved)).to.deep.equal([0, 0, 0]);
  });

  it('refuse with 429, the seconds to the end of the period of the site, and the name of the budget', async () => {
    const clock = createFakeClock({ now: Date.UTC(2026, 0, 31, 22, 59, 30) });
    const node = await openNode(await open(), {
      clock,
      timezone: 'Europe/Berlin',
      budgets: [budget({ amount: 1, period: 'day', name: 'Small change' })],
    });
    await node.call();
    const error = (await failureOf(node.call())) as RestError;
    expect(error).to.include({
      status: 429,
      code: 'rest_svc_budget_exhausted',
      message: 'The budget “Small change” is used up for today. It resets on Sunday 1 February.',
    });
    expect(error.headers).to.deep.equal({ 'Retry-After': '30' });
    expect(error.cause).to.be.instanceOf(BudgetRefusal);
    await clock.advance(30_000);
    await node.call();
    expect(Object.keys(await countersOf(node.database))).to.deep.equal([
      'main/all/calls 2026-01-31',
      'main/all/calls 2026-02-01',
    ]);
  });

  it('count the calls of everybody, of the key, of a module or of a chatbot', async () => {
    const budgets = [
      budget({ id: 'all', amount: 100 }),
      budget({ id: 'key', scope: 'rest', amount: 100 }),
      budget({ id: 'forms', scope: 'module', module: 'ai-forms', amount: 100 }),
      budget({ id: 'bot', scope: 'bot', bot_id: 7, amount: 1 }),
    ];
    const node = await openNode(await open(), { budgets });
    await node.call();
    await node.call({ origin: { module: 'ai-forms', route: null, botId: null } });
    const ofBot = { origin: { module: 'chatbots', route: null, botId: 7 } };
    await node.call(ofBot);
    await node.call({ origin: { ...ofBot.origin, botId: 8 } });
    expect((await failureOf(node.call(ofBot))) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
    const used = Object.fromEntries(
      Object.entries(await countersOf(node.database)).map(([name, counter]) => [name, counter.used]),
    );
    expect(used).to.deep.equal({
      'all/all/calls 2026-01': 4,
      'bot/bot.7/calls 2026-01': 1,
      'forms/module.ai-forms/calls 2026-01': 1,
      'key/rest/calls 2026-01': 1,
    });
    // What the first budgets held for the refused call is given back.
    expect(Object.values(await countersOf(node.database)).map(({ reserved }) => reserved)).to.deep.equal([0, 0, 0, 0]);
  });

  it('of a role is shared by all users who have it at the time of their call', async () => {
    const database = await open();
    const node = await openNode(database, {
      budgets: [],
      roles: { 4: ['editor'], 5: ['author', 'editor'], 6: ['editors'] },
    });
    const origin = { module: 'rest', route: '/generate', botId: null };
    const callOf = (userId: number) => node.call({ origin: { ...origin, userId } });
    // Counted before the budget is set.
    await callOf(4);
    await callOf(6);
    await callOf(0);
    await node.ledger.flush();
    node.state.budgets = [
      budget({ id: 'editors', scope: 'role', role: 'editor', unit: 'tokens', amount: 3_600 }),
      budget({ id: 'authors', scope: 'role', role: 'author', unit: 'dollars', amount: 1 }),
    ];
    await callOf(5);
    await callOf(4);
    for (const userId of [4, 5])
      expect((await failureOf(callOf(userId))) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
    await callOf(6);
    await callOf(0);
    node.state.roles = { 4: ['subscriber'] };
    await callOf(4);
    await node.ledger.flush();
    expect(await countersOf(database)).to.deep.equal({
      'authors/role.author/dollars 2026-01': { used: 32_000, reserved: 0, refused: 0 },
      'editors/role.editor/tokens 2026-01': { used: 3_600, reserved: 0, refused: 2 },
    });
    const days = await database.knex('svc_usage_role_days').orderBy('role').select('role', 'calls');
    expect(days.map(({ role, calls }) => [role, Number(calls)])).to.deep.equal([
      ['author', 1],
      ['editor', 3],
      ['editors', 2],
      ['subscriber', 1],
    ]);
  });

  it('of a plugin counts what the plugin requests', async () => {
    const database = await open();
    const node = await openNode(database, { budgets: [] });
    const origin = { module: 'rest', route: null, botId: null };
    await node.call({ origin: { ...origin, plugin: 'shop' } });
    await node.ledger.flush();
    node.state.budgets = [budget({ id: 'shop', scope: 'plugin', plugin: 'shop', amount: 2 })];
    await node.call({ origin: { ...origin, plugin: 'shop' } });
    await node.call({ origin: { ...origin, plugin: 'forum' } });
    await node.call({ origin });
    expect((await failureOf(node.call({ origin: { ...origin, plugin: 'shop' } }))) as RestError).to.include({
      code: 'rest_svc_budget_exhausted',
    });
    expect(await countersOf(database)).to.deep.equal({
      'shop/plugin.shop/calls 2026-01': { used: 2, reserved: 0, refused: 1 },
    });
  });

  it('give back what a failed call held, and keep what it used', async () => {
    const node = await openNode(await open(), {
      budgets: [budget({ unit: 'tokens', amount: 2000 }), budget({ id: 'calls', amount: 5 })],
    });
    const failure = new RestError({ code: 'rest_svc_provider_error', status: 502, message: 'No.' });
    expect(await failureOf(node.call({ run: () => Promise.reject(failure) }))).to.equal(failure);
    expect(await countersOf(node.database)).to.deep.equal({
      'calls/all/calls 2026-01': { used: 0, reserved: 0, refused: 0 },
      'main/all/tokens 2026-01': { used: 0, reserved: 0, refused: 0 },
    });
    await failureOf(
      node.call({
        run: () => Promise.reject(failure),
        countFailed: async () => ({ model: 'acme-1', inputTokens: 1000, outputTokens: 20 }),
      }),
    );
    expect((await countersOf(node.database))['main/all/tokens 2026-01']).to.deep.equal({
      used: 1020,
      reserved: 0,
      refused: 0,
    });
    expect((await failureOf(node.call())) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
    await node.call({
      estimate: () => Promise.resolve({ inputTokens: 980, outputTokens: 0, images: 0 }),
      run: () => Promise.resolve({ inputTokens: 980, outputTokens: 0 }),
    });
  });

  it('give back what a process held that was killed, once its call must be over', async () => {
    const database = await open();
    const node = await openNode(database, { budgets: [budget({ amount: 1 })] });
    const origin = { module: 'rest', route: null, botId: null };
    const plan = {
      kind: 'text',
      provider: 'acme',
      model: 'acme-1',
      origin,
      limit: 60_000,
      estimate: () => Promise.resolve({ inputTokens: 1, outputTokens: 1, images: 0 }),
    } as const;
    expect(await node.guard.reserve(plan)).to.be.a('string');
    expect((await failureOf(node.call())) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
    await database
      .knex('svc_budget_reservations')
      .update({ expires: database.knex.raw('expires - ?', [2 * 60_000 + 60_000 + 1]) });
    await node.call();
    expect((await countersOf(database))['main/all/calls 2026-01']).to.deep.equal({ used: 1, reserved: 0, refused: 1 });
  });

  it('reserve and count images by the price of their size and quality', async () => {
    const node = await openNode(await open(), { budgets: [budget({ unit: 'dollars', amount: 0.3 })] });
    const reserved: unknown[] = [];
    const image = (fields: { size?: string; quality?: string }) =>
      node.recordUsage({
        kind: 'image',
        provider: 'acme',
        model: 'drawn',
        limit: 60_000,
        estimate: () => Promise.resolve({ inputTokens: 9, outputTokens: 6240, images: 1, ...fields }),
        run: async () => {
          reserved.push((await countersOf(node.database))['main/all/dollars 2026-01']?.reserved);
          return {};
        },
        count: () => ({ model: 'drawn', images: 1, ...fields }),
      });
    expect((await image({ size: '1024x1792', quality: 'hd' })).cost).to.equal(120_000);
    expect((await image({ size: '1024x1792', quality: 'standard' })).cost).to.equal(50_000);
    const refusal = (await failureOf(
      image({ size: '1024x1792', quality: 'hd' }).then(() => image({ quality: 'hd' })),
    )) as RestError;
    expect(refusal).to.include({ code: 'rest_svc_budget_exhausted' });
    expect(reserved).to.deep.equal([120_000, 50_000, 120_000]);
    expect(
      (await node.database.knex('svc_usage').orderBy('id').select('cost')).map(({ cost }) => Number(cost)),
    ).to.deep.equal([120_000, 50_000, 120_000]);
  });

  it('settle a call whose reservation was given back already, once', async () => {
    const database = await open();
    const node = await openNode(database, { budgets: [budget({ amount: 2 })] });
    await node.call({
      run: async () => {
        await database.knex('svc_budget_reservations').update({ expires: 1 });
        await node.call();
        await node.call().catch(() => undefined);
        return { inputTokens: 1, outputTokens: 1 };
      },
    });
    expect((await countersOf(database))['main/all/calls 2026-01']).to.include({ used: 3, reserved: 0 });
  });

  it('begin with what the ledger holds of the period, and then count with it to the last call', async () => {
    const database = await open();
    const node = await openNode(database, { budgets: [] });
    for (let count = 0; count < 3; count += 1) await node.call();
    await node.ledger.flush();
    // Noted, but not stored yet when the first budget is set.
    await node.call();
    node.state.budgets = [budget({ amount: 6 }), budget({ id: 'usd', unit: 'dollars', amount: 1 })];
    await node.call();
    expect(await countersOf(database)).to.deep.equal({
      'main/all/calls 2026-01': { used: 5, reserved: 0, refused: 0 },
      'usd/all/dollars 2026-01': { used: 160_000, reserved: 0, refused: 0 },
    });
    await node.call();
    expect((await failureOf(node.call())) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
  });

  it('count anew when what a budget counts is changed', async () => {
    const node = await openNode(await open(), { budgets: [budget({ amount: 100 })] });
    await node.call();
    node.state.budgets = [budget({ unit: 'tokens', amount: 2400 })];
    await node.call();
    expect((await failureOf(node.call())) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
    expect((await countersOf(node.database))['main/all/tokens 2026-01']?.used).to.equal(2400);
  });

  it('refuse a call without a price, or count it as free, as they say', async () => {
    const node = await openNode(await open(), { budgets: [budget({ unit: 'dollars', amount: 1 })] });
    const unpriced = { model: 'unheard-of' };
    expect((await failureOf(node.call(unpriced))) as RestError).to.include({
      status: 400,
      code: 'rest_svc_budget_no_price',
      message:
        'unheard-of of acme has no price, but the budget “Main” needs one. Add it in the admin under Prices, or with the ' +
        'command svc prices set. The budget can also count calls without a price as free.',
    });
    node.state.budgets = [budget({ unit: 'dollars', amount: 1, unpriced: 'free' })];
    await node.call(unpriced);
    node.state.budgets = [budget({ unit: 'dollars', amount: 0.01 })];
    node.state.sandbox = true;
    expect(await node.call(unpriced)).to.include({ cost: 0 });
  });

  it('tell of the alert once in a period, on whichever node, and of exhaustion once', async () => {
    const budgets = [budget({ amount: 4, alert_percent: 50 })];
    const clock = createFakeClock();
    const nodes = [await openNode(await open(), { budgets, clock }), await openNode(await open(), { budgets, clock })];
    const told: string[] = [];
    for (const { hooks } of nodes) {
      hooks.addAction(
        'svc_budget_alert',
        ({ used, amount, period }: BudgetAlert) =>
          void told.push(used >= 2 ? `alert of ${String(amount)} in ${period}` : 'too early'),
      );
      hooks.addAction('svc_budget_exhausted', ({ used }: BudgetAlert) => void told.push(`exhausted ${String(used)}`));
    }
    for (let count = 0; count < 4; count += 1) await nodes[count % 2]!.call();
    for (let count = 0; count < 4; count += 1) await nodes[count % 2]!.call().catch(() => undefined);
    expect(told).to.deep.equal(['alert of 4 in 2026-01', 'exhausted 4']);
  });

  it('let the action of an exhausted budget make a call of its own', async () => {
    const budgets = [budget({ amount: 1 }), budget({ id: 'bot', scope: 'bot', bot_id: 7, amount: 5 })];
    const node = await openNode(await open(), { budgets });
    node.hooks.addAction('svc_budget_exhausted', async () => {
      node.state.budgets = budgets.slice(1);
      await node.call({ origin: { module: 'chatbots', route: null, botId: 7 } });
    });
    await node.call();
    expect((await failureOf(node.call())) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
    expect((await countersOf(node.database))['bot/bot.7/calls 2026-01']).to.include({ used: 1, reserved: 0 });
  });

  it('let a filter refuse a call, leave a budget out, or ask for more', async () => {
    const node = await openNode(await open(), { budgets: [budget({ unit: 'tokens', amount: 5000 })] });
    const undo = node.hooks.addFilter('svc_budget_reserve', (plan) => ({ ...plan, tokens: plan.tokens * 10 }));
    expect((await failureOf(node.call())) as RestError).to.include({ code: 'rest_svc_budget_exhausted' });
    undo();
    const veto = new RestError({ code: 'not_on_sundays', status: 403, message: 'Not on Sundays.' });
    node.hooks.addFilter('svc_budget_reserve', (plan, { origin }) => {
      if (origin.module === 'ai-forms') throw veto;
      return { ...plan, budgets: [] };
    });
    for (let count = 0; count < 6; count += 1) await node.call();
    node.state.budgets = [];
    expect(await failureOf(node.call({ origin: { module: 'ai-forms', route: null, botId: null } }))).to.equal(veto);
    const tokens = Number.NaN;
    node.hooks.addFilter(
      'svc_budget_reserve',
      (plan) => ({ ...plan, budgets: [budget({ unit: 'tokens' })], tokens }),
      20,
    );
    expect(String(await failureOf(node.call()))).to.contain(
      'svc_budget_reserve returned a plan that takes NaN of Main',
    );
  });

  it('hold back nothing of what a surrounding transaction undoes', async () => {
    const database = await open();
    const node = await openNode(database, { budgets: [budget({ amount: 5 })] });
    await node.call();
    const undone = new Error('undone');
    let inside: Promise<unknown> = Promise.resolve();
    await database
      .transaction(() => {
        inside = node.call();
        return Promise.reject(undone);
      })
      .catch(() => undefined);
    await inside;
    expect((await countersOf(database))['main/all/calls 2026-01']).to.include({ used: 2, reserved: 0 });
  });
});
