import { expect } from 'chai';
import { describeHosts } from '../../helpers/dialects.ts';
import { until } from '../../helpers/until.ts';
import { createRandom } from '../../fuzz/random.ts';
import { makeBilledCall, openBilledSite, type BilledCall } from './billed-calls.ts';
import { compareLedger } from './compare-ledger.ts';
import { vendors } from './vendors.ts';

/** The ledger and the vendors' bills after calls that end at random. @param count endings of each vendor, half of them streamed */
export function describeLedgerAndBills(count: number): void {
  describeHosts(`the usage ledger after ${String(count)} random endings of each provider`, ({ location }) => {
    it('equals the bills of the vendors, and holds an estimate of what they did not report', async function () {
      this.timeout(600_000);
      const { databaseUrl, dataDir } = location();
      const site = await openBilledSite(databaseUrl ?? dataDir);
      const random = createRandom(20_261_128);
      const calls: BilledCall[] = [];
      try {
        for (const vendor of vendors)
          for (let number = 0; number < count; number += 1)
            calls.push(await makeBilledCall(site, { vendor, isStreamed: number % 2 === 1, number, random }));
        const { knex } = site.host.database;
        const stored = async (): Promise<number> => {
          await site.clock.advance(1000);
          return Number((await knex('svc_usage').count({ count: '*' }))[0]?.['count']);
        };
        // The comparison names the calls that have no row.
        await until('a row of each call', async () => (await stored()) >= calls.length).catch(() => undefined);
        const { differences, billed, recorded, estimated } = await compareLedger(site.host, calls);
        expect(differences.slice(0, 5).join('\n'), `${String(differences.length)} calls`).to.equal('');
        expect(recorded).to.deep.equal({ cost: billed.cost, tokens: billed.tokens });
        expect(Math.min(billed.calls, estimated)).to.be.greaterThan(0);
        const counters = await knex('svc_budget_counters').select('*');
        const [sums] = await knex('svc_usage').select({
          dollars: knex.raw('sum(cost)'),
          tokens: knex.raw('sum(input_tokens + output_tokens)'),
        });
        for (const { unit, used, reserved } of counters) {
          expect(Number(reserved)).to.equal(0);
          if (unit !== 'calls') expect(Number(used), unit).to.be.closeTo(Number(sums?.[unit]), 0.001);
        }
      } finally {
        await site.stop();
      }
    });
  });
}
