import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import type { HookFailure, Hooks } from '../../host/hooks/hooks.ts';

interface Line {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

describe('hooks', () => {
  let lines: Line[];
  let hooks: Hooks;
  beforeEach(() => {
    lines = [];
    hooks = createHooks({ log: { error: (message, fields) => void lines.push({ message, fields }) } });
  });

  describe('filters', () => {
    it('return the value without callbacks', () => {
      expect(hooks.applyFilters('unused', 5)).to.equal(5);
    });

    it('hand the value from callback to callback, low priorities first and equal ones in the order they were added', () => {
      hooks.addFilter('word', (value: string) => `${value}c`, 20);
      hooks.addFilter('word', (value: string) => `${value}a`, -5);
      hooks.addFilter('word', (value: string) => `${value}b`);
      hooks.addFilter('word', (value: string) => `${value}B`, 10);
      expect(hooks.applyFilters('word', '')).to.equal('abBc');
    });

    it('give a callback all arguments unless it accepts fewer', () => {
      const seen: unknown[][] = [];
      const record = (...args: unknown[]): unknown => (seen.push(args), args[0]);
      for (const acceptedArgs of [0, 1, 2, 3, 4, 5, 9])
        hooks.addFilter('many', (...args) => record(...args), acceptedArgs, { acceptedArgs });
      hooks.addFilter('many', record, 99);
      hooks.addFilter('many', (...args) => record(...args), -1, { acceptedArgs: 4 });
      hooks.applyFilters('many', 1, 2, 3, 4, 5);
      expect(seen.map((args) => args.length)).to.deep.equal([4, 0, 1, 2, 3, 4, 5, 5, 5]);
    });

    it('pass an error on to the caller and are not stuck afterwards', () => {
      hooks.addFilter('broken', () => {
        throw new Error('no');
      });
      expect(() => hooks.applyFilters('broken', 1)).to.throw('no');
      expect(hooks.currentHook()).to.equal(false);
      expect(hooks.doingHook()).to.equal(false);
    });

    it('hand a promise on as the value when they run synchronously', async () => {
      hooks.addFilter('later', async (value: number) => value + 1);
      const value = hooks.applyFilters('later', 1);
      expect(value).to.be.instanceOf(Promise);
      expect(await (value as unknown as Promise<number>)).to.equal(2);
    });

    it('know a hook by any string', () => {
      for (const name of ['constructor', '__proto__', 'toString', 'ü/1 {x}']) {
        hooks.addFilter(name, (value: number) => value + 1);
        expect(hooks.applyFilters(name, 1), name).to.equal(2);
      }
    });
  });

  describe('additions and removals', () => {
    it('are removed by their undo, once', () => {
      const undo = hooks.addFilter('word', () => 'changed');
      undo();
      undo();
      expect(hooks.applyFilters('word', 'same')).to.equal('same');
    });

    it('leave a later registration of the same callback alone when an earlier undo is called', () => {
      const shout = (value: string): string => value.toUpperCase();
      const undo = hooks.addFilter('word', shout);
      hooks.removeFilter('word', shout);
      hooks.addFilter('word', shout);
      undo();
      expect(hooks.applyFilters('word', 'a')).to.equal('A');
    });

    it('keep the position of a callback that is added again and use its new number of arguments', () => {
      const order: string[] = [];
      const first = (...args: unknown[]): void => void order.push(`first ${args.length}`);
      hooks.addAction('again', first, 10, { acceptedArgs: 1 });
      hooks.addAction('again', () => void order.push('second'));
      hooks.addAction('again', first, 10, { acceptedArgs: 2 });
      hooks.doAction('again', 1, 2, 3);
      expect(order).to.deep.equal(['first 2', 'second']);
    });

    it('return whether the callback had that priority', () => {
      const callback = (): void => undefined;
      hooks.addAction('act', callback, 5);
      expect(hooks.removeAction('act', callback)).to.equal(false);
      expect(hooks.hasAction('act', callback)).to.equal(5);
      expect(hooks.hasAction('act', callback, 5)).to.equal(true);
      expect(hooks.hasAction('act', callback, 10)).to.equal(false);
      expect(hooks.removeAction('act', callback, 5)).to.equal(true);
      expect(hooks.hasAction('act')).to.equal(false);
    });

    it('of all callbacks, or of one priority, return true', () => {
      hooks.addFilter('word', () => 'a', 1);
      hooks.addFilter('word', () => 'b', 2);
      expect(hooks.removeAllFilters('word', 2)).to.equal(true);
      expect(hooks.applyFilters('word', '')).to.equal('a');
      expect(hooks.removeAllFilters('word')).to.equal(true);
      expect(hooks.removeAllFilters('unknown')).to.equal(true);
      expect(hooks.applyFilters('word', '')).to.equal('');
    });

    it('never call a callback that was removed in the same run', () => {
      const calls: string[] = [];
      const second = (): void => void calls.push('second');
      hooks.addAction('act', () => {
        calls.push('first');
        hooks.removeAction('act', second);
        hooks.addAction('act', second);
      });
      hooks.addAction('act', second);
      hooks.doAction('act');
      expect(calls).to.deep.equal(['first']);
      hooks.removeAllActions('act', 11);
      hooks.doAction('act');
      expect(calls).to.deep.equal(['first', 'first']);
    });

    it('refuse what is no callback, no name, no priority and no number of arguments', () => {
      expect(() => hooks.addFilter('word', 'text' as never)).to.throw(
        "The callback for the hook 'word' is not a function.",
      );
      expect(() => hooks.addFilter('', () => 1)).to.throw('A hook needs a name');
      expect(() => hooks.addFilter('word', () => 1, 1.5)).to.throw('not an integer');
      expect(() => hooks.addFilter('word', () => 1, 1, { acceptedArgs: -1 })).to.throw('acceptedArgs -1');
    });
  });

  describe('actions', () => {
    it('log what throws with its owner and run the others', () => {
      const failures: HookFailure[] = [];
      hooks.onFailure((failure) => void failures.push(failure));
      let ran = false;
      const error = new Error('broken');
      hooks.forOwner('bad').addAction('act', function breaks() {
        throw error;
      });
      hooks.addAction('act', () => void (ran = true));
      hooks.doAction('act');
      expect(ran).to.equal(true);
      expect(lines).to.deep.equal([
        {
          message: "Callback of the action 'act' failed; the others ran",
          fields: { event: 'hook_callback_failed', hook: 'act', owner: 'bad', callback: 'breaks', error },
        },
      ]);
      expect(failures).to.deep.equal([{ kind: 'action', hook: 'act', owner: 'bad', callback: 'breaks', error }]);
    });

    it('log a promise that rejects after a synchronous run', async () => {
      hooks.addAction('act', async () => {
        await Promise.resolve();
        throw new Error('late');
      });
      hooks.doAction('act');
      await new Promise((resolve) => setImmediate(resolve));
      expect(lines).to.have.length(1);
    });

    it('count their runs apart from those of filters, runs under way included', () => {
      let during = 0;
      hooks.addAction('both', () => void (during = hooks.didAction('both')));
      hooks.doAction('both');
      hooks.applyFilters('both', 1);
      hooks.applyFilters('both', 1);
      expect([during, hooks.didAction('both'), hooks.didFilter('both'), hooks.didAction('never')]).to.deep.equal([
        1, 1, 2, 0,
      ]);
    });

    it('forget only counts, never callbacks, after very many names', () => {
      hooks.addAction('stored', () => undefined);
      for (let index = 0; index < 120_000; index += 1) hooks.applyFilters(`option_${index}`, 1);
      hooks.doAction('stored');
      expect(hooks.didAction('stored')).to.equal(1);
      expect(hooks.hasAction('stored')).to.equal(true);
    });
  });

  describe('the hook all', () => {
    it('sees every other hook before its own callbacks, with its name first', () => {
      const seen: unknown[] = [];
      hooks.addAction('all', (...args) => void seen.push([...args, hooks.currentHook()]));
      hooks.addFilter('word', (value: string) => (seen.push('own'), value));
      hooks.applyFilters('word', 'a', 2);
      hooks.doAction('unused');
      hooks.doAction('all', 1);
      expect(seen).to.deep.equal([['word', 'a', 2, 'word'], 'own', ['unused', 'unused'], [1, 'all']]);
    });

    it('does not change the value of a filter', async () => {
      hooks.addFilter('all', () => 'other');
      expect(hooks.applyFilters('word', 'a')).to.equal('a');
      expect(await hooks.applyFiltersAsync('word', 'a')).to.equal('a');
    });

    it('does not stop an action by throwing', async () => {
      let ran = 0;
      hooks.addAction('all', () => {
        throw new Error('watcher');
      });
      hooks.addAction('act', () => void (ran += 1));
      hooks.doAction('act');
      await hooks.doActionAsync('act');
      expect([ran, lines.length]).to.deep.equal([2, 2]);
    });
  });

  describe('that ran a thousand times', () => {
    const runOften = (): void => {
      for (let run = 0; run < 1_000; run += 1) hooks.applyFilters('word', '');
    };

    it('know the priority that runs, at the first one and after it', () => {
      const seen: unknown[] = [];
      const note = (value: string): string => {
        seen.push([hooks.currentHook(), hooks.currentPriority('word')]);
        return value;
      };
      hooks.addFilter('word', note, 4);
      hooks.addFilter('word', (value: string) => note(value), 7);
      runOften();
      seen.length = 0;
      hooks.applyFilters('word', '');
      expect(seen).to.deep.equal([
        ['word', 4],
        ['word', 7],
      ]);
      expect(hooks.currentPriority('word')).to.equal(false);
    });

    it('keep the priority while a callback removes itself, and go on with the next', () => {
      const seen: unknown[] = [];
      const undo = hooks.addFilter(
        'word',
        (value: string) => {
          if (value !== 'last') return value;
          undo();
          seen.push(hooks.currentPriority('word'));
          return value;
        },
        3,
      );
      hooks.addFilter('word', (value: string) => {
        if (value === 'last') seen.push(hooks.currentPriority('word'));
        return value;
      });
      runOften();
      hooks.applyFilters('word', 'last');
      hooks.applyFilters('word', 'last');
      expect(seen).to.deep.equal([3, 10, 10]);
    });

    it('are seen by a callback of all that is added later', () => {
      hooks.addFilter('word', (value: string) => `${value}a`);
      runOften();
      const seen: unknown[] = [];
      const undo = hooks.addAction('all', (name: string) => void seen.push(name));
      expect(hooks.applyFilters('word', '')).to.equal('a');
      undo();
      expect(hooks.applyFilters('word', '')).to.equal('a');
      expect(seen).to.deep.equal(['word']);
    });
  });

  describe('owners', () => {
    it('have all their callbacks removed at once, even in a run under way', () => {
      const calls: string[] = [];
      hooks.addAction('act', () => {
        calls.push('host');
        hooks.removeOwner('guest');
      });
      hooks.forOwner('guest').addAction('act', () => void calls.push('guest'));
      hooks.forOwner('guest').addFilter('word', () => 'guest');
      hooks.doAction('act');
      expect(calls).to.deep.equal(['host']);
      expect(hooks.applyFilters('word', 'host')).to.equal('host');
    });

    it('each have their own of a function that two of them share', () => {
      const shared = (value: number): number => value + 1;
      hooks.forOwner('one').addFilter('sum', shared);
      hooks.forOwner('two').addFilter('sum', shared);
      expect(hooks.applyFilters('sum', 0)).to.equal(2);
      hooks.removeOwner('one');
      expect(hooks.applyFilters('sum', 0)).to.equal(1);
      expect(hooks.removeFilter('sum', shared)).to.equal(true);
      expect(hooks.applyFilters('sum', 0)).to.equal(0);
    });

    it('are shown with their callbacks, in the order they run', () => {
      hooks.forOwner('svc').addFilter('word', function shout(value: string) {
        return value;
      });
      hooks.addAction('word', () => undefined, 1, { acceptedArgs: 2 });
      hooks.applyFilters('word', 'a');
      hooks.doAction('unheard');
      const [unheard, word] = hooks.describe();
      expect(unheard).to.deep.equal({ name: 'unheard', filters: 0, actions: 1, callbacks: [] });
      for (const { position } of word?.callbacks ?? []) expect(position).to.match(/tests\/hooks\/hooks\.test\.ts:\d+$/);
      expect([{ ...word, callbacks: word?.callbacks.map(({ position: _position, ...rest }) => rest) }]).to.deep.equal([
        {
          name: 'word',
          filters: 1,
          actions: 0,
          callbacks: [
            { priority: 1, kind: 'action', owner: 'host', callback: '(anonymous)', acceptedArgs: 2 },
            { priority: 10, kind: 'filter', owner: 'svc', callback: 'shout', acceptedArgs: null },
          ],
        },
      ]);
    });
  });
});
