import { expect } from 'chai';
import { createHooks } from '../../host/hooks/hooks.ts';
import { withNamespaces } from '../../host/hooks/namespaced.ts';

describe('hooks with namespaces, as @wordpress/hooks has them', () => {
  const appending = (letter: string) => (value: unknown) => String(value) + letter;

  it('run filters by priority, then in the order they were added', () => {
    const hooks = withNamespaces(createHooks());
    hooks.addFilter('test.filter', 'my/b', appending('b'));
    hooks.addFilter('test.filter', 'my/c', appending('c'), 20);
    hooks.addFilter('test.filter', 'my/a', appending('a'), 1);
    hooks.addFilter('test.filter', 'my/d', appending('d'));
    expect(hooks.applyFilters('test.filter', '-')).to.equal('-abdc');
    expect(hooks.didFilter('test.filter')).to.equal(1);
  });

  it('remove all callbacks of a namespace, whatever the priority, and count them', () => {
    const hooks = withNamespaces(createHooks());
    hooks.addFilter('test', 'mine', appending('a'), 5);
    hooks.addFilter('test', 'mine', appending('b'), 15);
    hooks.addFilter('test', 'yours', appending('c'));
    expect([hooks.hasFilter('test', 'mine'), hooks.hasFilter('test', 'theirs'), hooks.hasFilter('test')]).to.deep.equal(
      [true, false, true],
    );
    expect([
      hooks.removeFilter('test', 'mine'),
      hooks.removeFilter('test', 'mine'),
      hooks.removeFilter('never', 'mine'),
    ]).to.deep.equal([2, 0, 0]);
    expect(hooks.applyFilters('test', '-')).to.equal('-c');
    expect(hooks.removeAllFilters('test')).to.equal(1);
    expect(hooks.hasFilter('test')).to.equal(false);
  });

  it('run one function as often as it was added', () => {
    const hooks = withNamespaces(createHooks());
    const add = appending('x');
    const undo = hooks.addFilter('test', 'one', add);
    hooks.addFilter('test', 'two', add);
    hooks.addFilter('test', 'two', add);
    expect(hooks.applyFilters('test', '')).to.equal('xxx');
    undo();
    expect([hooks.applyFilters('test', ''), hooks.hasFilter('test', 'one')]).to.deep.equal(['xx', false]);
  });

  it('keep filters and actions of one name apart when they are removed', () => {
    const hooks = withNamespaces(createHooks());
    hooks.addFilter('both', 'mine', appending('f'));
    hooks.addAction('both', 'mine', () => undefined);
    expect(hooks.removeAllActions('both')).to.equal(1);
    expect([hooks.hasFilter('both', 'mine'), hooks.hasAction('both', 'mine')]).to.deep.equal([true, false]);
  });

  it('let a callback remove itself and another while they run', () => {
    const hooks = withNamespaces(createHooks());
    hooks.addFilter('test', 'first', (value) => {
      hooks.removeFilter('test', 'first');
      hooks.removeFilter('test', 'last');
      return `${value}1`;
    });
    hooks.addFilter('test', 'middle', appending('2'));
    hooks.addFilter('test', 'last', appending('3'));
    expect([hooks.applyFilters('test', ''), hooks.applyFilters('test', '')]).to.deep.equal(['12', '2']);
  });

  it('report what runs, and count actions', async () => {
    const hooks = withNamespaces(createHooks());
    const seen: unknown[] = [];
    hooks.addAction(
      'outer',
      'mine',
      (...args) => void seen.push(args, hooks.currentAction(), hooks.doingAction('outer'), hooks.doingAction()),
    );
    hooks.doAction('outer', 1, 2);
    await hooks.doActionAsync('outer');
    expect(seen).to.deep.equal([[1, 2], 'outer', true, true, [], 'outer', true, true]);
    expect([hooks.currentAction(), hooks.doingAction(), hooks.didAction('outer')]).to.deep.equal([null, false, 2]);
  });

  it('wait for asynchronous callbacks', async () => {
    const hooks = withNamespaces(createHooks());
    hooks.addFilter('slow', 'mine', async (value: number) => value + 1);
    hooks.addFilter('slow', 'mine', (value: number) => value * 2);
    expect(await hooks.applyFiltersAsync('slow', 1)).to.equal(4);
  });

  it('announce what is added and removed', () => {
    const hooks = withNamespaces(createHooks());
    const notified: unknown[] = [];
    const callback = appending('a');
    hooks.addAction('hookAdded', 'watch', (...args) => void notified.push(args));
    hooks.addAction('hookRemoved', 'watch', (...args) => void notified.push(args));
    hooks.addFilter('test', 'mine', callback, 7);
    hooks.removeFilter('test', 'mine');
    expect(notified.slice(1)).to.deep.equal([
      ['test', 'mine', callback, 7],
      ['test', 'mine'],
    ]);
  });

  it('share callbacks with the hooks of the host, named with their namespace', () => {
    const hooks = createHooks();
    withNamespaces(hooks).addFilter('test', 'my/plugin', function addTax(value) {
      return Number(value) * 2;
    });
    expect(hooks.applyFilters('test', 2)).to.equal(4);
    expect(hooks.describe().find(({ callbacks }) => callbacks.length > 0)?.callbacks[0]?.callback).to.equal(
      'my/plugin: addTax',
    );
  });

  it('refuse a namespace that is none, with a sentence', () => {
    const hooks = withNamespaces(createHooks());
    for (const wrong of ['', '1st', 'a b', undefined as unknown as string])
      expect(() => hooks.addFilter('test', wrong, () => 1)).to.throw(TypeError, 'is not a valid namespace');
    expect(() => hooks.addFilter('test', 'mine', 'text' as never)).to.throw('is not a function');
    expect(hooks.hasFilter('test')).to.equal(false);
  });
});
