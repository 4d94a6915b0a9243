import { expect } from 'chai';
import { createSystemClock } from '../../../host/clock.ts';
import { type Database, openDatabase } from '../../../host/database/database.ts';
import { store } from '../../../plugins/svc/vector-stores/local.store.ts';
import { openLocal } from '../../../plugins/svc/vector-stores/local/open-local.ts';
import { tables } from '../../../plugins/svc/vector-stores/local/tables.ts';
import type { OpenVectorStore, VectorMetric, VectorRecord } from '../../../plugins/svc/vector-stores/vector-store.ts';
import { axis, describeVectorStore } from '../../conformance/vector-store.ts';
import { describeSharedHosts } from '../../helpers/dialects.ts';
import { failureOf } from '../../helpers/failure-of.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { upstreamHttp } from '../../helpers/upstream-http.ts';

const record = (id: string, values: readonly number[], metadata = {}): VectorRecord => ({
  ...{ id, values, content: `Text of ${id}`, metadata },
});
const namesOf = (found: readonly { readonly id: string }[]): string => found.map(({ id }) => id).join(' ');

describeSharedHosts('the store of the site database', ({ location }) => {
  let database: Database;
  before(async () => {
    database = await openDatabase({ ...location(), clock: createSystemClock(), log: silentLog });
  });
  after(() => database.close());

  const connection = (signal?: AbortSignal) => ({
    settings: {},
    ...upstreamHttp.accessTo(undefined),
    ...{ database, clock: createSystemClock(), log: silentLog, timeout: 20_000 },
    ...(signal && { signal }),
  });
  const open = async (): Promise<OpenVectorStore> => store.open(connection());
  const countRows = async (): Promise<number[]> =>
    Promise.all(
      Object.values(tables).map(
        async (name) => ((await database.knex(name).count({ count: '*' }).first()) as { count: number }).count,
      ),
    );

  describeVectorStore(store.label, async () => ({ store, opened: await open() }));

  describe('beyond what all stores do', () => {
    let opened: OpenVectorStore;
    const name = 'notes';
    const create = (metric: VectorMetric = 'cosine', dimension = 4): Promise<void> =>
      opened.create({ name, dimension, metric });
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      await opened.remove(name).catch(() => undefined);
    });

    it('scores by each metric, and by id where scores are equal', async () => {
      const vectors = { near: [3, 4, 0, 0], far: [-6, 8, 0, 0], zero: [0, 0, 0, 0], twin: [3, 4, 0, 0] };
      const scores: Record<VectorMetric, Record<string, number>> = {
        cosine: { near: 0.6, twin: 0.6, zero: 0, far: -0.6 },
        dotproduct: { near: 6, twin: 6, zero: 0, far: -12 },
        euclidean: { zero: -2, near: -Math.sqrt(17), twin: -Math.sqrt(17), far: -Math.sqrt(128) },
      };
      for (const metric of store.metrics) {
        await create(metric);
        await opened.write(
          name,
          Object.entries(vectors).map(([id, values]) => record(id, values)),
          {},
        );
        const found = await opened.query(name, { vector: [2, 0, 0, 0], limit: 10 });
        const expected = Object.entries(scores[metric]);
        // The rows of one write have the order of their keys, so twins may be swapped.
        expect(found.map(({ id }) => id.replace('twin', 'near'))).to.deep.equal(
          expected.map(([id]) => id.replace('twin', 'near')),
        );
        for (const { id, score } of found) expect(score, id).to.be.closeTo(scores[metric][id] ?? NaN, 1e-6);
        const once = namesOf(found);
        expect(namesOf(await opened.query(name, { vector: [2, 0, 0, 0], limit: 10 }))).to.equal(once);
        await opened.remove(name);
      }
    });

    it('separates namespaces', async () => {
      await create();
      const mine = { namespace: 'mine' };
      const vector = [1, 0, 0, 0];
      await opened.write(name, [record('same', vector), record('only here', vector)], {});
      await opened.write(name, [{ ...record('same', vector), content: 'Of mine' }], mine);
      expect(namesOf(await opened.query(name, { vector, limit: 10, ...mine }))).to.equal('same');
      expect((await opened.query(name, { vector, limit: 10 })).map(({ id }) => id).sort()).to.deep.equal([
        'only here',
        'same',
      ]);
      expect((await opened.fetch(name, ['same', 'only here'], mine)).map(({ content }) => content)).to.deep.equal([
        'Of mine',
      ]);
      expect([
        await opened.count(name, {}),
        await opened.count(name, mine),
        await opened.count(name, { namespace: '' }),
      ]).to.deep.equal([3, 1, 2]);
      await opened.deleteIds(name, ['only here'], mine);
      await opened.deleteWhere(name, { field: 'any', exists: false }, mine);
      expect(await opened.count(name, {})).to.equal(2);
    });

    it('finds a text in a list, and treats null as missing', async () => {
      await create();
      const vector = [1, 0, 0, 0];
      await opened.write(
        name,
        [record('list', vector, { tags: ['a', 'b'] }), record('none', vector, { tags: null })],
        {},
      );
      const ask = async (filter: Parameters<OpenVectorStore['deleteWhere']>[1]): Promise<string> =>
        namesOf(await opened.query(name, { vector, limit: 10, filter }));
      expect(await ask({ field: 'tags', equals: 'b' })).to.equal('list');
      expect(await ask({ field: 'tags', in: ['b', 'c'] })).to.equal('list');
      expect(await ask({ field: 'tags', notIn: ['b', 'c'] })).to.equal('none');
      expect(await ask({ field: 'tags', exists: false })).to.equal('none');
      expect(await ask({ field: 'toString', exists: true })).to.equal('');
    });

    it('writes all records or none', async () => {
      await create();
      const small = openLocal(connection(), { capacity: 120 });
      const many = Array.from({ length: 121 }, (_, index) => record(String(index), axis(index, 0, 4)));
      const full = (await failureOf(small.write(name, many, {}))) as Error;
      expect(full).to.deep.include({ kind: 'rejected' });
      expect(full.message).to.contain('is full: it may have 120 vectors');
      expect(await opened.count(name, {})).to.equal(0);
      await small.write(name, many.slice(1), {});
      // As many as there may be, again and in part.
      await small.write(name, many.slice(1), {});
      await small.write(name, [...many.slice(60, 70), ...many.slice(60, 70)], {});
      const wrong = await failureOf(opened.write(name, [record('0', axis(0, 0, 4)), record('1', [1e39, 0, 0, 0])], {}));
      expect((wrong as Error).message).to.contain('32-bit floats');
      expect(await opened.count(name, {})).to.equal(120);
    });

    it('bounds what it takes', async () => {
      expect((await failureOf(create('cosine', 4_097))) as Error).to.have.property(
        'message',
        'vectors may have 4096 dimensions at most, not 4097.',
      );
      await create('cosine', 4_096);
      const vector = axis(0, 0, 4_096);
      await opened.write(name, [record('long', vector)], {});
      expect((await opened.query(name, { vector, limit: 1_000 }))[0]?.score).to.be.closeTo(1, 1e-6);
      expect((await failureOf(opened.query(name, { vector, limit: 1_001 }))) as Error).to.have.property(
        'kind',
        'rejected',
      );
      expect(store.refuse?.(record('x'.repeat(513), []))).to.contain('512');
      expect(store.refuse?.(record('x', [], { text: 'ü'.repeat(20_500) }))).to.contain('40960');
      expect(store.refuse?.(record('x', [], { text: 'ü'.repeat(20_000) }))).to.equal(null);
    });

    it('ends a search by its signal', async () => {
      await create();
      const canceled = await store.open(connection(AbortSignal.abort()));
      expect(await failureOf(canceled.query(name, { vector: [1, 0, 0, 0], limit: 1 }))).to.have.property(
        'kind',
        'aborted',
      );
    });

    it('leaves nothing of a collection that is removed, and nothing else is gone', async () => {
      await opened.create({ name: 'other', dimension: 4, metric: 'cosine' });
      await opened.write('other', [record('stays', [1, 0, 0, 0])], {});
      const before = await countRows();
      await create();
      for (const namespace of ['', 'mine'])
        await opened.write(
          name,
          Array.from({ length: 450 }, (_, index) => record(String(index), axis(index, 0, 4), { index })),
          { namespace },
        );
      await opened.deleteWhere(name, { field: 'index', below: 440 }, {});
      expect(await opened.count(name, {})).to.equal(460);
      await opened.remove(name);
      expect(await countRows()).to.deep.equal(before);
      expect(await opened.describe(name)).to.equal(null);
      await opened.remove('other');
    });
  });
});
