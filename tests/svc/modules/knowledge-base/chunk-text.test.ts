import { expect } from 'chai';
import { assert, property, string } from 'fast-check';
import { loadTokenCounter, type CountTokens } from '../../../../plugins/svc/kit/count-tokens.ts';
import {
  chunkSection,
  numberChunks,
  type Chunk,
  type ChunkSettings,
} from '../../../../plugins/svc/modules/knowledge-base/chunks/chunk-text.ts';
import { splitSections } from '../../../../plugins/svc/modules/knowledge-base/chunks/sections.ts';

/** A token for each word: easy to follow. */
const chunkText = (text: string, settings: ChunkSettings, count: CountTokens): Chunk[] =>
  splitSections(text).flatMap((section) => chunkSection(section, settings, count));

const words = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;
const sentences = (count: number, name = 'word'): string =>
  Array.from({ length: count }, (_, at) => `The ${name} number ${String(at)} ends here.`).join(' ');

describe('the sections of a text', () => {
  it('carry the path of their headings, whatever these are written with', () => {
    const text =
      'before\n\n# A\nof a\n\nB\n---\nof b\n\n### C ###\nof c\n# D\n## E\n```\n# no heading\n```\nF\n===\nof f';
    expect(splitSections(text)).to.deep.equal([
      { headings: [], blocks: ['before'] },
      { headings: ['A'], blocks: ['of a'] },
      { headings: ['A', 'B'], blocks: ['of b'] },
      { headings: ['A', 'B', 'C'], blocks: ['of c'] },
      { headings: ['D', 'E'], blocks: ['```\n# no heading\n```\nF\n===\nof f'] },
    ]);
  });

  it('take lists and rules for what they are', () => {
    expect(splitSections('- a\n- b\n---\n\nc\n#d\n####### e')).to.deep.equal([
      { headings: [], blocks: ['- a\n- b\n---', 'c\n#d\n####### e'] },
    ]);
  });
});

describe('the passages of a text', () => {
  it('hold whole sentences, no more tokens than allowed, and repeat the last ones of the passage before', () => {
    const chunks = chunkText(`# Top\n\n${sentences(30)}`, { size: 60, overlap: 16 }, words);
    expect(chunks.length).to.be.greaterThan(3);
    for (const { content, tokens, headings } of chunks) {
      expect(tokens).to.be.at.most(60);
      expect(headings).to.deep.equal(['Top']);
      expect(content).to.match(/^Top\n\nThe word number \d+ .*ends here\.$/);
    }
    const [first, second] = chunks.map(({ content }) => content.match(/number \d+/g) ?? []);
    expect(first?.slice(-2)).to.deep.equal(second?.slice(0, 2));
  });

  it('never cross a heading: a change below one leaves the others as they were', () => {
    const text = (middle: string): string =>
      `# One\n\n${sentences(12, 'apple')}\n\n# ${middle}\n\n${sentences(12, 'pear')}\n\n# Three\n\n${sentences(12, 'plum')}`;
    const ids = (middle: string): string[] =>
      numberChunks(chunkText(text(middle), { size: 40, overlap: 8 }, words), { id: 1, title: 'T', url: '' }).map(
        ({ vectorId }) => vectorId,
      );
    const [before, after] = [ids('Two'), ids('Deux')];
    const kept = before.filter((id) => after.includes(id));
    expect(before).to.have.length(after.length);
    expect(kept).to.have.length((before.length / 3) * 2);
    expect(new Set(before).size).to.equal(before.length);
    for (const id of before) expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('repeat half of what they hold at most, whatever overlap is set', () => {
    const numbers = (overlap: number): number[][] =>
      chunkText(sentences(20), { size: 60, overlap }, words).map(({ content }) =>
        [...content.matchAll(/number (\d+)/g)].map(([, number]) => Number(number)),
      );
    const [first = [], second = []] = numbers(60);
    expect(numbers(60)).to.deep.equal(numbers(30));
    expect(second.filter((number) => first.includes(number)).length).to.be.within(1, first.length / 2);
  });

  it('keep the lines of lists and tables', () => {
    const [chunk, ...more] = chunkText('- one\n- two\n\na | b\n\ntext', { size: 50, overlap: 5 }, words);
    expect(more).to.deep.equal([]);
    expect(chunk?.content).to.equal('- one\n- two\n\na | b\n\ntext');
  });

  it('that say the same are told apart, and those of another source or title have other ids', () => {
    const same = { headings: [], content: 'again', tokens: 1 };
    const [first, second] = numberChunks([same, same], { id: 1, title: 'T', url: '' });
    expect(first?.vectorId).not.to.equal(second?.vectorId);
    for (const source of [
      { id: 2, title: 'T', url: '' },
      { id: 1, title: 'U', url: '' },
      { id: 1, title: 'T', url: 'https://example.com/' },
    ])
      expect(numberChunks([same], source)[0]?.vectorId).not.to.equal(first?.vectorId);
  });

  it('of a text without a break take time in proportion to its length', async () => {
    const count = await loadTokenCounter();
    const spent = (length: number, part: string): number => {
      const before = process.cpuUsage();
      chunkText(part.repeat(length / part.length), { size: 300, overlap: 50 }, count);
      return process.cpuUsage(before).user / 1_000;
    };
    for (const part of ['This is one. ', 'word ', 'x', '中文字', '-', '\u0301']) {
      spent(10_000, part);
      // Ten times as much text took a hundred times as long: seconds, and more than a minute for Chinese.
      expect(spent(100_000, part), part).to.be.below(1_000);
    }
  });

  it('are split at words where a sentence is longer than what is searched for sentences at a time', async () => {
    const words = Array.from({ length: 1_000 }, (_, at) => `word${String(at)}`);
    const chunks = chunkText(words.join(' '), { size: 300, overlap: 0 }, await loadTokenCounter());
    expect(chunks.flatMap(({ content }) => content.split(/\s+/))).to.deep.equal(words);
  });

  it('of any text keep to their size by real tokens and lose no word', async () => {
    const count = await loadTokenCounter();
    assert(
      property(string({ unit: 'grapheme', maxLength: 400 }), (text) => {
        const chunks = chunkText(text, { size: 50, overlap: 10 }, count);
        for (const { tokens } of chunks) expect(tokens).to.be.at.most(60);
        return chunks.length > 0 || splitSections(text).length === 0;
      }),
      { numRuns: 200 },
    );
    const long = 'x'.repeat(5_000);
    expect(
      chunkText(long, { size: 50, overlap: 10 }, count)
        .map(({ content }) => content)
        .join('')
        .replaceAll(' ', ''),
    ).to.contain('x'.repeat(100));
  });
});
