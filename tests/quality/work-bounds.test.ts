import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const readme = 'host/README.md';

/** Rows of the table that lists how much work one request may cause. */
function rows(): readonly (readonly string[])[] {
  const [, section = ''] = readFileSync(readme, 'utf8').split('## How much work one request may cause\n');
  const [own = ''] = section.split('\n## ');
  const lines = own.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const targets = (cell: string): readonly string[] =>
  [...cell.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => join('host', link));

describe('The table of how much work one request may cause', () => {
  it('names a number, the file that sets it and a test for each row', () => {
    expect(rows().length).to.be.greaterThan(3);
    const wrong = rows().filter(([what = '', most = '', sources = '', tests = '']) => {
      const files = [targets(sources), targets(tests)];
      return (
        what === '' ||
        !/\d/.test(most) ||
        files.some((each) => each.length === 0 || !each.every((file) => existsSync(file))) ||
        !targets(tests).every((file) => file.endsWith('.test.ts'))
      );
    });
    expect(wrong).to.deep.equal([]);
  });
});
