import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createMeasure, share } from './measure.ts';
import { findMissed, raiseFloors, report } from './report.ts';
import { compareRequests } from './vendors/compare-requests.ts';
import { compareWords, wordsOf } from './words.ts';

const rowOf = (name: string, outcomes: readonly (string | null)[]) => {
  const measure = createMeasure(name);
  for (const [index, outcome] of outcomes.entries()) measure.add(`id-${index}`, outcome);
  return measure.row();
};

describe('the figures of a run over the data of others', () => {
  const row = rowOf('dates', [null, null, 'lost']);

  it('are cut, not rounded', () => {
    expect(share(row)).to.equal(66.66);
    expect(share({ right: 1_999, of: 2_000 })).to.equal(99.95);
    expect(share({ right: 0, of: 0 })).to.equal(0);
  });

  it('miss a floor above them, and a floor whose figure is missing', () => {
    expect(findMissed('feeds', [row], { feeds: { dates: 66.66 } })).to.deep.equal([]);
    expect(findMissed('feeds', [row], { feeds: { dates: 66.67 } })).to.have.length(1);
    expect(findMissed('feeds', [row], { feeds: { values: 1 } })).to.have.length(1);
  });

  it('raise floors and never lower one', () => {
    expect(raiseFloors('feeds', [row], { text: { a: 1 } })).to.deep.equal({ text: { a: 1 }, feeds: { dates: 66.66 } });
    expect(raiseFloors('feeds', [row], { feeds: { dates: 90 } })).to.deep.equal({ feeds: { dates: 90 } });
  });

  it('are printed with their faults', () => {
    const text = report('feeds', [row], { dates: 70 });
    expect(text)
      .to.match(/dates +2 of 3 +66\.66 % {2}floor 70\.00 {2}MISSED/)
      .and.contain('id-2 (dates): lost');
  });

  it('end with exit code 2 and a sentence where the data is not there', () => {
    const empty = mkdtempSync(join(tmpdir(), 'svc-world-'));
    const { status, stderr } = spawnSync(process.execPath, ['tests/world/main.ts', 'feeds'], {
      env: { ...process.env, WORLD_DATA: empty },
      encoding: 'utf8',
    });
    rmSync(empty, { recursive: true });
    expect(status).to.equal(2);
    expect(stderr).to.contain('The data of feeds is not there: set WORLD_DATA');
  });
});

describe('the comparison of requests', () => {
  it('lets null, n: 1 and the order of members be', () => {
    expect(compareRequests({ a: 1, n: 1, b: null, c: { d: 2, e: 3 } }, { c: { e: 3, d: 2 }, a: 1 })).to.equal(null);
  });

  it('finds parts in another order, and what was lost or added', () => {
    expect(compareRequests({ parts: ['picture', 'text'] }, { parts: ['text', 'picture'] })).to.contain('parts');
    expect(compareRequests({ user: 'ada' }, { stop: 'x' }))
      .to.contain('user')
      .and.contain('stop');
    expect(compareRequests({}, null)).to.equal('nothing reached the vendor');
  });
});

describe('the comparison of words', () => {
  it('counts each word as often as it stands, and characters where a script has no spaces', () => {
    expect(wordsOf('Ｔｅａ, tea! 日本')).to.deep.equal(['tea', 'tea', '日', '本']);
    expect(compareWords(['tea', 'tea', 'milk'], ['tea', 'milk', 'milk'])).to.deep.include({ recall: 2 / 3 });
  });
});
