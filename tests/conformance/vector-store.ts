import { expect } from 'chai';
import { splitBatches } from '../../plugins/svc/vector-stores/batches.ts';
import {
  VectorStoreError,
  type OpenVectorStore,
  type VectorRecord,
  type VectorStore,
} from '../../plugins/svc/vector-stores/vector-store.ts';
import type { VectorFilter } from '../../plugins/svc/vector-stores/vector-filter.ts';

/** A store that is there and empty of the targets these tests make. */
export interface StoreUnderTest {
  readonly store: VectorStore;
  readonly opened: OpenVectorStore;
}

const dimension = 8;

/** A vector of length 1 that points mostly along one axis, and a little along the next. */
export function axis(place: number, tilt = 0, size = dimension): number[] {
  const values = Array.from({ length: size }, () => 0);
  values[place % size] = Math.sqrt(1 - tilt * tilt);
  values[(place + 1) % size] = tilt;
  return values;
}

function record(id: string, place: number, metadata: VectorRecord['metadata'] = {}): VectorRecord {
  return { id, values: axis(place), content: `Text of ${id}`, metadata };
}

async function failureOf(promise: Promise<unknown>): Promise<VectorStoreError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).to.be.instanceOf(VectorStoreError);
  return thrown as VectorStoreError;
}

/** What every vector store does, whatever speaks at its upstream. */
export function describeVectorStore(title: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${title} as a vector store`, () => {
    let opened: OpenVectorStore;
    const name = 'conformance-notes';
    before(async () => {
      ({ opened } = await open());
      await opened.create({ name, dimension, metric: 'cosine' });
    });
    after(async () => {
      await opened.remove(name).catch(() => undefined);
    });

    it('makes, lists, describes and deletes targets, each under its name', async () => {
      await opened.create({ name: 'conformance-other', dimension: 3, metric: 'euclidean' });
      expect(await opened.describe('conformance-other')).to.deep.equal({
        name: 'conformance-other',
        dimension: 3,
        metric: 'euclidean',
      });
      const listed = await opened.list();
      expect(listed.map((target) => target.name)).to.include.members([name, 'conformance-other']);
      expect(listed.find((target) => target.name === name)).to.deep.equal({ name, dimension, metric: 'cosine' });
      expect(
        (await failureOf(opened.create({ name: 'conformance-other', dimension: 3, metric: 'euclidean' }))).kind,
      ).to.equal('conflict');
      await opened.remove('conformance-other');
    });

    it('answers null for a target that is not there, and not_found for what is done to it', async () => {
      const { opened: anew } = await open();
      expect(await anew.describe('conformance-nowhere')).to.equal(null);
      const acts = [
        anew.remove('conformance-nowhere'),
        anew.write('conformance-nowhere', [record('1', 0)], {}),
        anew.query('conformance-nowhere', { vector: axis(0), limit: 1 }),
        anew.fetch('conformance-nowhere', ['1'], {}),
        anew.deleteIds('conformance-nowhere', ['1'], {}),
        anew.count('conformance-nowhere', {}),
      ];
      for (const failure of await Promise.all(acts.map(failureOf))) expect(failure.kind).to.equal('not_found');
    });

    it('gives back what was written, under the ids that were given', async () => {
      const ids = ['plain id', 'e4b1cf4b-11d5-4f6f-9d52-36f7c0a0b6a1', '42', 'ARTICLE/7?a=b#c'];
      const metadata = { text: 'Größe', count: 3, share: 0.25, flag: true, off: false };
      await opened.write(
        name,
        ids.map((id, place) => record(id, place, metadata)),
        {},
      );
      expect(await opened.fetch(name, [...ids].reverse().concat('missing'), {})).to.deep.equal(
        [...ids].reverse().map((id) => ({ id, content: `Text of ${id}`, metadata })),
      );
      expect(await opened.count(name, {})).to.equal(4);
      await opened.deleteIds(name, [...ids, 'missing'], {});
      expect(await opened.count(name, {})).to.equal(0);
    });

    it('replaces a vector of the same id, metadata and all', async () => {
      await opened.write(name, [record('same', 0, { version: 1, old: true })], {});
      await opened.write(name, [{ ...record('same', 1, { version: 2 }), content: 'New text' }], {});
      expect(await opened.count(name, {})).to.equal(1);
      const [stored] = await opened.fetch(name, ['same'], {});
      expect(stored).to.deep.equal({ id: 'same', content: 'New text', metadata: { version: 2 } });
      await opened.deleteIds(name, ['same'], {});
    });

    it('keeps metadata that it cannot hold as JSON text, and what it can as it is', async () => {
      await opened.write(
        name,
        [record('nested', 0, { nested: { a: [1, { b: null }] }, nothing: null, list: [1, 2] })],
        {},
      );
      const [stored] = await opened.fetch(name, ['nested'], {});
      const read = Object.fromEntries(
        Object.entries(stored?.metadata ?? {}).map(([key, value]) => [
          key,
          typeof value === 'string' ? (JSON.parse(value) as unknown) : value,
        ]),
      );
      expect(read).to.deep.equal({ nested: { a: [1, { b: null }] }, nothing: null, list: [1, 2] });
      await opened.deleteIds(name, ['nested'], {});
    });

    it('finds the nearest first, with higher scores for nearer ones, at most as many as were asked for', async () => {
      await opened.write(
        name,
        [record('north', 0), { ...record('near', 0), values: axis(0, 0.3) }, record('east', 3), record('south', 5)],
        {},
      );
      const found = await opened.query(name, { vector: axis(0), limit: 3 });
      expect(found.map(({ id }) => id).slice(0, 2)).to.deep.equal(['north', 'near']);
      expect(found).to.have.length(3);
      expect(found[0]?.score).to.be.closeTo(1, 1e-4);
      expect(found[1]?.score).to.be.closeTo(Math.sqrt(1 - 0.09), 1e-4);
      expect(found[0]).to.deep.include({ id: 'north', content: 'Text of north', metadata: {} });
      await opened.deleteIds(name, ['north', 'near', 'east', 'south'], {});
    });

    it('tells of a vector of the wrong length as a refusal that names both', async () => {
      await opened.write(name, [record('right', 0)], {});
      const failure = await failureOf(opened.write(name, [{ ...record('wrong', 0), values: [1, 2, 3] }], {}));
      expect(failure.kind).to.equal('rejected');
      expect(failure.message).to.contain('3').and.contain(String(dimension));
      await opened.deleteIds(name, ['right'], {});
    });

    it('deletes nothing in a namespace that is empty', async () => {
      for (const namespace of ['nothing-here', undefined]) {
        const options = namespace === undefined ? {} : { namespace };
        await opened.deleteWhere(name, { field: 'kind', equals: 'page' }, options);
        await opened.deleteIds(name, ['none'], options);
      }
    });

    it('takes more vectors than fit in one request in batches within its limits, twice without a second set', async () => {
      const records = Array.from({ length: 1_001 }, (_, place) => ({
        ...record(`n-${String(place)}`, place),
        values: axis(place, (place % 90) / 100),
      }));
      for (let round = 0; round < 2; round += 1) {
        for (const batch of splitBatches(records, await opened.writeLimits(), opened.sizeOf))
          await opened.write(name, batch, {});
      }
      expect(await opened.count(name, {})).to.equal(1_001);
      expect(await opened.fetch(name, ['n-0', 'n-1000'], {})).to.have.length(2);
    });

    describeFilters(open);
  });
}

function describeFilters(open: () => Promise<StoreUnderTest>): void {
  describe('by metadata', () => {
    const name = 'conformance-filters';
    let opened: OpenVectorStore;
    let store: VectorStore;
    before(async () => {
      ({ opened, store } = await open());
      await opened.create({ name, dimension, metric: 'cosine' });
      await opened.write(
        name,
        [
          record('a', 0, { kind: 'page', year: 2024, score: 0.5, live: true, 'dotted.name': 'x' }),
          record('b', 1, { kind: 'page', year: 2025, score: 1.5, live: false }),
          record('c', 2, { kind: 'post', year: 2026, score: 2.5, live: true }),
          record('d', 3, { year: 2027 }),
        ],
        {},
      );
    });
    after(async () => {
      await opened.remove(name).catch(() => undefined);
    });

    const cases: [string, VectorFilter, string][] = [
      ['equal text', { field: 'kind', equals: 'page' }, 'ab'],
      ['an equal integer', { field: 'year', equals: 2026 }, 'c'],
      ['an equal fraction', { field: 'score', equals: 1.5 }, 'b'],
      ['an equal boolean', { field: 'live', equals: true }, 'ac'],
      ['a field with a dot in its name', { field: 'dotted.name', equals: 'x' }, 'a'],
      ['unequal, without the field too', { field: 'kind', unequal: 'page' }, 'cd'],
      ['a list of texts', { field: 'kind', in: ['post', 'other'] }, 'c'],
      ['a list of numbers', { field: 'year', in: [2024, 2027] }, 'ad'],
      ['not in a list, without the field too', { field: 'kind', notIn: ['page', 'other'] }, 'cd'],
      ['bounds', { field: 'year', from: 2025, below: 2027 }, 'bc'],
      ['one open bound', { field: 'score', above: 0.5 }, 'bc'],
      [
        'all of several',
        {
          all: [
            { field: 'kind', equals: 'page' },
            { field: 'live', equals: true },
          ],
        },
        'a',
      ],
      [
        'any of several',
        { any: [{ field: 'kind', equals: 'post' }, { all: [{ field: 'year', equals: 2027 }] }] },
        'cd',
      ],
    ];
    for (const [title, filter, expected] of cases) {
      it(`finds by ${title}`, async () => {
        const found = await opened.query(name, { vector: axis(0), limit: 10, filter });
        expect(
          found
            .map(({ id }) => id)
            .sort()
            .join(''),
        ).to.equal(expected);
      });
    }

    it('finds by whether a field exists, or says that it cannot', async () => {
      const ask = (exists: boolean) =>
        opened.query(name, { vector: axis(0), limit: 10, filter: { field: 'kind', exists } });
      if (store.id === 'chroma') {
        expect((await failureOf(ask(true))).kind).to.equal('unsupported');
        return;
      }
      expect(
        (await ask(true))
          .map(({ id }) => id)
          .sort()
          .join(''),
      ).to.equal('abc');
      expect((await ask(false)).map(({ id }) => id).join('')).to.equal('d');
    });

    it('deletes by a filter what meets it and nothing else; an empty filter is refused', async () => {
      for (const filter of [{ all: [] }, { any: [] }])
        expect((await failureOf(opened.deleteWhere(name, filter, {}))).kind).to.equal('unsupported');
      await opened.deleteWhere(name, { field: 'kind', equals: 'page' }, {});
      expect((await opened.fetch(name, ['a', 'b', 'c', 'd'], {})).map(({ id }) => id)).to.deep.equal(['c', 'd']);
    });
  });
}
