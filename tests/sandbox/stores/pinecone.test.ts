import { expect } from 'chai';
import type { Index } from '@pinecone-database/pinecone';
import { call } from '../helpers/call.ts';
import { expectShape } from '../helpers/answer-schemas.ts';
import { openSandbox } from '../helpers/open-sandbox.ts';
import type { OpenSandbox } from '../helpers/open-sandbox.ts';
import { describeStorages, failure, pinecone } from './helpers.ts';

const spec = { serverless: { cloud: 'aws' as const, region: 'us-east-1' } };
const headers = { 'api-key': 'sandbox' };
/** Without the members that the SDK leaves undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describeStorages('Pinecone in the sandbox, asked through its SDK', (open) => {
  let sandbox: OpenSandbox;
  beforeEach(async () => {
    sandbox = await openSandbox({ storage: await open() });
  });
  afterEach(() => sandbox.close());

  const make = async (
    init: { name?: string; dimension?: number; metric?: 'cosine' | 'euclidean' | 'dotproduct' } = {},
  ): Promise<Index> => {
    const { name = 'books', dimension = 3, metric = 'cosine' } = init;
    await pinecone(sandbox.url).createIndex({ name, dimension, metric, spec, waitUntilReady: true });
    // The SDK remembers an index's address by its name, and every test has another port.
    return pinecone(sandbox.url).index({ host: (await pinecone(sandbox.url).describeIndex(name)).host });
  };
  const books = [
    { id: 'a', values: [1, 0, 0], metadata: { genre: 'crime', year: 1990, tags: ['old', 'dark'] } },
    { id: 'b', values: [0, 1, 0], metadata: { genre: 'love', year: 2000 } },
    { id: 'c', values: [0.9, 0.1, 0], metadata: { genre: 'crime', year: 2010, sold: true } },
  ];

  it('makes, lists, describes, configures and removes indexes', async () => {
    const client = pinecone(sandbox.url);
    await make();
    await make({ name: 'other', dimension: 8, metric: 'euclidean' });
    expect(
      (await client.listIndexes()).indexes?.map(({ name, dimension, metric }) => [name, dimension, metric]),
    ).to.deep.equal([
      ['books', 3, 'cosine'],
      ['other', 8, 'euclidean'],
    ]);
    await client.configureIndex({ name: 'books', deletionProtection: 'enabled', tags: { kind: 'test' } });
    expect(await client.describeIndex('books')).to.deep.include({
      deletionProtection: 'enabled',
      tags: { kind: 'test' },
    });
    expect((await failure(client.deleteIndex('books'))).message).to.contain('Deletion protection is enabled');
    await client.configureIndex({ name: 'books', deletionProtection: 'disabled' });
    await client.deleteIndex('books');
    expect(await failure(client.describeIndex('books'))).to.have.property('name', 'PineconeNotFoundError');
    expect(await failure(client.createIndex({ name: 'other', dimension: 3, spec }))).to.have.property(
      'name',
      'PineconeConflictError',
    );
    expect((await failure(client.createIndex({ name: 'No_Good', dimension: 3, spec }))).message).to.contain(
      'lower case alphanumeric',
    );
  });

  it('writes, reads, counts and lists records, another time on another node', async () => {
    const index = await make();
    await index.upsert({ records: books });
    await index.upsert({ records: books.slice(0, 1) });
    const again = await openSandbox({ storage: await open() });
    const other = pinecone(again.url).index({ host: `${again.url}/pinecone/hosts/books` });
    expect((await other.describeIndexStats()).totalRecordCount).to.equal(3);
    expect(plain((await other.fetch({ ids: ['a', 'x'] })).records)).to.deep.equal({ a: books[0] });
    const first = await other.listPaginated({ limit: 2 });
    expect(first.vectors?.map(({ id }) => id)).to.deep.equal(['a', 'b']);
    const rest = await other.listPaginated({ limit: 2, paginationToken: first.pagination!.next! });
    expect(rest.vectors?.map(({ id }) => id)).to.deep.equal(['c']);
    expect(rest.pagination).to.equal(undefined);
    await again.close();
  });

  it('finds the nearest first, within a filter', async () => {
    const index = await make();
    await index.upsert({ records: books });
    const find = async (filter?: object): Promise<string[]> =>
      (await index.query({ vector: [1, 0, 0], topK: 10, ...(filter && { filter }) })).matches.map(({ id }) => id);
    expect(await find()).to.deep.equal(['a', 'c', 'b']);
    const cases: readonly (readonly [object, string[]])[] = [
      [{ genre: 'love' }, ['b']],
      [{ genre: { $eq: 'crime' }, year: { $lt: 2000 } }, ['a']],
      [{ genre: { $ne: 'crime' } }, ['b']],
      [{ year: { $gte: 2000, $lte: 2010 } }, ['c', 'b']],
      [{ year: { $in: [1990, 2000] } }, ['a', 'b']],
      [{ year: { $nin: [1990, 2000] } }, ['c']],
      [{ tags: 'dark' }, ['a']],
      [{ sold: { $exists: true } }, ['c']],
      [{ sold: { $exists: false } }, ['a', 'b']],
      [{ $or: [{ genre: 'love' }, { year: { $gt: 2005 } }] }, ['c', 'b']],
      [{ $and: [{ genre: 'crime' }, { sold: true }] }, ['c']],
    ];
    for (const [filter, ids] of cases) expect(await find(filter), JSON.stringify(filter)).to.deep.equal(ids);
    expect((await failure(find({ year: { $about: 3 } }))).message).to.contain('$about is not a valid operator');
    const { matches } = await index.query({ id: 'a', topK: 1, includeMetadata: true, includeValues: true });
    expect(plain(matches)).to.deep.equal([{ ...books[0], score: 1 }]);
  });

  it('measures as the index says', async () => {
    for (const [metric, score] of [
      ['euclidean', 5],
      ['dotproduct', 4],
    ] as const) {
      const index = await make({ name: metric, metric });
      await index.upsert({ records: [{ id: 'x', values: [2, 2, 0] }] });
      expect(
        (
          await index.query({
            vector: [1, 1, 0].map((value, at) => (metric === 'euclidean' ? [1, 0, 0][at]! : value)),
            topK: 1,
          })
        ).matches[0],
      ).to.have.property('score', score);
    }
  });

  it('keeps namespaces apart, and knows when there is none', async () => {
    const index = await make();
    await index.upsert({ records: books });
    await index.upsert({ records: books.slice(0, 1), namespace: 'second' });
    expect((await index.describeIndexStats()).namespaces).to.deep.equal({
      __default__: { recordCount: 3 },
      second: { recordCount: 1 },
    });
    expect((await index.query({ vector: [1, 0, 0], topK: 9, namespace: 'second' })).matches).to.have.lengthOf(1);
    expect((await index.query({ vector: [1, 0, 0], topK: 9, namespace: 'third' })).matches).to.deep.equal([]);
    expect((await index.listNamespaces()).namespaces?.map(({ name }) => name)).to.deep.equal(['__default__', 'second']);
    await index.deleteAll({ namespace: 'second' });
    expect(await failure(index.deleteAll({ namespace: 'second' }))).to.have.property('name', 'PineconeNotFoundError');
  });

  it('removes by ids and by a filter, and changes records', async () => {
    const index = await make();
    await index.upsert({ records: books });
    await index.update({ id: 'b', metadata: { year: 2001 } });
    expect((await index.fetch({ ids: ['b'] })).records['b']?.metadata).to.deep.equal({ genre: 'love', year: 2001 });
    await index.deleteMany({ filter: { genre: { $eq: 'crime' } } });
    await index.deleteOne({ id: 'gone' });
    expect((await index.describeIndexStats()).totalRecordCount).to.equal(1);
    await index.deleteMany({ ids: ['b'] });
    expect((await index.describeIndexStats()).totalRecordCount).to.equal(0);
  });

  it('refuses what is beyond its limits, and writes nothing of it', async () => {
    const index = await make();
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ id: String(at), values: [at + 1, 1, 0] }));
    expect((await failure(index.upsert({ records: many(1001) }))).message).to.contain('1000 vectors');
    expect((await failure(index.upsert({ records: [...many(2), { id: 'x', values: [1, 2] }] }))).message).to.equal(
      'Vector dimension 2 does not match the dimension of the index 3',
    );
    const long = { text: 'x'.repeat(30_000) };
    expect(
      (await failure(index.upsert({ records: many(100).map((record) => ({ ...record, metadata: long })) }))).message,
    ).to.contain('exceeds the maximum supported size of 2MB');
    expect(
      (
        await failure(
          index.upsert({ records: [{ id: 'x', values: [1, 0, 0], metadata: { text: 'x'.repeat(41_000) } }] }),
        )
      ).message,
    ).to.contain('40960 bytes per vector');
    expect(
      (
        await failure(
          index.upsert({ records: [{ id: 'x', values: [1, 0, 0], metadata: { nested: { a: 1 } } as never }] }),
        )
      ).message,
    ).to.contain('list of strings');
    expect((await index.describeIndexStats()).totalRecordCount).to.equal(0);
    await index.upsert({ records: many(1000) });
    expect((await index.describeIndexStats()).totalRecordCount).to.equal(1000);
  });

  it('answers in the shapes of the specification', async () => {
    await make();
    const ask = async (path: string, body?: unknown) =>
      (await call(`${sandbox.url}/pinecone${path}`, { headers, body })).json;
    const host = '/hosts/books';
    expectShape('pinecone', 'IndexList', { value: await ask('/indexes') });
    expectShape('pinecone', 'IndexModel', { value: await ask('/indexes/books') });
    expectShape('pinecone', 'ErrorResponse', { value: await ask('/indexes/nope') });
    expectShape('pinecone', 'UpsertResponse', { value: await ask(`${host}/vectors/upsert`, { vectors: books }) });
    expectShape('pinecone', 'QueryResponse', {
      value: await ask(`${host}/query`, { vector: [1, 0, 0], topK: 2, includeValues: true, includeMetadata: true }),
    });
    expectShape('pinecone', 'FetchResponse', { value: await ask(`${host}/vectors/fetch?ids=a&ids=b`) });
    expectShape('pinecone', 'IndexDescription', { value: await ask(`${host}/describe_index_stats`, {}) });
    expectShape('pinecone', 'DeleteResponse', { value: await ask(`${host}/vectors/delete`, { ids: ['a'] }) });
    expectShape('pinecone', 'rpcStatus', { value: await ask(`${host}/vectors/delete`, {}) });
    expect((await call(`${sandbox.url}/pinecone/indexes`)).status).to.equal(401);
  });

  it('obeys the fault settings, and an index whose name forces a fault', async () => {
    const index = await make({ name: 'fault-429' }).catch(() =>
      pinecone(sandbox.url).index({ host: `${sandbox.url}/pinecone/hosts/fault-429` }),
    );
    expect((await failure(index.describeIndexStats())).message).to.contain('max write units');
    sandbox.turn({ fault: '500' });
    // However few retries it is given, the SDK says that they are used up.
    expect(await failure(pinecone(sandbox.url).listIndexes())).to.have.property(
      'name',
      'PineconeMaxRetriesExceededError',
    );
  });
});
