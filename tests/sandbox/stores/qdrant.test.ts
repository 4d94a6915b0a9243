import { expect } from 'chai';
import { call } from '../helpers/call.ts';
import { expectShape } from '../helpers/answer-schemas.ts';
import { openSandbox } from '../helpers/open-sandbox.ts';
import type { OpenSandbox } from '../helpers/open-sandbox.ts';
import { describeStorages, failure, qdrant } from './helpers.ts';

const uuid = '5c56c793-69f3-4fbf-87e6-c4bf54c28c26';
const headers = { 'api-key': 'sandbox' };

describeStorages('Qdrant in the sandbox, asked through its SDK', (open) => {
  let sandbox: OpenSandbox;
  beforeEach(async () => {
    sandbox = await openSandbox({ storage: await open() });
    await qdrant(sandbox.url).createCollection('books', { vectors: { size: 3, distance: 'Cosine' } });
  });
  afterEach(() => sandbox.close());

  const points = [
    {
      id: 10,
      vector: [1, 0, 0],
      payload: {
        genre: 'crime',
        year: 1990,
        tags: ['old', 'dark'],
        author: { name: 'A' },
        text: 'The quick brown fox',
      },
    },
    { id: 2, vector: [0, 1, 0], payload: { genre: 'love', year: 2000, empty: null } },
    { id: uuid, vector: [9, 1, 0], payload: { genre: 'crime', year: 2010 } },
  ];
  const fill = () => qdrant(sandbox.url).upsert('books', { wait: true, points });

  it('makes, lists, describes and removes collections', async () => {
    const client = qdrant(sandbox.url);
    expect((await client.getCollections()).collections).to.deep.equal([{ name: 'books' }]);
    expect(await client.getCollection('books'))
      .to.deep.include({ points_count: 0 })
      .and.have.nested.property('config.params.vectors')
      .that.deep.equals({ size: 3, distance: 'Cosine' });
    expect(await client.collectionExists('books')).to.deep.equal({ exists: true });
    expect(
      (await failure(client.createCollection('books', { vectors: { size: 3, distance: 'Dot' } }))).data,
    ).to.have.nested.property('status.error', 'Wrong input: Collection `books` already exists!');
    await fill();
    expect(await client.deleteCollection('books')).to.equal(true);
    expect(await client.deleteCollection('books')).to.equal(false);
    expect(await client.collectionExists('books')).to.deep.equal({ exists: false });
    expect((await failure(client.getCollection('books'))).data).to.have.nested.property(
      'status.error',
      "Not found: Collection `books` doesn't exist!",
    );
  });

  it('writes, reads and counts points, another time on another node; integers come before UUIDs', async () => {
    expect(await fill()).to.include({ status: 'completed' });
    expect(await qdrant(sandbox.url).upsert('books', { wait: false, points: points.slice(0, 1) })).to.include({
      status: 'acknowledged',
    });
    const again = await openSandbox({ storage: await open() });
    const client = qdrant(again.url);
    expect(await client.count('books')).to.deep.equal({ count: 3 });
    expect(await client.retrieve('books', { ids: [uuid, 77, 2], with_payload: ['year'] })).to.deep.equal([
      { id: uuid, payload: { year: 2010 } },
      { id: 2, payload: { year: 2000 } },
    ]);
    const first = await client.scroll('books', { limit: 2, with_payload: false });
    expect(first).to.deep.equal({ points: [{ id: 2 }, { id: 10 }], next_page_offset: uuid });
    expect((await client.scroll('books', { limit: 2, offset: uuid })).points.map(({ id }) => id)).to.deep.equal([uuid]);
    await again.close();
  });

  it('keeps vectors in length 1 where distances are cosines, as they are elsewhere', async () => {
    const client = qdrant(sandbox.url);
    await client.createCollection('plain', { vectors: { size: 2, distance: 'Euclid' } });
    await client.upsert('plain', { points: [{ id: 1, vector: [3, 4] }] });
    await client.upsert('books', { points: [{ id: 1, vector: [3, 4, 0] }] });
    expect((await client.retrieve('plain', { ids: [1], with_vector: true }))[0]?.vector).to.deep.equal([3, 4]);
    expect((await client.retrieve('books', { ids: [1], with_vector: true }))[0]?.vector).to.deep.equal(
      [0.6, 0.8, 0].map(Math.fround),
    );
    expect((await client.query('plain', { query: [0, 0] })).points[0]).to.include({ score: 5 });
  });

  it('finds the nearest first, within a filter, by both ways to search', async () => {
    await fill();
    const client = qdrant(sandbox.url);
    const find = async (filter?: object) => {
      const { points: found } = await client.query('books', { query: [1, 0, 0], limit: 5, ...(filter && { filter }) });
      // Clients of before 1.10 search in this way.
      const searched = await fetch(`${sandbox.url}/collections/books/points/search`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ vector: [1, 0, 0], limit: 5, with_payload: false, ...(filter && { filter }) }),
      });
      expect(await searched.json())
        .to.have.property('result')
        .that.deep.equals(found);
      return found.map(({ id }) => id);
    };
    expect(await find()).to.deep.equal([10, uuid, 2]);
    const cases: readonly (readonly [object, unknown[]])[] = [
      [{ must: [{ key: 'genre', match: { value: 'love' } }] }, [2]],
      [{ must: { key: 'tags', match: { value: 'dark' } } }, [10]],
      [{ must: [{ key: 'author.name', match: { any: ['A', 'B'] } }] }, [10]],
      [{ must: [{ key: 'text', match: { text: 'BROWN quick' } }] }, [10]],
      [{ must: [{ key: 'year', range: { gte: 1990, lt: 2010 } }] }, [10, 2]],
      [{ must_not: [{ key: 'genre', match: { value: 'crime' } }] }, [2]],
      [
        {
          should: [
            { key: 'year', range: { gt: 2005 } },
            { key: 'genre', match: { value: 'love' } },
          ],
        },
        [uuid, 2],
      ],
      [{ must: [{ has_id: [uuid, 2] }] }, [uuid, 2]],
      [{ must: [{ is_empty: { key: 'tags' } }] }, [uuid, 2]],
      [{ must: [{ is_null: { key: 'empty' } }] }, [2]],
      [{ must: [{ key: 'genre', match: { except: ['crime'] } }] }, [2]],
      [
        { must: [{ should: [{ key: 'year', match: { value: 1990 } }] }, { key: 'genre', match: { value: 'crime' } }] },
        [10],
      ],
    ];
    for (const [filter, ids] of cases) expect(await find(filter), JSON.stringify(filter)).to.deep.equal(ids);
    expect((await client.query('books', { query: 10, limit: 1 })).points.map(({ id }) => id)).to.deep.equal([uuid]);
    expect(
      (await client.query('books', { query: [1, 0, 0], score_threshold: 0.999 })).points.map(({ id }) => id),
    ).to.deep.equal([10]);
    expect((await failure(client.query('books', { query: [1], limit: 1 }))).data).to.have.nested.property(
      'status.error',
      'Wrong input: Vector dimension error: expected dim: 3, got 1',
    );
    expect((await failure(client.query('books', { query: [1, 0, 0], filter: { musst: [] } as object }))).data)
      .to.have.nested.property('status.error')
      .that.contains('unknown field `musst`');
  });

  it('removes by ids and by a filter, and changes payloads', async () => {
    await fill();
    const client = qdrant(sandbox.url);
    await client.setPayload('books', { wait: true, payload: { year: 1 }, points: [2] });
    expect((await client.retrieve('books', { ids: [2] }))[0]?.payload).to.deep.equal({
      genre: 'love',
      year: 1,
      empty: null,
    });
    await client.delete('books', { wait: true, filter: { must: [{ key: 'genre', match: { value: 'crime' } }] } });
    expect(await client.count('books', { filter: { must: [{ key: 'year', match: { value: 1 } }] } })).to.deep.equal({
      count: 1,
    });
    await client.delete('books', { wait: true, points: [2] });
    expect(await client.count('books')).to.deep.equal({ count: 0 });
  });

  it('refuses what is no point, and writes nothing of it', async () => {
    const client = qdrant(sandbox.url);
    const good = { id: 1, vector: [1, 0, 0] };
    expect((await failure(client.upsert('books', { points: [good, { id: 'my-id', vector: [1, 0, 0] }] }))).data)
      .to.have.nested.property('status.error')
      .that.contains('value my-id is not a valid point ID');
    expect(
      (await failure(client.upsert('books', { points: [good, { id: 2, vector: [1, 0] }] }))).data,
    ).to.have.nested.property('status.error', 'Wrong input: Vector dimension error: expected dim: 3, got 2');
    expect(await client.count('books')).to.deep.equal({ count: 0 });
    expect(await failure(client.upsert('nope', { points: [good] }))).to.have.property('status', 404);
    const tooLarge = await call(`${sandbox.url}/qdrant/collections/books/points`, {
      method: 'PUT',
      headers,
      body: ' '.repeat(32 * 1024 * 1024 + 1),
    });
    expect(tooLarge.status).to.equal(400);
    expect(tooLarge.json)
      .to.have.nested.property('status.error')
      .that.contains('is larger than allowed (limit: 33554432 bytes)');
  });

  it('answers in the shapes of the specification', async () => {
    await fill();
    const ask = async (path: string, body?: unknown, method?: string) =>
      (
        await call(`${sandbox.url}/qdrant/collections${path}`, {
          headers,
          ...(body !== undefined && { body }),
          ...(method !== undefined && { method }),
        })
      ).json as { result: unknown; status: unknown };
    const shape = async (name: string, answer: Promise<{ result: unknown }>) => {
      expectShape('qdrant', name, { value: (await answer).result });
    };
    await shape('CollectionsResponse', ask(''));
    await shape('CollectionInfo', ask('/books'));
    await shape('CollectionExistence', ask('/books/exists'));
    await shape('UpdateResult', ask('/books/points', { points }, 'PUT'));
    await shape(
      'QueryResponse',
      ask('/books/points/query', { query: [1, 0, 0], with_payload: true, with_vector: true }),
    );
    await shape('CountResult', ask('/books/points/count', {}));
    for (const record of (await ask('/books/points', { ids: [2, uuid], with_vector: true })).result as unknown[])
      expectShape('qdrant', 'Record', { value: record });
    await shape('UpdateResult', ask('/books/points/delete', { points: [2] }));
    expectShape('qdrant', 'ErrorResponse', { value: await ask('/nope') });
    const refused = await call(`${sandbox.url}/collections`, { headers: { 'api-key': 'wrong' } });
    expect([refused.status, refused.text]).to.deep.equal([401, 'Invalid API key or JWT']);
  });

  it('obeys the fault settings, and a collection whose name forces a fault', async () => {
    const client = qdrant(sandbox.url);
    await client.createCollection('fault-429', { vectors: { size: 1, distance: 'Dot' } });
    expect(await failure(client.count('fault-429'))).to.include({ retry_after: 1 });
    for (const [fault, name] of [
      ['fault-500', 'Error'],
      ['fault-cut', 'TypeError'],
    ] as const)
      expect((await failure(client.count(fault))).name).to.equal(name);
    sandbox.turn({ fault: '500' });
    expect(await failure(client.getCollections())).to.have.property('status', 500);
  });
});
