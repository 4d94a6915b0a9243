import { expect } from 'chai';
import {
  createCatalogue,
  type Catalogue,
  type CatalogueEntry,
} from '../../../../../../plugins/svc/modules/chatbots/conversations/search/catalogue.ts';
import { toIdBits, type IdBits } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/id-bits.ts';
import type { LogFilter } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/select.ts';
import { createSelect, pageOfIds } from '../../../../../../plugins/svc/modules/chatbots/conversations/search/select.ts';

/** Numbers that look random and are the same in every run. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Random = ReturnType<typeof createRandom>;

/** Conversations that come, change and go, in the catalogue and in a plain map. */
function live(random: Random): { readonly catalogue: Catalogue; readonly known: Map<number, CatalogueEntry> } {
  const catalogue = createCatalogue();
  const known = new Map<number, CatalogueEntry>();
  const firstId = 1 + random(5_000);
  const entry = (): CatalogueEntry => ({
    id: firstId + random(400) - random(Math.min(firstId, 100)),
    botId: 1 + random(4),
    userId: random(2) * random(30),
    lastMessage: 1_700_000_000 + random(300),
    liked: random(5) === 0,
    disliked: random(7) === 0,
  });
  const first = Array.from({ length: random(200) }, entry);
  catalogue.load(first);
  catalogue.sort();
  for (const one of first) known.set(one.id, one);
  for (let turn = random(400); turn > 0; turn -= 1) {
    const one = entry();
    if (random(3) === 0) {
      catalogue.delete(one.id);
      known.delete(one.id);
    } else {
      catalogue.set(one);
      known.set(one.id, one);
    }
  }
  return { catalogue, known };
}

function someIds(
  random: Random,
  known: ReadonlyMap<number, CatalogueEntry>,
): { readonly hits: IdBits; readonly ids: ReadonlySet<number> } {
  const share = [2, 10, 200][random(3)] ?? 2;
  const ids = [...known.keys()].filter(() => random(share) === 0).concat(random(2) === 0 ? [1, 9_000] : []);
  return { hits: toIdBits(Float64Array.from(ids)), ids: new Set(ids) };
}

const newestFirst = (one: CatalogueEntry, other: CatalogueEntry): number =>
  other.lastMessage - one.lastMessage || other.id - one.id;

describe('the selection of conversations', () => {
  it('is what a look at each of them finds, whatever filters are combined and whatever happened before', () => {
    const random = createRandom(20_261_121);
    const select = createSelect();
    for (let program = 0; program < 400; program += 1) {
      const { catalogue, known } = live(random);
      const { hits, ids } = someIds(random, known);
      const maybe = <Value>(value: Value): Value | undefined => (random(3) === 0 ? value : undefined);
      const filter: Omit<LogFilter, 'text'> = {
        ...Object.fromEntries(
          Object.entries({
            botId: maybe(random(5) === 0 ? 2 ** 33 + 1 : random(6)),
            userIds: maybe(new Set(Array.from({ length: random(8) }, () => random(40)))),
            guest: maybe(random(2) === 0),
            feedback: maybe((['up', 'down', 'any'] as const)[random(3)] ?? 'up'),
            from: maybe(1_700_000_000 + random(300)),
            to: maybe(1_700_000_000 + random(300)),
            ids: maybe(new Set([...known.keys()].slice(0, random(100)))),
          }).filter(([, value]) => value !== undefined),
        ),
      };
      const isTexts = random(2) === 0;
      const expected = [...known.values()]
        .filter((one) => (!isTexts || ids.has(one.id)) && fits(one, filter))
        .sort(newestFirst)
        .map(({ id }) => id);
      const { first, slots } = catalogue.columns();
      const found = Array.from(
        select(catalogue.columns(), { ...filter, hits: isTexts ? hits : null }),
        (place) => first + (slots[place] ?? 0),
      );
      expect(found, JSON.stringify({ program, filter })).to.deep.equal(expected);
    }
  });

  it('returns the same counted pages for texts, from either end', () => {
    const random = createRandom(7);
    const ways = { few: 0, many: 0 };
    for (let program = 0; program < 300; program += 1) {
      const { catalogue, known } = live(random);
      const { hits, ids } = someIds(random, known);
      const expected = [...known.values()]
        .filter(({ id }) => ids.has(id))
        .sort(newestFirst)
        .map(({ id }) => id);
      ways[expected.length < catalogue.columns().used / 16 ? 'few' : 'many'] += 1;
      for (const offset of [
        0,
        1,
        Math.floor(expected.length / 2) + 1,
        expected.length - 3,
        expected.length,
        expected.length + 50,
      ].filter((one) => one >= 0)) {
        const page = pageOfIds(catalogue.columns(), hits, { offset, limit: 7 });
        expect(page, JSON.stringify({ program, offset })).to.deep.equal({
          ids: expected.slice(offset, offset + 7),
          total: expected.length,
        });
      }
    }
    expect(Math.min(ways.few, ways.many)).to.be.greaterThan(20);
  });
});

function fits(
  one: CatalogueEntry,
  { botId, userIds, guest, feedback, from = 0, to = Infinity, ids }: Omit<LogFilter, 'text'>,
): boolean {
  if (botId !== undefined && one.botId !== botId) return false;
  if (userIds !== undefined && !userIds.has(one.userId)) return false;
  if (guest !== undefined && (one.userId === 0) !== guest) return false;
  if (
    feedback !== undefined &&
    !(feedback === 'up' ? one.liked : feedback === 'down' ? one.disliked : one.liked || one.disliked)
  )
    return false;
  return one.lastMessage >= from && one.lastMessage <= to && (ids === undefined || ids.has(one.id));
}

describe('sets of ids as bits', () => {
  it('hold ids of two lists, in any order and repeated', () => {
    const bits = toIdBits(Float64Array.of(4_000_000_017, 4_000_000_003, 4_000_000_017), [4_000_000_001, 4_000_000_003]);
    const found: number[] = [];
    for (let bit = 0; bit < bits.bytes.length * 8; bit += 1)
      if (((bits.bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0) found.push(bits.first + bit);
    expect(found).to.deep.equal([4_000_000_001, 4_000_000_003, 4_000_000_017]);
    expect(toIdBits(new Float64Array(0)).bytes).to.have.length(0);
  });
});
