import { expect } from 'chai';
import { createSystemClock } from '../../host/clock.ts';
import type { Database } from '../../host/database/database.ts';
import { createHooks, type Hooks } from '../../host/hooks/hooks.ts';
import { createOptions, migrations, type Options } from '../../host/options/options.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';

const message = (error: unknown): string => (error as Error).message;

describeDialects('values computed from options', (open) => {
  const clock = createSystemClock();
  let started: Options[];

  beforeEach(() => {
    started = [];
  });

  afterEach(() => {
    for (const options of started) options.stop();
  });

  async function start(): Promise<{ options: Options; database: Database; hooks: Hooks }> {
    const database = await open({ clock });
    await database.migrate('host', migrations);
    const hooks = createHooks();
    const secrets = { encrypt: (plain: string) => `enc:v2:${plain}`, decrypt: (text: string) => text.slice(7) };
    const options = createOptions({ database, hooks, clock, log: silentLog, secrets });
    await options.load();
    started.push(options);
    return { options, database, hooks };
  }

  /** A reader of a sum, and how often it was computed. */
  function computeSum(options: Options): { sum(): Promise<number>; runs(): number } {
    let runs = 0;
    const sum = options.computed(['one', 'two'], (one, two) => {
      runs += 1;
      if (one === 'broken') throw new Error('no number');
      return Number(one) + Number(two);
    });
    return { sum, runs: () => runs };
  }

  it('are computed again only after a change, also by another node', async () => {
    const [here, there] = [await start(), await start()];
    const { sum, runs } = computeSum(here.options);
    expect(await sum()).to.equal(0);
    await here.options.update('one', 1);
    await here.options.update('other', 1);
    for (let read = 0; read < 5; read++) expect(await sum()).to.equal(1);
    const before = runs();
    for (let read = 0; read < 5; read++) expect(await sum()).to.equal(1);
    expect(runs(), 'no run without a change').to.equal(before);
    await there.options.update('two', 2);
    while ((await sum()) !== 3) await clock.sleep(5);
    await there.options.delete('one');
    while ((await sum()) !== 2) await clock.sleep(5);
  });

  it('are those of the filters, defaults and settings of the moment', async () => {
    const { options, hooks } = await start();
    const { sum, runs } = computeSum(options);
    await options.update('one', 1);
    await options.update('two', 2);
    expect(await sum()).to.equal(3);
    let added = 10;
    const removals = ['pre_option_one', 'option_one', 'pre_option', 'all'].map((hook) => {
      const undo = hooks.addFilter(hook, (value: unknown) => (hook === 'option_one' ? added : value));
      return undo;
    });
    expect(await sum()).to.equal(12);
    added = 20;
    expect(await sum(), 'a filter may return another value each time').to.equal(22);
    for (const undo of removals) undo();
    expect(await sum()).to.equal(3);
    await options.delete('two');
    const undo = options.registerSetting('two', { group: 'any', schema: { type: 'integer', default: 5 } });
    expect(await sum()).to.equal(6);
    const before = runs();
    await sum();
    await sum();
    expect(runs() - before, 'the default of a setting stays the same').to.be.at.most(1);
    hooks.forOwner('plugin').addFilter('default_option_two', () => added);
    expect(await sum()).to.equal(21);
    added = 30;
    expect(await sum()).to.equal(31);
    undo();
  });

  it('in a transaction are of its own writes, and of none after its rollback', async () => {
    const { options, database } = await start();
    const { sum } = computeSum(options);
    await options.update('one', 1);
    for (let read = 0; read < 3; read++) expect(await sum()).to.equal(1);
    await database
      .transaction(async () => {
        await options.update('one', 7);
        expect(await sum()).to.equal(7);
        throw new Error('no');
      })
      .catch(() => {});
    expect(await sum()).to.equal(1);
    await database.transaction(async () => {
      await options.update('one', 8);
    });
    expect(await sum()).to.equal(8);
  });

  it('that could not be computed are computed again', async () => {
    const { options } = await start();
    const { sum, runs } = computeSum(options);
    await options.update('one', 'broken');
    for (let read = 0; read < 3; read++) expect(await sum().catch(message)).to.equal('no number');
    expect(runs()).to.equal(3);
    await options.update('one', 4);
    expect(await sum()).to.equal(4);
  });

  it('of secrets are read each time: the key may have changed', async () => {
    const { options } = await start();
    options.registerSetting('hidden', { group: 'any', schema: { type: 'string', writeOnly: true } });
    await options.update('hidden', 'plain');
    let runs = 0;
    const length = options.computed(['hidden'], (hidden) => {
      runs += 1;
      return String(hidden).length;
    });
    for (let read = 0; read < 3; read++) expect(await length()).to.equal(5);
    expect(runs).to.equal(3);
  });
});
