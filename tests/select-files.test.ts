import { expect } from 'chai';
import { inOrder, recordTimes, selectFiles, tellLongest } from './select-files.ts';

const files = [
  ...['tests/b.test.ts', 'tests/a.test.ts', 'tests/every-page.long.test.ts', 'tests/kills.slow.test.ts'],
  'tests/helper.ts',
];

describe('the files of a test run', () => {
  it('are all with the mark of a test, the long and the slow ones apart', () => {
    expect(selectFiles(files, 'quick')).to.deep.equal(['tests/b.test.ts', 'tests/a.test.ts']);
    expect(selectFiles(files, 'slow')).to.deep.equal(['tests/kills.slow.test.ts']);
    const guarding = ['tests/mail/queue.long.test.ts', 'tests/users/password-links.long.test.ts'];
    const others = ['tests/security/ids.long.test.ts', 'tests/mail/queue.slow.test.ts'];
    expect(selectFiles([...files, ...guarding, ...others], 'gate')).to.deep.equal([...files.slice(0, 2), ...guarding]);
    expect(selectFiles(files, 'usual')).to.deep.equal(files.slice(0, 3));
    expect(selectFiles(files, 'all')).to.have.lengthOf(4);
    expect(selectFiles(['tests/quality/a.test.ts', 'tests/e2e/a.test.ts'], 'all')).to.deep.equal([]);
  });

  it('start with those that took longest', () => {
    expect(inOrder(['b', 'a', 'c', 'd'], { c: 2, d: 9 })).to.deep.equal(['d', 'c', 'a', 'b']);
  });

  it('are recorded when they are long, and forgotten when they are gone', () => {
    const times = [
      { file: 'a', seconds: 4.06, processorSeconds: 1 },
      { file: 'b', seconds: 0.5, processorSeconds: 0.5 },
    ];
    expect(recordTimes({ a: 9, b: 3, gone: 8, kept: 5 }, times, ['a', 'b', 'kept'])).to.deep.equal({ kept: 5, a: 4.1 });
  });

  it('are reported, the ten longest and the sum', () => {
    const times = Array.from({ length: 12 }, (_, index) => ({
      file: `f${String(index)}`,
      seconds: index,
      processorSeconds: 1,
    }));
    const lines = tellLongest(times).trim().split('\n');
    expect(lines).to.have.lengthOf(12);
    expect(lines[1]).to.match(/^ +11\.0 +1\.0 {2}f11$/);
    expect(lines.at(-1)).to.match(/^ +66\.0 +12\.0 {2}all 12 files$/);
  });
});
