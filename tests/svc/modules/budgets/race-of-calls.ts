import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { RestError } from '#plugin-api';
import type { Database } from '../../../../host/database/database.ts';
import type { Budget } from '../../../../plugins/svc/modules/budgets/budget.ts';
import type { Caller } from '../../../../plugins/svc/kit/caller.ts';
import { budget, openNode } from './budgeted-node.ts';

/** The calls of one process: every `step`-th of `total`, beginning with `first`. */
export interface RaceInit {
  readonly total: number;
  readonly first: number;
  readonly step: number;
}

export interface RaceReport {
  readonly paid: number;
  readonly refused: number;
  /** Calls that failed at the provider. */
  readonly failed: number;
  /** Tokens that the provider billed, of failed calls too. */
  readonly billed: number;
  /** Every other error, none of which is expected. */
  readonly errors: readonly string[];
}

const concurrent = 200;
const key: Caller = { kind: 'named-key', id: 3, name: 'Key', scopes: null };
const roles = { 5: ['editor'], 6: ['editor', 'author'] };

/** Tokens of the largest call, and their price. */
export const largest = { tokens: 1_600, dollars: 800 * 20 + 800 * 60, calls: 1 };

/** Enough for some of the calls: those of one thing use up its budget before all together use up that of the site. */
export function raceBudgets(total: number): Budget[] {
  return [
    budget({ id: 'site', unit: 'tokens', amount: total * 140 }),
    budget({ id: 'key', scope: 'key', key_id: 3, unit: 'tokens', amount: total * 70 }),
    budget({ id: 'user', scope: 'user', user_id: 5, unit: 'dollars', amount: total * 0.0006 }),
    budget({ id: 'role', scope: 'role', role: 'editor', unit: 'calls', amount: total / 20 }),
    budget({ id: 'plugin', scope: 'plugin', plugin: 'shop', unit: 'tokens', amount: total * 60 }),
  ];
}

/** 0 to `range - 1`: always the same for a call, and different from call to call and from salt to salt. */
function vary(index: number, range: number, salt: number): number {
  const digest = createHash('md5')
    .update(`${String(index)} ${String(salt)}`)
    .digest();
  return digest.readUInt32LE() % range;
}

/** Makes the calls, many at once. Each uses less than it reserved, but one of ten uses a tenth more; some fail. */
export async function race(database: Database, { total, first, step }: RaceInit): Promise<RaceReport> {
  const node = await openNode(database, { budgets: raceBudgets(total), roles });
  const report = { paid: 0, refused: 0, failed: 0, billed: 0, errors: [] as string[] };
  let next = first;

  async function call(index: number): Promise<void> {
    const inputTokens = 200 + vary(index, 600, 1);
    const most = 200 + vary(index, 600, 2);
    const usesMore = vary(index, 10, 3) === 0;
    const outputTokens = usesMore ? most + Math.floor((inputTokens + most) / 10) : vary(index, most, 4);
    const used = { inputTokens, outputTokens };
    const failure = vary(index, 20, 5);
    await node.call({
      origin: {
        module: 'rest',
        route: '/generate',
        botId: null,
        ...(vary(index, 2, 6) === 0 && { caller: key }),
        ...(vary(index, 2, 7) === 0 && { userId: 5 + vary(index, 2, 8) }),
        ...(vary(index, 2, 9) === 0 && { plugin: 'shop' }),
      },
      estimate: () => Promise.resolve({ inputTokens, outputTokens: most, images: 0 }),
      async run() {
        for (let tick = vary(index, 8, 10); tick >= 0; tick -= 1) await setImmediate();
        if (failure !== 0) report.billed += inputTokens + outputTokens;
        if (failure < 2) throw new RestError({ code: 'rest_svc_provider_failed', status: 502, message: 'Failed.' });
        return used;
      },
      // One half of the failed calls broke off after they had used something.
      ...(failure === 1 && { countFailed: () => ({ model: 'acme-1', ...used }) }),
    });
  }

  async function work(): Promise<void> {
    for (; next < total;) {
      const index = next;
      next += step;
      try {
        await call(index);
        report.paid += 1;
      } catch (error) {
        const code = error instanceof RestError ? error.code : String(error);
        if (code === 'rest_svc_budget_exhausted') report.refused += 1;
        else if (code === 'rest_svc_provider_failed') report.failed += 1;
        else report.errors.push(code);
      }
    }
  }

  await Promise.all(Array.from({ length: concurrent }, work));
  await node.ledger.stop();
  return report;
}
