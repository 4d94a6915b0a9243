import { expect } from 'chai';
import fc from 'fast-check';
import { writeFloats } from '../../../../plugins/svc/modules/embeddings/write-response.ts';

function written(...vectors: readonly (readonly number[])[]): string {
  return `[${Buffer.from(writeFloats(vectors.map((vector) => Float32Array.from(vector)))).toString()}]`;
}

function numbersOf(text: string): number[][] {
  return JSON.parse(text) as number[][];
}

describe('writing an answer of 32-bit floats', () => {
  it('gives the JSON of all vectors', () => {
    expect(JSON.parse(written([0.5, -0.25], [0, 1]))).to.deep.equal([
      [0.5, -0.25],
      [0, 1],
    ]);
    expect(written()).to.equal('[]');
  });

  it('gives each number the shortest text that reads back as the same float', () => {
    const numbers = [
      0.1, -0.2, 0.3, 0.0123, 0.00045, 0.00001, 0.99999994, -0, 0, 1, -1.1, 3.4e38, 1.5e-45, -1e-7, 123456.79,
      0.009999999, 0.016666668,
    ];
    expect(numbersOf(written(numbers))).to.deep.equal([
      numbers.map((value) => (value === 0 ? 0 : value === 1.5e-45 ? 1.4013e-45 : value)),
    ]);
  });

  it('reads back as the very floats, whatever they are', () => {
    const floats = fc.array(
      fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.float({ min: -1, max: 1, noNaN: true })),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(floats, (vector) => {
        expect(numbersOf(written(vector))[0]?.map(Math.fround)).to.deep.equal(
          vector.map((value) => (value === 0 ? 0 : value)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('does not stumble around powers of ten', () => {
    const bits = new Uint32Array(1);
    const float = new Float32Array(bits.buffer);
    const near: number[] = [];
    for (const power of [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10]) {
      float[0] = power;
      const middle = bits[0] ?? 0;
      for (let step = -300; step <= 300; step += 1) {
        bits[0] = middle + step;
        near.push(float[0] ?? 0);
      }
    }
    expect(numbersOf(written(near))[0]?.map(Math.fround)).to.deep.equal(near);
  });
});
