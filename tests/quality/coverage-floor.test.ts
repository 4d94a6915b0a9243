import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { belowFloor, loweredFloors, raiseFloor, type Coverage } from './coverage-floor.ts';

const file = 'tests/quality/coverage-floor.json';
const git = (...args: string[]): string => execFileSync('git', args, { encoding: 'utf8' });

describe('the floor of coverage', () => {
  it('never falls from one commit to the next', () => {
    const commits = git('log', '--reverse', '--format=%H', '--diff-filter=AM', '--', file).split('\n').filter(Boolean);
    const versions = [...commits.map((commit) => git('show', `${commit}:${file}`)), readFileSync(file, 'utf8')];
    expect(loweredFloors(versions.map((text) => JSON.parse(text) as Coverage))).to.deep.equal([]);
  });

  it('is found where it falls', () => {
    const first = { lines: 90, branches: 80, functions: 70 };
    expect(loweredFloors([first, { ...first, lines: 91 }, { ...first, branches: 79.9 }])).to.deep.equal([
      'lines',
      'branches',
    ]);
  });

  it('names each measure below it and what to do', () => {
    const floor = { lines: 90, branches: 80, functions: 70 };
    expect(belowFloor({ lines: 90, branches: 79.99, functions: 95 }, floor)).to.deep.equal([
      'Coverage of branches fell to 79.99 %, below the floor of 80.0 %. Add tests for the new code.',
    ]);
  });

  it('rises to just below what was measured, and stays where less was measured', () => {
    const floor = { lines: 90, branches: 80, functions: 70 };
    expect(raiseFloor({ lines: 93.38, branches: 80.2, functions: 60 }, floor)).to.deep.equal({
      lines: 93,
      branches: 80,
      functions: 70,
    });
  });
});
