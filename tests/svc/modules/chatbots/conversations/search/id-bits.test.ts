import { expect } from 'chai';
import fc from 'fast-check';
import {
  countBits,
  fromGroups,
  toIdBits,
  union,
  type IdBits,
} from '../../../../../../plugins/svc/modules/chatbots/conversations/search/id-bits.ts';

const ids = fc.array(fc.integer({ min: 1, max: 500 }).map((id) => id + 2 ** 34));

function inSet({ first, bytes }: IdBits): number[] {
  return Array.from({ length: bytes.length * 8 }, (_, bit) => first + bit).filter(
    (id) => (((bytes[(id - first) >> 3] ?? 0) >> ((id - first) % 8)) & 1) === 1,
  );
}

/** As a statement of SQL makes them. */
function groupsOf(list: readonly number[]): number[] {
  const groups = new Map<number, number>();
  for (const id of list) groups.set(Math.floor(id / 16), (groups.get(Math.floor(id / 16)) ?? 0) | (1 << (id % 16)));
  return [...groups].map(([group, bits]) => group * 65_536 + bits);
}

const sorted = (list: readonly number[]): number[] => [...new Set(list)].sort((one, other) => one - other);

describe('a set of ids', () => {
  it('is read from ids and from groups of them, in any order', () => {
    fc.assert(
      fc.property(ids, (list) => {
        expect(inSet(toIdBits(list))).to.deep.equal(sorted(list));
        const bits = fromGroups(groupsOf(list));
        expect(inSet(bits)).to.deep.equal(sorted(list));
        expect(countBits(bits.bytes)).to.equal(new Set(list).size);
      }),
    );
  });

  it('has the ids of two sets, whichever begins earlier', () => {
    fc.assert(
      fc.property(ids, ids, (one, other) => {
        expect(inSet(union(fromGroups(groupsOf(one)), toIdBits(other)))).to.deep.equal(sorted([...one, ...other]));
      }),
    );
  });
});
