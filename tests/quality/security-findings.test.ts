import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const folder = 'tests/security';

/** The identifiers of all findings: two high, eight medium and twelve low ones. */
const findings = [...numbered('H', 2), ...numbered('M', 8), ...numbered('L', 12)];

function numbered(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${letter}${String(index + 1)}`);
}

describe('The list of security findings', () => {
  const [, section = ''] = readFileSync(join(folder, 'README.md'), 'utf8').split('## Findings\n');
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it('has a row for each finding', () => {
    const named = rows.flatMap(([, what = '']) => what.split(':')[0]?.match(/\b[HML]\d+\b/g) ?? []);
    expect(named.sort()).to.deep.equal([...findings].sort());
  });

  it('names tests that exist in each row', () => {
    for (const [, what, tests = ''] of rows) {
      const files = [...tests.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => join(folder, link));
      expect(files, what).to.not.deep.equal([]);
      for (const file of files) {
        expect(file).to.match(/\.(?:test|e2e)\.ts$/);
        expect(existsSync(file), file).to.equal(true);
      }
    }
  });
});
