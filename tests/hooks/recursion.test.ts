import { expect } from 'chai';
import { createHooks, HookCycleError } from '../../host/hooks/hooks.ts';
import type { Hooks } from '../../host/hooks/hooks.ts';

describe('hooks inside hooks', () => {
  let errors: unknown[];
  let hooks: Hooks;
  beforeEach(() => {
    errors = [];
    hooks = createHooks({ log: { error: (_message, fields) => void errors.push(fields?.error) } });
  });

  it('runs a hook inside itself', () => {
    hooks.addFilter('count', (value: number) =>
      value < 5 ? (hooks.applyFilters('count', value + 1) as number) : value,
    );
    expect(hooks.applyFilters('count', 0)).to.equal(5);
  });

  it('stops a filter that runs itself for ever and shows the chain', () => {
    hooks.forOwner('loop').addFilter('a', (value: number) => hooks.applyFilters('b', value));
    hooks.addFilter('b', (value: number) => hooks.applyFilters('a', value));
    expect(() => hooks.applyFilters('a', 1)).to.throw(
      HookCycleError,
      /'a' was stopped after 500 nested runs.*a > b > a.*loop/,
    );
    expect(hooks.currentHook()).to.equal(false);
  });

  it('stops an action that starts itself twice without trying every branch', () => {
    let calls = 0;
    hooks.addAction('tree', () => {
      calls += 1;
      hooks.doAction('tree');
      hooks.doAction('tree');
    });
    hooks.doAction('tree');
    expect(calls).to.equal(500);
    expect(errors).to.have.length(1);
  });

  it('stops an asynchronous run that awaits itself for ever', async () => {
    hooks.addFilter('self', async (value: number): Promise<unknown> => {
      await Promise.resolve();
      return hooks.applyFiltersAsync('self', value);
    });
    const error = await hooks.applyFiltersAsync('self', 1).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(HookCycleError);
  });

  it('does not take a run that starts the next one after its own end for a cycle', async () => {
    let rounds = 0;
    await new Promise<void>((resolve) => {
      hooks.addAction('poll', async () => {
        rounds += 1;
        if (rounds === 600) return resolve();
        setImmediate(() => void hooks.doActionAsync('poll'));
      });
      void hooks.doActionAsync('poll');
    });
    expect(errors).to.deep.equal([]);
  });
});
