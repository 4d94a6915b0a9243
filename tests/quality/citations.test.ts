import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { findCitations, findDangling, readTargets } from './citations.ts';

const read = (file: string): string => readFileSync(file, 'utf8');
const specification = read('plugins/svc/CONTRACT.md');
const decisions = read('plugins/svc/DECISIONS.md');
const sections = readTargets(specification);
const numbers = readTargets(decisions);
const targets = [...sections, ...numbers];

const folders = ['host', 'plugins', 'views', 'tests', '.github', ':(glob)*'];
const files = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|js|hbs|css|md|yml)$/.test(file) && existsSync(file));
const citations = files.flatMap((file) => findCitations(file, read(file)));

const range = (count: number, name: (number: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => name(index + 1));

describe('the citations of the specification and of decisions', () => {
  it('all resolve to a heading or an item', () => {
    const dangling = findDangling(citations, targets).map(({ file, line, target }) => `${file}:${line}: ${target}`);
    expect(dangling).to.deep.equal([]);
  });

  it('are found in code, tests and documents', () => {
    for (const kind of [/^host\/.*\.ts$/, /^plugins\/.*\.ts$/, /^tests\/.*\.ts$/, /README\.md$/]) {
      expect(citations.filter(({ file }) => kind.test(file))).to.not.be.empty;
    }
    expect(citations.length).to.be.greaterThan(200);
  });

  it('are reported if they do not resolve', () => {
    // Composed, so that this file holds no dangling citation itself.
    const [section, decision] = ['99.9', `D${99}`];
    const seeded = `One line.\n/** Sends it (contract ${section}, 6.5; D22, ${decision}). */\n// Contract ${'6.7(9)'}.`;
    expect(findDangling(findCitations('seeded.ts', seeded), targets)).to.have.deep.members([
      { file: 'seeded.ts', line: 2, target: section },
      { file: 'seeded.ts', line: 2, target: decision },
      { file: 'seeded.ts', line: 3, target: '6.7(9)' },
    ]);
    const removed = targets.filter((target) => target !== '6.5' && target !== 'D22');
    expect(findDangling(citations, removed)).to.not.be.empty;
  });
});

describe('findCitations', () => {
  const targetsIn = (text: string, file = 'a.ts'): string[] => findCitations(file, text).map(({ target }) => target);

  for (const [text, expected] of [
    ['(contract 6.5)', ['6.5']],
    ['Contract 8: 5,000 by default.', ['8']],
    ['(contract 2.7, 3, 6.1 and 8; D17 to D19, D26)', ['2.7', '3', '6.1', '8', 'D17', 'D19', 'D26']],
    ['the conditions of contract 6.7(4), D17', ['6.7(4)', 'D17']],
    [' * as the contract\n * 5.2, 5.3 says', ['5.2', '5.3']],
    ['by contract\n// 6.6', ['6.6']],
    ['contract 6.1, what plugins filter', ['6.1']],
    ['contract section 3, contract §4.2', ['3', '4.2']],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(targetsIn(text)).to.deep.equal(expected));
  }

  for (const text of ['%D0%BA%D1%8E', '#D1D5DB', 'ABCD12', 'D123', String.raw`/\D5/`, 'a contract.', 'section 148']) {
    it(`finds nothing in ${text}`, () => expect(targetsIn(text)).to.deep.equal([]));
  }

  it('reads how the specification refers to itself', () => {
    const text = 'See section 6.6, sections 3 and 8, and messages (2.1).';
    expect(targetsIn(text, 'plugins/svc/CONTRACT.md')).to.have.members(['6.6', '3', '8', '2.1']);
  });
});

describe('the interface specification', () => {
  it('has every section once', () => {
    const expected = [
      ...range(9, String),
      ...[2, 4, 5, 6].flatMap((chapter) => range(chapter === 2 ? 7 : 8, (part) => `${chapter}.${part}`)),
    ];
    expect(sections.filter((target) => !target.includes('('))).to.have.members(expected);
  });

  it('has no number twice', () => expect(new Set(sections).size).to.equal(sections.length));
});

describe('the decisions', () => {
  it('are D1 to D56, each of them once', () => expect(numbers).to.have.members(range(56, (number) => `D${number}`)));

  it('all have a status', () => {
    expect(decisions.match(/^### D\d+ .+\n\nStatus: (Accepted(, except for .+)?|Planned)$/gm)).to.have.length(
      numbers.length,
    );
  });
});
