import { expect } from 'chai';
import { createHooks, type HookFailure, type Hooks } from '../../host/hooks/hooks.ts';

describe('a filter whose callback returns what it cannot use', () => {
  let logged: Record<string, unknown>[];
  let failures: HookFailure[];
  let hooks: Hooks;
  beforeEach(() => {
    [logged, failures] = [[], []];
    hooks = createHooks({ log: { error: (_message, fields) => void logged.push({ ...fields }) }, guardsFilters: true });
    hooks.onFailure((failure) => void failures.push(failure));
  });
  const messages = (): string[] => failures.map(({ error }) => (error as Error).message);

  /** The three loops of a synchronous run: shared, with arguments, compiled. */
  const runs: Readonly<Record<string, (value: unknown) => unknown>> = {
    once: (value) => hooks.applyFilters('word', value),
    'with arguments': (value) => (hooks.applyFilters as (...args: unknown[]) => unknown)('word', value, 1),
    'a thousand times': (value) => {
      for (let index = 0; index < 1_000; index += 1) hooks.applyFilters('word', value);
      return hooks.applyFilters('word', value);
    },
  };
  for (const [title, apply] of Object.entries(runs)) {
    it(`keeps the value before it, says so once and goes on, when it runs ${title}`, () => {
      hooks.addFilter('word', (value: string) => `${value}a`, 1);
      hooks.forOwner('sloppy').addFilter('word', () => undefined, 2);
      hooks.forOwner('modern').addFilter('word', async (value: string) => value, 3);
      hooks.addFilter('word', (value: string) => `${value}b`, 4);
      expect(apply('')).to.equal('ab');
      expect(logged.map(({ event, hook, owner }) => [event, hook, owner])).to.deep.equal([
        ['hook_result_refused', 'word', 'sloppy'],
        ['hook_result_refused', 'word', 'modern'],
      ]);
      expect(messages()[0]).to.match(/filter 'word' returned nothing.* Return the value/);
      expect(messages()[1]).to.match(/filter 'word' returned a promise.* without async/);
    });

    it(`names the callback whose error reaches the caller, when it runs ${title}`, () => {
      const error = new Error('broken');
      hooks.forOwner('good').addFilter('word', (value) => value);
      hooks.forOwner('bad').addFilter('word', (value) => {
        if (value === 'bad') throw error;
        return value;
      });
      apply('fine');
      expect(() => apply('bad')).to.throw(error);
      expect(failures).to.deep.equal([{ kind: 'filter', hook: 'word', owner: 'bad', callback: '(anonymous)', error }]);
      expect(logged).to.deep.equal([]);
    });
  }

  for (const [title, apply] of Object.entries(runs))
    it(`goes on with the value before an error where the value is shown, when it runs ${title}`, () => {
      hooks.keepValueOnError(['word']);
      hooks.addFilter('word', (value: string) => `${value}a`, 1);
      hooks.forOwner('bad').addFilter('word', () => {
        throw new Error('broken');
      });
      hooks.addFilter('word', (value: string) => `${value}b`, 20);
      expect(apply('')).to.equal('ab');
      expect(apply('')).to.equal('ab');
      expect(logged[0]).to.include({ event: 'hook_callback_failed', hook: 'word', owner: 'bad', times: 1 });
      expect(logged.length).to.be.below(5);
      expect(messages()).to.include('broken');
      expect(hooks.doingHook()).to.equal(false);
    });

  it('logs an error at its 1st, 10th and 100th time, each message of each callback', () => {
    hooks.keepValueOnError(['word']);
    for (const owner of ['bad', 'worse'])
      hooks.forOwner(owner).addFilter('word', (value: number) => {
        throw new Error(`${owner} ${value % 2}`);
      });
    for (let value = 0; value < 200; value += 1) hooks.applyFilters('word', value);
    expect(logged.map(({ error, times }) => `${(error as Error).message}: ${String(times)}`).sort()).to.deep.equal(
      ['bad 0', 'bad 1', 'worse 0', 'worse 1'].flatMap((message) =>
        [1, 10, 100].map((times) => `${message}: ${times}`),
      ),
    );
    expect(failures).to.have.length(400);
  });

  it('logs an error that the caller goes on without in the same way, until the callback is added again', () => {
    const add = () =>
      hooks.forOwner('bad').addFilter('word', () => {
        throw new Error('broken');
      });
    const fail = (): void => {
      try {
        hooks.applyFilters('word', 1);
      } catch (error) {
        hooks.reportFilterFailure('word', error);
      }
    };
    const undo = add();
    for (let count = 0; count < 15; count += 1) fail();
    undo();
    add();
    fail();
    expect(logged.map(({ plugin, times }) => [plugin, times])).to.deep.equal([
      ['bad', 1],
      ['bad', 10],
      ['bad', 1],
    ]);
  });

  it('goes on after a rejection, but not where a filter may hide something, or after a cycle', async () => {
    hooks.keepValueOnError(['word', 'cycle']);
    const broken = new Error('broken');
    for (const name of ['word', 'answer'])
      hooks.forOwner('bad').addFilter(name, async (_value, error: Error) => {
        throw error;
      });
    const apply = hooks.applyFiltersAsync as (...args: unknown[]) => Promise<unknown>;
    expect(await apply('word', 1, broken)).to.equal(1);
    expect(await apply('answer', 1, broken).catch((error: unknown) => error)).to.equal(broken);
    hooks.addFilter('cycle', (value) => hooks.applyFilters('cycle', value));
    expect(hooks.applyFilters('cycle', 1)).to.equal(1);
    expect(logged.at(-1)).to.include({ hook: 'cycle', owner: 'host' });
    expect(logged.length).to.equal(2);
  });

  it('keeps the value in a run that awaits, and uses what is awaited', async () => {
    hooks.addFilter('word', async (value: string) => `${value}a`);
    hooks.forOwner('sloppy').addFilter('word', async () => undefined);
    expect(await hooks.applyFiltersAsync('word', '')).to.equal('a');
    expect(logged.map(({ owner }) => owner)).to.deep.equal(['sloppy']);
  });

  it('names the innermost callback alone', async () => {
    hooks.forOwner('outer').addFilter('outer', (value) => hooks.applyFilters('inner', value));
    hooks.forOwner('inner').addFilter('inner', () => {
      throw new Error('broken');
    });
    expect(await hooks.applyFiltersAsync('outer', 1).catch(() => 'refused')).to.equal('refused');
    expect(failures.map(({ owner }) => owner)).to.deep.equal(['inner']);
  });

  it('takes null, a changed type, undefined for undefined and a promise for a promise', async () => {
    const next: unknown[] = [null, 7, undefined, Promise.resolve(1), Promise.resolve(2)];
    hooks.addFilter('any', (value: number) => next[value]);
    hooks.addFilter('same', (value) => value);
    expect(hooks.applyFilters('any', 0)).to.equal(null);
    expect(hooks.applyFilters('any', 1)).to.equal(7);
    expect(hooks.applyFilters('same', undefined)).to.equal(undefined);
    expect(hooks.applyFilters('same', next[3])).to.equal(next[3]);
    expect(logged).to.deep.equal([]);
  });

  it('notes the rejection of a promise that nothing awaits', async () => {
    hooks.addFilter('word', async () => {
      throw new Error('late');
    });
    expect(hooks.applyFilters('word', 'a')).to.equal('a');
    await Promise.resolve();
    expect(messages()).to.include('late');
  });
});

describe('20,000 callbacks of one hook', () => {
  it('are put in order once, not once each', () => {
    const hooks = createHooks();
    let sorted = 0;
    const sort = Array.prototype.sort;
    Array.prototype.sort = function (this: unknown[], ...args) {
      sorted += 1;
      return sort.apply(this, args);
    };
    try {
      for (let index = 0; index < 20_000; index += 1) hooks.addFilter('sum', (value: number) => value + 1, index % 7);
      expect(hooks.applyFilters('sum', 0)).to.equal(20_000);
      expect(sorted).to.equal(1);
    } finally {
      Array.prototype.sort = sort;
    }
  });
});
