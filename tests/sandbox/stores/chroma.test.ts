import { expect } from 'chai';
import type { Collection } from 'chromadb';
import { call } from '../helpers/call.ts';
import { expectShape } from '../helpers/answer-schemas.ts';
import { openSandbox } from '../helpers/open-sandbox.ts';
import type { OpenSandbox } from '../helpers/open-sandbox.ts';
import { chroma, describeStorages, failure, noEmbeddings } from './helpers.ts';

const root = '/api/v2/tenants/default_tenant/databases/default_database/collections';

describeStorages('Chroma in the sandbox, asked through its SDK', (open) => {
  let sandbox: OpenSandbox;
  beforeEach(async () => {
    sandbox = await openSandbox({ storage: await open() });
  });
  afterEach(() => sandbox.close());

  const make = (space: 'cosine' | 'l2' | 'ip' = 'cosine', name = 'books'): Promise<Collection> =>
    chroma(sandbox.url).getOrCreateCollection({
      name,
      embeddingFunction: noEmbeddings,
      configuration: { hnsw: { space } },
      metadata: { kind: 'test' },
    });
  const records = {
    ids: ['a', 'b', 'c'],
    embeddings: [
      [1, 0, 0],
      [0, 1, 0],
      [9, 1, 0],
    ],
    documents: ['a murder', 'a kiss', 'a second murder'],
    metadatas: [
      { genre: 'crime', year: 1990 },
      { genre: 'love', year: 2000 },
      { genre: 'crime', year: 2010, sold: true },
    ],
  };

  it('tells of itself', async () => {
    const client = chroma(sandbox.url);
    expect(await client.heartbeat()).to.equal(sandbox.clock.now() * 1_000_000);
    expect(await client.version()).to.equal('1.0.0');
    expect(await client.getUserIdentity()).to.deep.include({
      tenant: 'default_tenant',
      databases: ['default_database'],
    });
    expect(await client.getMaxBatchSize()).to.equal(5461);
  });

  it('makes, lists, renames and removes collections', async () => {
    const client = chroma(sandbox.url);
    const made = await make('l2');
    expect((await make()).id).to.equal(made.id);
    expect(await failure(client.createCollection({ name: 'books', embeddingFunction: noEmbeddings }))).to.have.property(
      'name',
      'ChromaUniqueError',
    );
    expect((await failure(client.createCollection({ name: 'a', embeddingFunction: noEmbeddings }))).message).to.contain(
      'Expected a name containing 3-512 characters',
    );
    await made.modify({ name: 'papers', metadata: { kind: 'other' } });
    expect((await client.listCollections()).map(({ name, metadata }) => [name, metadata])).to.deep.equal([
      ['papers', { kind: 'other' }],
    ]);
    expect(await client.countCollections()).to.equal(1);
    await client.deleteCollection({ name: 'papers' });
    expect(await failure(client.getCollection({ name: 'papers', embeddingFunction: noEmbeddings }))).to.have.property(
      'name',
      'ChromaNotFoundError',
    );
    expect(await failure(made.count())).to.have.property('name', 'ChromaNotFoundError');
  });

  it('adds, writes over, changes and reads records, another time on another node, in the order they came', async () => {
    const books = await make();
    await books.add(records);
    // What is there is left alone by add, merged by upsert, changed by update; update makes nothing new.
    await books.add({
      ids: ['c', 'd'],
      embeddings: [
        [7, 7, 7],
        [0, 0, 1],
      ],
    });
    await books.upsert({
      ids: ['a'],
      embeddings: [[2, 0, 0]],
      documents: ['another murder'],
      metadatas: [{ year: 1991 }],
    });
    await books.update({ ids: ['b', 'zz'], metadatas: [{ seen: true }, { seen: true }] });
    const again = await openSandbox({ storage: await open() });
    const other = await chroma(again.url).getCollection({ name: 'books', embeddingFunction: noEmbeddings });
    expect(await other.count()).to.equal(4);
    const { ids, embeddings, documents, metadatas } = await other.get({
      include: ['embeddings', 'documents', 'metadatas'],
    });
    expect(ids).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(embeddings).to.deep.equal([
      [2, 0, 0],
      [0, 1, 0],
      [9, 1, 0],
      [0, 0, 1],
    ]);
    expect(documents).to.deep.equal(['another murder', 'a kiss', 'a second murder', null]);
    expect(metadatas).to.deep.equal([
      { genre: 'crime', year: 1991 },
      { genre: 'love', year: 2000, seen: true },
      records.metadatas[2],
      null,
    ]);
    expect((await other.get({ limit: 2, offset: 1 })).ids).to.deep.equal(['b', 'c']);
    await again.close();
  });

  it('finds the nearest first, within filters', async () => {
    const books = await make();
    await books.add(records);
    const find = async (where?: object, whereDocument?: object): Promise<string[]> =>
      (
        await books.query({
          queryEmbeddings: [[1, 0, 0]],
          nResults: 5,
          ...(where && { where: where as never }),
          ...(whereDocument && { whereDocument: whereDocument as never }),
        })
      ).ids[0]!;
    expect(await find()).to.deep.equal(['a', 'c', 'b']);
    const cases: readonly (readonly [object | undefined, string[], object?])[] = [
      [{ genre: 'love' }, ['b']],
      [{ year: { $gte: 2000 } }, ['c', 'b']],
      [{ genre: { $ne: 'crime' } }, ['b']],
      [{ sold: { $ne: true } }, ['a', 'b']],
      [{ year: { $in: [1990, 2000] } }, ['a', 'b']],
      [{ year: { $nin: [1990, 2000] } }, ['c']],
      [{ $and: [{ genre: 'crime' }, { year: { $lt: 2000 } }] }, ['a']],
      [{ $or: [{ genre: 'love' }, { sold: true }] }, ['c', 'b']],
      [undefined, ['a', 'c'], { $contains: 'murder' }],
      [{ year: { $gt: 1995 } }, ['c'], { $contains: 'murder' }],
      [undefined, ['b'], { $not_contains: 'murder' }],
    ];
    for (const [where, ids, document] of cases)
      expect(await find(where, document), JSON.stringify([where, document])).to.deep.equal(ids);
    // The SDK lets no such clause out.
    const { status, json } = await call(`${sandbox.url}${root}/${books.id}/get`, {
      body: { where: { genre: 'crime', year: 1990 } },
    });
    expect([status, json]).to.deep.equal([400, { error: 'InvalidArgumentError', message: 'Invalid where clause' }]);
    const { distances, documents } = await books.query({
      queryEmbeddings: [
        [1, 0, 0],
        [0, 1, 0],
      ],
      nResults: 1,
    });
    expect(distances).to.deep.equal([[0], [0]]);
    expect(documents).to.deep.equal([['a murder'], ['a kiss']]);
  });

  it('measures as the collection says', async () => {
    for (const [space, distance] of [
      ['l2', 5],
      ['ip', -1],
      ['cosine', Math.fround(1 - Math.SQRT1_2)],
    ] as const) {
      const books = await make(space, `books-${space}`);
      await books.add({ ids: ['x'], embeddings: [[2, 2]] });
      expect((await books.query({ queryEmbeddings: [[1, 0]], nResults: 1 })).distances, space).to.deep.equal([
        [distance],
      ]);
    }
  });

  it('removes by ids and by filters, and nothing without either', async () => {
    const books = await make();
    await books.add(records);
    await call(`${sandbox.url}${root}/${books.id}/delete`, { body: {} });
    expect(await books.count()).to.equal(3);
    await books.delete({ where: { genre: 'crime' }, whereDocument: { $contains: 'second' } });
    expect((await books.get()).ids).to.deep.equal(['a', 'b']);
    await books.delete({ ids: ['b', 'unknown'] });
    expect((await books.get()).ids).to.deep.equal(['a']);
  });

  it('refuses what does not fit, and writes nothing of it', async () => {
    const books = await make();
    await books.add({ ids: ['x'], embeddings: [[1, 0, 0]] });
    expect(
      (
        await failure(
          books.upsert({
            ids: ['y', 'z'],
            embeddings: [
              [1, 1, 1],
              [1, 0],
            ],
          }),
        )
      ).message,
    ).to.contain('Collection expecting embedding with dimension of 3, got 2');
    const send = (body: unknown) => call(`${sandbox.url}${root}/${books.id}/upsert`, { body });
    const many = Array.from({ length: 5462 }, (_, at) => String(at));
    expect((await send({ ids: many, embeddings: many.map(() => [1, 0, 0]) })).json)
      .to.have.property('message')
      .that.contains('Cannot submit more than 5,461 embeddings at once');
    expect((await send({ ids: ['y'], embeddings: [[1, 0, 0]], metadatas: [{ a: { b: 1 } }] })).status).to.equal(422);
    expect((await send({ ids: ['y', 'z'], embeddings: [[1, 0, 0]] })).status).to.equal(400);
    expect(await books.count()).to.equal(1);
  });

  it('answers in the shapes a running server describes', async () => {
    const books = await make();
    await books.add(records);
    const ask = async (path: string, body?: unknown) =>
      (await call(sandbox.url + path, body === undefined ? {} : { body })).json;
    const shape = async (name: string, path: string, body?: unknown) => {
      expectShape('chroma', name, { value: await ask(path, body) });
    };
    await shape('HeartbeatResponse', '/api/v2/heartbeat');
    await shape('ChecklistResponse', '/api/v2/pre-flight-checks');
    await shape('GetUserIdentityResponse', '/api/v2/auth/identity');
    await shape('GetTenantResponse', '/api/v2/tenants/default_tenant');
    await shape('Database', '/api/v2/tenants/default_tenant/databases/default_database');
    await shape('Collection', `${root}/books`);
    await shape('GetResponse', `${root}/${books.id}/get`, {
      include: ['embeddings', 'documents', 'metadatas', 'uris'],
    });
    await shape('QueryResponse', `${root}/${books.id}/query`, {
      query_embeddings: [[1, 0, 0]],
      include: ['embeddings', 'documents', 'metadatas', 'distances'],
    });
    await shape('ErrorResponse', `${root}/nope`);
    expect((await call(`${sandbox.url}/chroma${root}`)).json).to.have.lengthOf(1);
    expect((await call(`${sandbox.url}/api/v1/heartbeat`)).status).to.equal(410);
  });

  it('obeys the fault settings, a collection whose name forces a fault, and a wrong key', async () => {
    const struck = await make('cosine', 'fault-429');
    expect(await failure(struck.count())).to.have.property('name', 'ChromaRateLimitError');
    expect(await failure(chroma(sandbox.url, { 'x-chroma-token': 'wrong' }).listCollections())).to.have.property(
      'name',
      'ChromaAuthError',
    );
    sandbox.turn({ fault: '500' });
    expect(await failure(chroma(sandbox.url).heartbeat())).to.be.instanceOf(Error);
  });
});
