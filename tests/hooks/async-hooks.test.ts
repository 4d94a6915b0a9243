import { executionAsyncId } from 'node:async_hooks';
import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function createGate(): Gate {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('asynchronous hooks', () => {
  it('run in order and wait for each', async () => {
    const hooks = createHooks();
    hooks.addFilter('word', async (value: string) => (await Promise.resolve(), `${value}a`));
    hooks.addFilter('word', (value: string) => `${value}b`);
    hooks.addFilter('word', (value: string) => ({ then: (use: (value: string) => void) => use(`${value}c`) }));
    expect(await hooks.applyFiltersAsync('word', '')).to.equal('abc');
  });

  it('run callbacks that are said to be synchronous as a synchronous run does', async () => {
    const hooks = createHooks();
    const seen: unknown[] = [];
    const add = (value: string): string => {
      seen.push(hooks.currentHook(), hooks.currentCaller(), executionAsyncId());
      return `${value}a`;
    };
    hooks.addFilter('word', add, 10, { isSynchronous: true });
    const before = executionAsyncId();
    expect(await hooks.applyFiltersAsync('word', '')).to.equal('a');
    expect(seen).to.deep.equal(['word', null, before]);
    expect(hooks.didFilter('word')).to.equal(1);
    // With any other callback the run is asynchronous again.
    const undo = hooks.addFilter('word', async (value: string) => (await Promise.resolve(), `${value}b`));
    expect(await hooks.applyFiltersAsync('word', '')).to.equal('ab');
    expect(seen[4]).to.equal('host');
    undo();
    // So is one that is observed by a callback of 'all'.
    hooks.addFilter('all', async () => Promise.resolve());
    expect(await hooks.applyFiltersAsync('word', '')).to.equal('a');
    expect(seen[7]).to.equal('host');
  });

  it('do everything up to the first thenable before they return', () => {
    const hooks = createHooks();
    const calls: string[] = [];
    hooks.addAction('act', () => void calls.push('first'));
    hooks.addAction('act', () => void calls.push('second'));
    void hooks.doActionAsync('act');
    expect(calls).to.deep.equal(['first', 'second']);
  });

  it('reject with what a filter throws, and log what an action throws', async () => {
    const logged: unknown[] = [];
    const hooks = createHooks({ log: { error: (_message, fields) => void logged.push(fields?.error) } });
    const error = new Error('no');
    hooks.addFilter('word', async () => Promise.reject(error));
    expect(await hooks.applyFiltersAsync('word', 1).catch((reason: unknown) => reason)).to.equal(error);
    let ran = false;
    hooks.addAction('act', async () => Promise.reject(error));
    hooks.addAction('act', () => void (ran = true));
    await hooks.doActionAsync('act');
    expect([logged, ran]).to.deep.equal([[error], true]);
  });

  it('each know their own current hook while they interleave', async () => {
    const hooks = createHooks();
    const gates = { a: createGate(), b: createGate() };
    const seen: unknown[] = [];
    for (const name of ['a', 'b'] as const) {
      hooks.addAction(name, async () => {
        await gates[name].opened;
        seen.push([name, hooks.currentHook(), hooks.doingHook('a'), hooks.doingHook('b')]);
        hooks.doAction('inner');
        await Promise.resolve();
        seen.push([name, hooks.currentHook()]);
      });
    }
    hooks.addAction('inner', () => void seen.push(['inner', hooks.currentHook()]));
    const runs = [hooks.doActionAsync('a'), hooks.doActionAsync('b')];
    expect(hooks.currentHook()).to.equal(false);
    gates.b.open();
    await runs[1];
    gates.a.open();
    await runs[0];
    expect(seen).to.deep.equal([
      ['b', 'b', false, true],
      ['inner', 'inner'],
      ['b', 'b'],
      ['a', 'a', true, false],
      ['inner', 'inner'],
      ['a', 'a'],
    ]);
    expect(hooks.doingHook()).to.equal(false);
  });

  it('know the hooks around them, and no longer those that have ended', async () => {
    const hooks = createHooks();
    const gate = createGate();
    const seen: unknown[] = [];
    let leftBehind: Promise<void> = Promise.resolve();
    hooks.addAction('outer', async () => {
      await hooks.doActionAsync('inner');
      leftBehind = gate.opened.then(() => void seen.push([hooks.currentHook(), hooks.doingHook('outer')]));
    });
    hooks.addAction('inner', async () => {
      await Promise.resolve();
      seen.push([hooks.currentHook(), hooks.doingHook('outer'), hooks.currentPriority('outer')]);
    });
    await hooks.doActionAsync('outer');
    gate.open();
    await leftBehind;
    expect(seen).to.deep.equal([
      ['inner', true, 10],
      [false, false],
    ]);
  });

  it('know who runs them, but not who runs a synchronous hook in them', async () => {
    const hooks = createHooks();
    const [shop, forms] = [hooks.forOwner('shop'), hooks.forOwner('forms')];
    const seen: unknown[] = [];
    const note = (): void => void seen.push(hooks.currentCaller());
    shop.addFilter('inner', async () => {
      note();
      await Promise.resolve();
      note();
      hooks.doAction('synchronous');
    });
    hooks.addAction('synchronous', note);
    forms.addAction('outer', async () => {
      note();
      await forms.applyFiltersAsync('inner', 1);
      note();
    });
    note();
    await shop.doActionAsync('outer');
    await hooks.doActionAsync('outer');
    expect(seen).to.deep.equal([null, 'shop', 'forms', 'forms', null, 'shop', 'host', 'forms', 'forms', null, 'host']);
  });

  it('do not mix up two worlds of hooks', async () => {
    const [one, two] = [createHooks(), createHooks()];
    const seen: unknown[] = [];
    one.addAction('one', async () => {
      await two.doActionAsync('two');
      seen.push([one.currentHook(), two.currentHook()]);
    });
    two.addAction('two', async () => {
      await Promise.resolve();
      seen.push([one.currentHook(), two.currentHook(), two.doingHook('one')]);
    });
    await one.doActionAsync('one');
    expect(seen).to.deep.equal([
      ['one', 'two', false],
      ['one', false],
    ]);
  });

  it('see what was added and removed while they waited', async () => {
    const hooks = createHooks();
    const calls: string[] = [];
    const removed = (): void => void calls.push('removed');
    hooks.addAction('act', async () => {
      await Promise.resolve();
      hooks.removeAction('act', removed);
      hooks.addAction('act', () => void calls.push('same priority'));
      hooks.addAction('act', () => void calls.push('later'), 11);
    });
    hooks.addAction('act', removed);
    await hooks.doActionAsync('act');
    expect(calls).to.deep.equal(['later']);
  });
});
