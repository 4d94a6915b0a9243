import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import type { Database } from '../../host/database/database.ts';
import { createHooks } from '../../host/hooks/hooks.ts';
import { createOptions, migrations, type Options } from '../../host/options/options.ts';
import { createSystemClock } from '../../host/clock.ts';
import { createFakeClock } from '../../host/testing/fake-clock.ts';
import { describeDialects, silentLog } from '../helpers/dialects.ts';

const message = (error: unknown): string => (error as Error).message;

/** Counts the queries a database is asked while `work` runs. */
async function countQueries(database: Database, work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const note = (): void => void count++;
  database.knex.on('query', note);
  await work();
  database.knex.removeListener('query', note);
  return count;
}

/** Shows in a stored text what was encrypted for what. */
const readableSecrets = {
  encrypt: (plain: string, context = '') => `enc:v2:${context} ${[...plain].reverse().join('')}`,
  decrypt(encrypted: string, context = '') {
    const start = `enc:v2:${context} `;
    if (!encrypted.startsWith(start)) throw new Error('This secret was encrypted with another key.');
    return [...encrypted.slice(start.length)].reverse().join('');
  },
};

describeDialects('options', (open) => {
  let started: Options[];

  beforeEach(() => {
    started = [];
  });

  afterEach(() => {
    for (const options of started) options.stop();
  });

  async function start(
    clock = createSystemClock(),
  ): Promise<{ options: Options; database: Database; hooks: ReturnType<typeof createHooks> }> {
    const database = await open({ clock });
    await database.migrate('host', migrations);
    const hooks = createHooks();
    const options = createOptions({ database, hooks, clock, log: silentLog, secrets: readableSecrets });
    await options.load();
    started.push(options);
    return { options, database, hooks };
  }

  /** Waits until the option has the value there; mocha's time limit ends it. */
  async function seen(options: Options, name: string, value: unknown): Promise<void> {
    while (JSON.stringify(await options.get(name)) !== JSON.stringify(value)) await createSystemClock().sleep(5);
  }

  it('keep JSON types and the order of members', async () => {
    const { options } = await start();
    for (const value of [0, -1.5, '', '0', true, null, [], {}, { b: 1, a: [null, { c: 'é😀\u0000' }] }]) {
      await options.update('any', 'something else');
      await options.update('any', value);
      (await start()).options.stop();
      // No database stores NUL in a text (D54).
      const kept = JSON.stringify(value).replace('\\u0000', '\uFFFD');
      expect(JSON.stringify(await (await start()).options.get('any'))).to.equal(kept);
    }
  });

  it('encrypt secrets stored before their registration when saved again, and list them for a rotation', async () => {
    const { options, database } = await start();
    const value = { key: 'plain-key-1', size: 1 };
    const stored = async (): Promise<string> =>
      ((await database.knex('options').where('name', 'shop').first('value')) as { readonly value: string }).value;
    await options.update('shop', value);
    options.registerSetting('shop', {
      group: 'shop',
      label: 'Shop',
      schema: { type: 'object', properties: { key: { type: 'string', writeOnly: true } } },
    });
    expect(await options.get('shop')).to.deep.equal(value);
    expect(await options.update('shop', value)).to.equal(true);
    expect(await stored()).to.equal('{"key":"enc:v2:shop.key 1-yek-nialp","size":1}');
    const found: unknown[] = [];
    await options.secretStore.rewrite((secret) => {
      found.push(secret);
      return 'enc:v2:another key';
    });
    expect(found).to.deep.equal([{ label: 'Shop.key', encrypted: 'enc:v2:shop.key 1-yek-nialp', context: 'shop.key' }]);
    const unreadable = await options.get<typeof value>('shop');
    expect(unreadable.key, 'a secret that cannot be read').to.equal('enc:v2:another key');
    await options.update('shop', { ...unreadable, size: 2 });
    expect(await stored(), 'is not lost').to.equal('{"key":"enc:v2:another key","size":2}');
  });

  it('hand out copies: changing one changes nothing stored', async () => {
    const { options } = await start();
    await options.update('list', { items: [1] });
    (await options.get<{ items: number[] }>('list')).items.push(2);
    expect(await options.get('list')).to.deep.equal({ items: [1] });
  });

  it('refuse what JSON cannot represent, with its path', async () => {
    const { options } = await start();
    const cases: readonly [unknown, RegExp][] = [
      [undefined, /value one is undefined/],
      [() => 1, /value one is a function/],
      [{ a: { b: [1, undefined] } }, /value one\.a\.b\[1\] is undefined/],
      [{ a: Number.NaN }, /value one\.a is NaN/],
      [10n, /is a bigint/],
      [new Map(), /is an instance of Map/],
    ];
    for (const [value, sentence] of cases) {
      expect(await options.update('one', value).catch(message)).to.match(sentence);
      expect(await options.add('one', value).catch(message)).to.match(sentence);
    }
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(await options.update('one', circle).catch(message)).to.match(/one\.self is part of itself/);
    expect(await options.update('n'.repeat(192), 1).catch(message)).to.match(/at most 191 characters/);
    expect(await options.get('one')).to.equal(false);
  });

  it('are read in one query at the start, others once each, and absent ones never after the first miss', async () => {
    const first = await start();
    await first.options.update('a', 1);
    await first.options.update('b', 2);
    await first.options.add('c', 3, { autoload: false });
    const { options, database } = await start();
    expect(await countQueries(database, () => Promise.all([options.get('a'), options.get('b')]))).to.equal(0);
    expect(await countQueries(database, () => options.get('nothing'))).to.equal(1);
    expect(await countQueries(database, () => Promise.all([options.get('c'), options.get('c')]))).to.equal(1);
    const again = ['c', 'nothing', 'nothing else'] as const;
    expect(await countQueries(database, () => Promise.all(again.map((name) => options.get(name))))).to.equal(0);
  });

  it('absent at the first miss are found as soon as another node adds them', async () => {
    const [here, there] = [await start(), await start()];
    await there.options.get('nothing');
    await here.options.add('late', 1, { autoload: false });
    await here.options.add('later', 2);
    await seen(there.options, 'late', 1);
    await seen(there.options, 'later', 2);
    await there.options.delete('late');
    expect(await there.options.get('late')).to.equal(false);
    await seen(here.options, 'late', false);
  });

  it('keep their autoload when updated without naming it', async () => {
    const { options, database } = await start();
    await options.add('quiet', 1, { autoload: false });
    await options.update('quiet', 2);
    expect(Boolean((await database.knex('options').where('name', 'quiet').first('autoload')).autoload)).to.equal(false);
    await options.update('quiet', 3, { autoload: true });
    expect(Boolean((await database.knex('options').where('name', 'quiet').first('autoload')).autoload)).to.equal(true);
  });

  it('written by one node are seen by another within a second', async () => {
    // A second of its clock, not of a machine that may be busy: nothing is looked for later than that.
    const clock = createFakeClock();
    const [here, there] = [await start(), await start(clock)];
    expect(await there.options.get('colour')).to.equal(false);
    const change = [
      () => here.options.update('colour', 'red'),
      () => here.options.update('colour', 'green'),
      () => here.options.delete('colour'),
    ];
    for (const [index, value] of ['red', 'green', false].entries()) {
      await change[index]!();
      await clock.advance(999);
      await seen(there.options, 'colour', value);
    }
  });

  it('of another node are reloaded alone: the others stay cached', async () => {
    const [here, there] = [await start(), await start()];
    await here.options.update('unchanged', 1);
    await here.options.update('changed', 1);
    await there.options.get('last');
    await here.options.update('last', 1);
    // Cached as absent, so seeing it means that all notifications so far have come.
    await seen(there.options, 'last', 1);
    await Promise.all([there.options.get('unchanged'), there.options.get('changed')]);
    await here.options.update('changed', 2);
    await seen(there.options, 'changed', 2);
    expect(await countQueries(there.database, () => there.options.get('unchanged'))).to.equal(0);
  });

  it('compare an update with what is stored, not with what was cached', async () => {
    const [here, there] = [await start(), await start()];
    await here.options.update('colour', 'red');
    await seen(there.options, 'colour', 'red');
    await there.database.knex('options').where('name', 'colour').update({ value: '"green"' });
    expect(await there.options.update('colour', 'red')).to.equal(true);
    expect(await there.options.get('colour')).to.equal('red');
  });

  it('never cache a value that was changed while it was read', async () => {
    const { options } = await start();
    await Promise.all(
      Array.from({ length: 60 }, async (_, number) => {
        await options.update('busy', number);
        await options.get('busy');
      }),
    );
    const cached = await options.get('busy');
    expect(cached).to.equal(await (await start()).options.get('busy'));
  });

  it('are seen by their writer at once, also while others read', async () => {
    const { options } = await start();
    const reading = Array.from({ length: 50 }, () => options.get('mine'));
    await options.update('mine', 'written');
    expect(await options.get('mine')).to.equal('written');
    await Promise.all(reading);
  });

  it('written in a transaction are its own until it commits', async () => {
    const { options, database } = await start();
    await options.update('colour', 'red');
    await database
      .transaction(async () => {
        await options.update('colour', 'green');
        expect(await options.get('colour')).to.equal('green');
        throw new Error('no');
      })
      .catch(() => {});
    expect(await options.get('colour')).to.equal('red');
    await database.transaction(async () => {
      await options.update('colour', 'blue');
      await options.delete('absent');
    });
    expect(await options.get('colour')).to.equal('blue');
  });

  it('list by prefix, with literal wildcard characters and without transients', async () => {
    const { options } = await start();
    for (const name of ['svc_a', 'svc_b', 'svcXc', 'SVC_d']) await options.update(name, name);
    await options.setTransient('passing', 1, 60);
    expect(await options.list('svc_')).to.deep.equal({ svc_a: 'svc_a', svc_b: 'svc_b' });
    expect(Object.keys(await options.list())).to.have.members(['SVC_d', 'svcXc', 'svc_a', 'svc_b']);
  });

  it('add returns whether the name was free, and of two adds at once one succeeds', async () => {
    const [here, there] = [await start(), await start()];
    const answers = await Promise.all([here.options.add('once', 'here'), there.options.add('once', 'there')]);
    expect(answers.filter(Boolean)).to.have.length(1);
    expect(await here.options.add('once', 'again')).to.equal(false);
  });

  describe('compareAndSet', () => {
    it('stores only what replaces the expected value', async () => {
      const { options } = await start();
      expect(await options.compareAndSet('turn', 1, 2)).to.equal(false);
      expect(await options.compareAndSet('turn', undefined, { a: 1, b: 2 })).to.equal(true);
      expect(await options.compareAndSet('turn', undefined, 3)).to.equal(false);
      expect(await options.compareAndSet('turn', { b: 2, a: 1 }, 3)).to.equal(true);
      expect(await options.get('turn')).to.equal(3);
    });

    it('has exactly one winner among 64 callers on two nodes', async () => {
      const nodes = [await start(), await start()];
      const race = (expected: unknown, prefix: string): Promise<boolean[]> =>
        Promise.all(
          Array.from({ length: 64 }, (_, number) =>
            nodes[number % 2]!.options.compareAndSet('lock', expected, `${prefix} ${number}`),
          ),
        );
      const first = await race(undefined, 'first');
      expect(first.filter(Boolean)).to.have.length(1);
      const winner = `first ${first.indexOf(true)}`;
      expect(await nodes[0]!.options.get('lock')).to.equal(winner);
      expect((await race(winner, 'second')).filter(Boolean)).to.have.length(1);
    });

    it('runs the actions of an add or an update when it stored', async () => {
      const { options, hooks } = await start();
      const seenActions: unknown[] = [];
      hooks.addAction('added_option', (...args: unknown[]) => seenActions.push(args));
      hooks.addAction('updated_option', (...args: unknown[]) => seenActions.push(args));
      await options.compareAndSet('turn', undefined, 1);
      await options.compareAndSet('turn', 1, 2);
      await options.compareAndSet('turn', 1, 3);
      expect(seenActions).to.deep.equal([
        ['turn', 1],
        ['turn', 1, 2],
      ]);
    });
  });

  describe('that are registered settings', () => {
    const limits = {
      type: 'object',
      properties: {
        text_timeout: { type: 'integer', minimum: 1, maximum: 600, required: true },
        mode: { type: 'string', enum: ['fast', 'safe'] },
      },
      additionalProperties: false,
      default: { text_timeout: 60 },
    } as const;

    it('return their default until one is stored, and no more after the undo', async () => {
      const { options } = await start();
      const undo = options.registerSetting('limits', { group: 'general', schema: limits });
      expect(await options.get('limits')).to.deep.equal({ text_timeout: 60 });
      expect(await options.get('limits', 'given')).to.equal('given');
      undo();
      undo();
      expect(await options.get('limits')).to.equal(false);
    });

    it('coerce and validate, and list every error', async () => {
      const { options } = await start();
      options.registerSetting('limits', { group: 'general', schema: limits });
      await options.update('limits', { text_timeout: '30' });
      expect(await options.get('limits')).to.deep.equal({ text_timeout: 30 });
      const refused = (await options
        .update('limits', { text_timeout: 0, mode: 'slow', more: 1 })
        .catch((error: unknown) => error)) as RestError;
      expect(refused).to.include({ code: 'rest_invalid_param', status: 400 });
      const sentence = (refused.data as { params: Record<string, string> }).params['limits'];
      expect(sentence).to.include('limits.text_timeout must be from 1 to 600.');
      expect(sentence).to.include('limits.mode must be one of fast, safe.');
      expect(sentence).to.include('limits.more is unknown. Use one of text_timeout, mode.');
      expect(await options.update('limits', {}).catch(message)).to.match(/limits.text_timeout is missing/);
      expect(await options.compareAndSet('limits', { text_timeout: 30 }, 7).catch(message)).to.match(
        /limits must be an object/,
      );
      expect(await options.get('limits')).to.deep.equal({ text_timeout: 30 });
    });

    it('do not change the value they were given', async () => {
      const { options } = await start();
      options.registerSetting('limits', { group: 'general', schema: limits });
      const given = { text_timeout: '30' };
      await options.update('limits', given);
      expect(given).to.deep.equal({ text_timeout: '30' });
    });

    it('are listed with their definitions; a second registration replaces the first', async () => {
      const { options } = await start();
      options.registerSetting('blogname', {
        group: 'general',
        schema: { type: 'string', default: 'one' },
        label: 'Name',
      });
      options.registerSetting('blogname', {
        group: 'general',
        schema: { type: 'string', default: 'two' },
        label: 'Title',
      });
      expect(options.settings()).to.deep.equal([
        { name: 'blogname', group: 'general', schema: { type: 'string', default: 'two' }, label: 'Title' },
      ]);
      expect(await options.get('blogname')).to.equal('two');
    });

    it("know WordPress's formats and bounds", async () => {
      const { options } = await start();
      options.registerSetting('colour', { group: 'general', schema: { type: 'string', format: 'hex-color' } });
      options.registerSetting('share', {
        group: 'general',
        schema: { type: 'number', minimum: 0, exclusiveMinimum: true },
      });
      expect(await options.update('colour', 'red').catch(message)).to.match(/colour must be a color, such as #1d4ed8/);
      expect(await options.update('colour', '#ff0000')).to.equal(true);
      expect(await options.update('share', 0).catch(message)).to.match(/share must be more than 0/);
    });
  });
});
