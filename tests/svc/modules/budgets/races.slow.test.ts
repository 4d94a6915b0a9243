import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Database } from '../../../../host/database/database.ts';
import { describeDialects, type DialectCase } from '../../../helpers/dialects.ts';
import { countersOf, openNode } from './budgeted-node.ts';
import { largest, race, raceBudgets, type RaceInit, type RaceReport } from './race-of-calls.ts';

const total = 10_000;

/** A node in a process of its own, which begins when it is told to. */
async function startNode({ location }: DialectCase, init: RaceInit) {
  const program = fileURLToPath(new URL('race-node.ts', import.meta.url));
  const { databaseUrl, dataDir } = location();
  const child = spawn(process.execPath, [program, databaseUrl ?? '', dataDir, JSON.stringify(init)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('The process of the other node ended early.');
    return JSON.parse(value as string) as unknown;
  };
  expect(await read()).to.equal('ready');
  return {
    async race(): Promise<RaceReport> {
      child.stdin.write('begin\n');
      return (await read()) as RaceReport;
    },
    kill: () => child.kill('SIGKILL'),
  };
}

/** What the ledger holds for each budget, in its unit, counted by SQL of this test alone. */
async function ledgerOf({ knex }: Database): Promise<Record<string, number>> {
  const sum = async (what: string, where: object): Promise<number> => {
    const [row] = (await knex('svc_usage')
      .where(where)
      .select({ sum: knex.raw(what) })) as { sum: unknown }[];
    return Number(row?.sum ?? 0);
  };
  const tokens = 'sum(input_tokens + output_tokens)';
  // A failed call that used something counts as a call too (D51).
  const calls = "sum(case when outcome = 'ok' or input_tokens > 0 then 1 else 0 end)";
  const editors = await Promise.all([5, 6].map((id) => sum(calls, { user_id: id })));
  return {
    site: await sum(tokens, {}),
    key: await sum(tokens, { key_id: 3 }),
    user: await sum('sum(cost)', { user_id: 5 }),
    role: editors.reduce((left, right) => left + right, 0),
    plugin: await sum(tokens, { plugin: 'shop' }),
  };
}

describeDialects('budgets under 10,000 calls of two processes, 400 at once', (open, dialectCase) => {
  it('of the site, a key, a user, a role and a plugin are exceeded by less than one reservation', async function () {
    this.timeout(120_000);
    const database = await open();
    await openNode(database);
    const other = await startNode(dialectCase, { total, first: 1, step: 2 });
    try {
      const began = performance.now();
      const reports = await Promise.all([race(database, { total, first: 0, step: 2 }), other.race()]);
      const seconds = (performance.now() - began) / 1000;
      expect(reports.flatMap(({ errors }) => errors)).to.deep.equal([]);
      const sumOf = (name: 'paid' | 'refused' | 'failed' | 'billed'): number =>
        reports.reduce((sum, report) => sum + report[name], 0);
      expect(sumOf('paid') + sumOf('refused') + sumOf('failed')).to.equal(total);

      const ledger = await ledgerOf(database);
      // No call that the provider billed is missing, and none is stored twice.
      expect(ledger['site']).to.equal(sumOf('billed'));
      const counters = Object.entries(await countersOf(database));
      const figures = raceBudgets(total).map(({ id, unit, amount }) => {
        const [, counter] = counters.find(([name]) => name.startsWith(`${id}/`))!;
        expect(counter.used, id).to.equal(ledger[id]);
        expect(counter.reserved, id).to.equal(0);
        expect(counter.refused, id).to.be.greaterThan(0);
        const limit = unit === 'dollars' ? amount * 1_000_000 : amount;
        return { id, unit, excess: counter.used - limit, reserve: largest[unit] };
      });
      expect(await database.knex('svc_budget_reservations')).to.deep.equal([]);
      const shown = figures.map(({ id, excess, reserve }) => `${id} ${(excess / reserve).toFixed(2)}`).join(', ');
      console.log(
        `      ${String(sumOf('paid'))} paid, ${String(sumOf('refused'))} refused, ${String(sumOf('failed'))} failed in ` +
          `${seconds.toFixed(1)} s; used beyond the budget, in reservations of the largest call: ${shown}`,
      );
      for (const { id, excess, reserve } of figures) expect(excess, id).to.be.at.most(reserve);
    } finally {
      other.kill();
    }
  });
});
