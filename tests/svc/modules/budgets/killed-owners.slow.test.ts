import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import type { Database } from '../../../../host/database/database.ts';
import { describeDialects } from '../../../helpers/dialects.ts';
import { failureOf } from '../../../helpers/failure-of.ts';
import { budget, countersOf, openNode } from './budgeted-node.ts';

const table = 'svc_budget_reservations';
const program = fileURLToPath(new URL('holding-node.ts', import.meta.url));

/** As if a minute and a second passed without a renewal. */
const passLease = ({ knex }: Database) => knex(table).update({ lease: knex.raw('lease - 61000') });

describeDialects('reservations of a process that is killed', (open, { location }) => {
  it('end with it, a minute after its last sign of life, and never while it is there', async function () {
    this.timeout(60_000);
    const database = await open();
    const node = await openNode(database, { budgets: [budget({ amount: 1 })] });
    const { databaseUrl, dataDir } = location();
    const child = spawn(process.execPath, [program, databaseUrl ?? '', dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const isRefused = async (): Promise<void> => {
      const error = (await failureOf(node.call())) as RestError;
      expect(error).to.deep.include({ status: 429, data: { budget: 'main', is_reserved: true } });
    };
    try {
      await once(child.stdout, 'data');
      await isRefused();
      // Suspended, as a notebook is: it renews nothing, and its call goes on with it.
      child.kill('SIGSTOP');
      await passLease(database);
      await isRefused();
    } finally {
      child.kill('SIGKILL');
    }
    await ended;
    await database.knex(table).update({ lease: database.knex.raw('lease + 61000') });
    await isRefused();
    await passLease(database);
    await node.call();
    expect((await countersOf(database))['main/all/calls 2026-01']).to.deep.equal({ used: 1, reserved: 0, refused: 3 });
  });
});
