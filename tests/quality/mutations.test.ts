import { expect } from 'chai';
import { mutate, mutationError, neighbors, readMutations } from './mutations/mutations.ts';

describe('the mutations', () => {
  const mutations = readMutations();

  it('each find their text once in the source, and the tests that they name', () => {
    expect(mutations.map(mutationError).filter((error) => error !== null)).to.deep.equal([]);
  });

  it('each change something, and have an id of their own', () => {
    expect(mutations.filter(({ from, to }) => from === to)).to.deep.equal([]);
    expect(new Set(mutations.map(({ id }) => id)).size).to.equal(mutations.length);
  });

  it('name no slow test: what kills them runs in the gate', () => {
    expect(mutations.flatMap(({ tests }) => tests).filter((file) => file.endsWith('.slow.test.ts'))).to.deep.equal([]);
  });

  it('fail with what to do when their text is gone or there twice', () => {
    const one = { id: 'x', file: 'a.ts', breaks: '', from: 'a && b', to: 'a', tests: [] };
    expect(mutate('if (a && b) run();', one)).to.equal('if (a) run();');
    expect(() => mutate('if (b) run();', one)).to.throw(/mutation x looks for this text once in a\.ts and found it 0/);
    expect(() => mutate('a && b || a && b', one)).to.throw(/found it 2 times/);
  });

  it('go on with the quick and long tests beside those that they name', () => {
    const all = [
      'tests/a/one.test.ts',
      'tests/a/two.long.test.ts',
      'tests/a/three.slow.test.ts',
      'tests/b/one.test.ts',
    ];
    expect(neighbors({ tests: ['tests/a/one.test.ts'] }, all)).to.deep.equal(['tests/a/two.long.test.ts']);
  });
});
