import { expect } from 'chai';
import { listSources } from '../../../../plugins/svc/kit/assistants/assistant-knowledge.ts';
import { matchingPassages, similarityPercent } from '../../../../plugins/svc/modules/knowledge-base/find-knowledge.ts';
import type { FoundVector } from '../../../../plugins/svc/vector-stores/vector-store.ts';

const found = (changes: Partial<FoundVector> = {}): FoundVector => ({
  id: 'a',
  content: 'Some text',
  metadata: {},
  score: 0.9,
  ...changes,
});
const one = (metadata: Record<string, unknown>, content = 'Some text') =>
  matchingPassages({ found: [found({ metadata, content })], metric: 'cosine' }, 0)[0]!;

describe('texts of the knowledge', () => {
  it('have their likeness in percent by the metric of the store', () => {
    const percents = (metric: 'cosine' | 'euclidean' | 'dotproduct' | null, ...scores: number[]) =>
      scores.map((score) => Math.round(similarityPercent(score, metric)));
    expect(percents('cosine', 1, 0.5, 0.004, 0, -1, 1.0000001)).to.deep.equal([100, 50, 0, 0, 0, 100]);
    expect(percents('dotproduct', 0.75, 7)).to.deep.equal([75, 100]);
    expect(percents(null, 0.75)).to.deep.equal([75]);
    expect(percents('euclidean', 0, -1, -4, -1e9, 0.1)).to.deep.equal([100, 50, 20, 0, 100]);
    expect(similarityPercent(Number.NaN, 'cosine')).to.equal(0);
    expect(similarityPercent(Number.NEGATIVE_INFINITY, 'euclidean')).to.equal(0);
  });

  it('have a minimum relative to the best passage, whatever the language makes of its score (D53)', () => {
    const kept = (minimum: number, ...scores: number[]): number[] =>
      matchingPassages(
        {
          found: scores.map((score, at) => found({ id: String(at), content: `Text ${String(at)}`, score })),
          metric: 'cosine',
        },
        minimum,
      ).map(({ score }) => score);
    expect(kept(0, 0.12, 0.08, 0)).to.deep.equal([12, 8]);
    expect(kept(50, 0.12, 0.08, 0.05)).to.deep.equal([12, 8]);
    expect(kept(100, 0.9, 0.9, 0.8)).to.deep.equal([90, 90]);
    expect(kept(20)).to.deep.equal([]);
  });

  it('are those that are alike enough, have content, and are not there already', () => {
    const texts = matchingPassages(
      {
        found: [
          found(),
          found({ id: 'b', content: ' Some text ' }),
          found({ id: 'c', content: null }),
          found({ id: 'd', content: ' ' }),
          found({ id: 'e', content: 'Other', score: 0.2 }),
          found({ id: 'f', content: 'Less', score: 0.179 }),
        ],
        metric: 'cosine',
      },
      20,
    );
    expect(texts.map(({ id, score }) => [id, score])).to.deep.equal([
      ['a', 90],
      ['e', 20],
    ]);
  });

  it('are cut: a text to 8,000 characters, all of them to 40,000', () => {
    const texts = matchingPassages(
      {
        found: Array.from({ length: 20 }, (_, place) =>
          found({ id: String(place), content: `${String(place)} ${'x'.repeat(20_000)}` }),
        ),
        metric: 'cosine',
      },
      0,
    );
    expect(texts.map(({ text }) => text.length)).to.deep.equal([8_000, 8_000, 8_000, 8_000, 8_000]);
  });

  it('take title and address from what is stored with them', () => {
    expect(one({ title: ' Ship\nping ', url: 'https://a.example/x' })).to.deep.include({
      title: 'Ship ping',
      url: 'https://a.example/x',
    });
    expect(one({ post_title: 'Post', post_url: 'http://a.example/' })).to.deep.include({
      title: 'Post',
      url: 'http://a.example/',
    });
    expect(one({ url: 'https://a.example/help/page?x=1#y' })).to.deep.include({ title: 'a.example/help/page' });
    expect(one({ source: 'manual.pdf' })).to.deep.include({ title: 'manual.pdf', url: '' });
    expect(one({}, `First ${'words '.repeat(30)}`).title)
      .to.match(/^First words .*…$/)
      .and.have.length(60);
    expect(one({ title: 7, url: ['x'] })).to.deep.include({ title: 'Some text', url: '' });
  });

  it('never have the address of a script', () => {
    for (const url of [
      'javascript:alert(1)',
      'data:text/html,x',
      ' https://a b',
      'https://a.example/"onclick="x',
      'ftp://a.example',
      '//a.example',
    ])
      expect(one({ url }).url, url).to.equal('');
  });

  it('give each page once as a source, with its best score', () => {
    const text = { id: 'a', title: 'T', url: 'https://a.example/', text: 'x', score: 50 };
    expect(listSources([text, { ...text, score: 70 }, { ...text, url: '', title: 'U', score: 10 }])).to.deep.equal([
      { title: 'T', url: 'https://a.example/', score: 70 },
      { title: 'U', url: '', score: 10 },
    ]);
  });
});
