import { expect } from 'chai';
import { mapVectors, writeVectors } from '../../../plugins/svc/kit/write-vectors.ts';

const vectorsOf = (count: number, length: number): number[][] =>
  Array.from({ length: count }, (_, at) => Array.from({ length }, (_, index) => at + index / 8));

const init = {
  head: '{"data":[',
  tail: '],"model":"é"}',
  write: (vectors: readonly (readonly number[])[], first: number) =>
    vectors.map((vector, at) => JSON.stringify({ index: first + at, vector })).join(','),
};

/** Turns of the event loop that others get during the work. */
async function turnsDuring<Result>(work: () => Promise<Result>): Promise<{ readonly result: Result; turns: number }> {
  let turns = 0;
  let isDone = false;
  const count = (): void => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const result = await work().finally(() => (isDone = true));
  return { result, turns };
}

describe('writing vectors', () => {
  it('gives few vectors as they are, at once', () => {
    for (const vectors of [[], vectorsOf(1, 3), vectorsOf(39, 1_536)]) {
      const written = writeVectors(vectors, init);
      expect(Buffer.from(written as Uint8Array).toString()).to.equal(init.head + init.write(vectors, 0) + init.tail);
    }
  });

  it('gives many in pieces, and others go on between them', async () => {
    const vectors = vectorsOf(2_048, 1_536);
    const { result, turns } = await turnsDuring(async () => {
      const pieces: Uint8Array[] = [];
      for await (const piece of writeVectors(vectors, init) as AsyncIterable<Uint8Array>) pieces.push(piece);
      return pieces;
    });
    expect(Buffer.concat(result).toString()).to.equal(init.head + init.write(vectors, 0) + init.tail);
    expect(result.length).to.equal(54);
    expect(turns).to.be.at.least(52);
  });

  it('maps many in pieces, and others go on between them', async () => {
    const vectors = vectorsOf(400, 1_536);
    const { result, turns } = await turnsDuring(() => mapVectors(vectors, (some) => some.map(([first]) => first)));
    expect(result).to.deep.equal(vectors.map(([first]) => first));
    expect(turns).to.be.at.least(10);
  });
});
