import { expect } from 'chai';
import type { Database } from '../../../../../host/database/database.ts';
import type { Knex } from '../../../../../host/plugin-api/index.ts';
import { createFakeClock } from '../../../../../host/testing/fake-clock.ts';
import { sweepUsage } from '../../../../../plugins/svc/modules/usage/ledger/usage-store.ts';
import { describeDialects, silentLog } from '../../../../helpers/dialects.ts';
import { call, numbers, openLedger } from './ledger.ts';

interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

function collectingLog() {
  const lines: Line[] = [];
  const line = (message: string, fields = {}): void => void lines.push({ message, fields });
  return { lines, log: { ...silentLog, info: line, warn: line, error: line } };
}

const rowsOf = (database: Database) => database.knex('svc_usage').orderBy('id').select<Record<string, unknown>[]>('*');
const daysOf = (database: Database) =>
  database.knex('svc_usage_days').orderBy(['day', 'model', 'outcome']).select<Record<string, unknown>[]>('*');

/** A database that fails while `away` is true. */
function failing(database: Database) {
  const state = { away: true, tries: 0 };
  const attempt = <Result>(work: () => Promise<Result>): Promise<Result> => {
    state.tries += 1;
    return state.away ? Promise.reject(new Error('The database is away.')) : work();
  };
  const transaction = (work: (transaction: Knex.Transaction) => Promise<unknown>): Promise<unknown> =>
    attempt(() => database.knex.transaction(work));
  const direct: Database['direct'] = (work, init) =>
    init?.transaction === undefined ? attempt(() => database.direct(work, init)) : database.direct(work, init);
  const knex = new Proxy(database.knex, {
    get: (target, member) => (member === 'transaction' ? transaction : (Reflect.get(target, member) as unknown)),
  });
  return {
    state,
    database: {
      ...database,
      knex,
      direct,
      migrate: (...args: Parameters<Database['migrate']>) => database.migrate(...args),
    },
  };
}

describeDialects('the usage ledger', (open) => {
  it('stores calls a second after they were noted, with what they cost', async () => {
    const database = await open();
    const { ledger, clock } = await openLedger(database);
    ledger.record(call);
    await clock.advance(200);
    ledger.record({
      ...call,
      botId: 7,
      module: 'chatbots',
      route: null,
      outcome: 'rest_svc_provider_timeout',
      inputTokens: 0,
      outputTokens: 0,
    });
    expect(await rowsOf(database)).to.deep.equal([]);
    await clock.advance(800);
    await ledger.flush();
    const [first, second] = await rowsOf(database);
    expect(first).to.include({
      module: 'rest',
      route: '/generate',
      bot_id: null,
      kind: 'text',
      provider: 'acme',
      model: 'acme-1',
      outcome: 'ok',
    });
    expect(
      numbers(first, 'time', 'input_tokens', 'output_tokens', 'images', 'cost', 'duration', 'sandbox'),
    ).to.deep.equal([Date.UTC(2026, 0, 1), 1000, 200, 0, 32_000, 340, 0]);
    expect(second).to.include({ module: 'chatbots', route: null, outcome: 'rest_svc_provider_timeout' });
    expect(numbers(second, 'bot_id', 'cost', 'time')).to.deep.equal([7, 0, Date.UTC(2026, 0, 1) + 200]);
  });

  it('adds calls of one kind up by day, over several writes and nodes', async () => {
    const database = await open();
    const { ledger, clock } = await openLedger(database);
    const { ledger: another } = await openLedger(database, { clock });
    for (const each of [ledger, another]) {
      each.record(call);
      each.record({ ...call, model: 'acme-2' });
      await each.flush();
    }
    ledger.record(call);
    await ledger.flush();
    const [known, unknown, ...more] = await daysOf(database);
    expect(more).to.deep.equal([]);
    expect(known).to.include({ day: '2026-01-01', model: 'acme-1' });
    expect(
      numbers(known, 'bot_id', 'calls', 'input_tokens', 'output_tokens', 'cost', 'unpriced', 'duration'),
    ).to.deep.equal([0, 3, 3000, 600, 96_000, 0, 1020]);
    expect(numbers(unknown, 'calls', 'cost', 'unpriced')).to.deep.equal([2, 0, 2]);
    expect((await rowsOf(database)).map(({ cost }) => cost === null)).to.deep.equal([false, true, false, true, false]);
  });

  it('counts a day as the site does', async () => {
    const database = await open();
    const clock = createFakeClock({ now: Date.UTC(2026, 2, 28, 23, 30) });
    const { ledger } = await openLedger(database, { clock, timezone: 'Europe/Berlin' });
    ledger.record(call);
    await ledger.flush();
    expect((await daysOf(database)).map(({ day }) => day)).to.deep.equal(['2026-03-29']);
  });

  it('keeps calls that the sandbox answered apart, at no cost, as the switch stood when they ended', async () => {
    const database = await open();
    let on = true;
    const { ledger } = await openLedger(database, { isSandbox: () => Promise.resolve(on) });
    ledger.record({ ...call, model: 'a model without a price' });
    on = false;
    ledger.record(call);
    await ledger.flush();
    expect((await rowsOf(database)).map((row) => numbers(row, 'sandbox', 'cost'))).to.deep.equal([
      [1, 0],
      [0, 32_000],
    ]);
    expect((await daysOf(database)).length).to.equal(2);
  });

  it('stores at once when many calls come, without waiting for the time', async () => {
    const database = await open();
    const { ledger, clock } = await openLedger(database, { limits: { batch: 3 } });
    for (let count = 0; count < 7; count += 1) ledger.record(call);
    // Joins the write that is under way already.
    await ledger.flush();
    expect((await rowsOf(database)).length).to.equal(7);
    expect(clock.pending()).to.equal(0);
  });

  it('stores what was noted when it is stopped, and notes nothing more', async () => {
    const database = await open();
    const { log, lines } = collectingLog();
    const { ledger, clock } = await openLedger(database, { log });
    ledger.record(call);
    await ledger.stop();
    expect((await rowsOf(database)).length).to.equal(1);
    expect(clock.pending()).to.equal(0);
    expect(lines).to.deep.equal([]);
    ledger.record(call);
    ledger.record(call);
    expect(clock.pending()).to.equal(0);
    expect(lines.map(({ message }) => message)).to.deep.equal([
      'Dropped a call: the usage ledger is stopped, or could not be written for too long',
    ]);
  });

  it('keeps calls while the database is away, drops what is too much, says each once, and goes on when it is back', async () => {
    const real = await open();
    const { log, lines } = collectingLog();
    const { state, database } = failing(real);
    const { ledger, clock } = await openLedger(database, { log, limits: { batch: 2, pending: 5 } });
    for (let count = 0; count < 8; count += 1) ledger.record(call);
    await ledger.flush();
    await clock.advance(5000);
    await ledger.flush();
    expect(lines.map(({ message }) => message)).to.deep.equal([
      'Dropped a call: the usage ledger is stopped, or could not be written for too long',
      'Failed to write the usage ledger; calls stay in memory until it succeeds',
    ]);
    expect(state.tries).to.be.within(3, 4);
    state.away = false;
    await clock.advance(5000);
    await ledger.flush();
    expect((await rowsOf(real)).length).to.equal(5);
    expect(lines.at(-1)).to.deep.equal({
      message: 'Usage ledger written again',
      fields: { event: 'usage_write_recovered', dropped: 3 },
    });
    ledger.record(call);
    await ledger.flush();
    expect((await rowsOf(real)).length).to.equal(6);
  });

  it('says how many calls are lost when it is stopped while the database is away', async () => {
    const { log, lines } = collectingLog();
    const { database } = failing(await open());
    const { ledger } = await openLedger(database, { log });
    ledger.record(call);
    ledger.record(call);
    await ledger.stop();
    expect(lines.at(-1)?.fields).to.deep.equal({
      event: 'usage_lost',
      ...{ calls: 2, cost_usd: 0.064, error: 'no file' },
    });
  });

  it('keeps what was noted inside a transaction that is undone', async () => {
    const database = await open();
    const { ledger } = await openLedger(database, { limits: { batch: 1 } });
    const undone = new Error('undone');
    const outcome = await database
      .transaction(async () => {
        ledger.record(call);
        return Promise.reject(undone);
      })
      .catch((error: unknown) => error);
    expect(outcome).to.equal(undone);
    await ledger.flush();
    expect((await rowsOf(database)).length).to.equal(1);
  });

  it('takes whatever upstreams report: fractions, nothing, names of any length and with any character', async () => {
    const database = await open();
    const { ledger } = await openLedger(database);
    ledger.record({
      ...call,
      model: `${'m'.repeat(199)}\u{1f600} and more`,
      inputTokens: 1.5,
      outputTokens: Number.NaN,
      duration: -3,
    });
    ledger.record({
      ...call,
      model: 'a\u0000b',
      inputTokens: -1,
      outputTokens: Number.POSITIVE_INFINITY,
      images: 1e12,
    });
    await ledger.flush();
    const [long, odd] = await rowsOf(database);
    expect(long?.['model']).to.equal(`${'m'.repeat(199)}\ufffd`);
    expect(numbers(long, 'input_tokens', 'output_tokens', 'duration')).to.deep.equal([2, 0, 0]);
    expect(odd?.['model']).to.equal('a b');
    expect(numbers(odd, 'input_tokens', 'output_tokens', 'images')).to.deep.equal([0, 0, 1_000_000]);
  });

  it('tells what a call costs by the prices of the moment, and stores just that', async () => {
    const database = await open();
    let sandbox = false;
    const { ledger } = await openLedger(database, { isSandbox: () => Promise.resolve(sandbox) });
    const price = await ledger.price(call);
    sandbox = true;
    expect([price, await ledger.price(call), await ledger.price({ ...call, model: 'unpriced' })]).to.deep.equal([
      { cost: 32_000, sandbox: false },
      { cost: 0, sandbox: true },
      { cost: 0, sandbox: true },
    ]);
    ledger.record(call, price);
    await ledger.flush();
    expect((await rowsOf(database)).map((row) => numbers(row, 'sandbox', 'cost'))).to.deep.equal([[0, 32_000]]);
  });

  it('removes calls and days that are older than they are to be kept', async () => {
    const database = await open();
    const { ledger, clock } = await openLedger(database);
    for (let day = 0; day < 4; day += 1) {
      ledger.record(call);
      await ledger.flush();
      clock.jump(24 * 3600 * 1000);
    }
    const before = Date.UTC(2026, 0, 3);
    expect(await sweepUsage(database, { before, beforeDay: '2026-01-03' })).to.equal(2);
    expect((await rowsOf(database)).length).to.equal(2);
    expect((await daysOf(database)).map(({ day }) => day)).to.deep.equal(['2026-01-03', '2026-01-04']);
  });
});
