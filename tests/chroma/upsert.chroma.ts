import { expect } from 'chai';
import { requestFaults, requestSchema } from '../conformance/vector-requests.ts';
import { vectorOf } from '../contract/embedding-upstream.ts';
import { items, requestTo, startVectorService, type VectorService } from '../contract/vector-service.ts';
import { startChroma, type ChromaServer } from './chroma-server.ts';

describe('POST /vector-stores/upsert to a real Chroma', () => {
  let server: ChromaServer;
  let service: VectorService;
  const vectors = items(1_000, (place) => `Passage ${String(place)}, which is about ${String(place * 7919)}.`).map(
    (item, place) => ({ ...item, metadata: { place, nested: { deep: place } } }),
  );
  before(async () => {
    server = await startChroma();
    service = await startVectorService({ chroma: server.url });
    await service.behind('chroma').create({ name: 'notes', dimension: 8, metric: 'cosine' });
  });
  after(async () => {
    await service.stop();
    await server.stop();
  });

  it('writes a thousand items, which are counted and read back with documents and metadata', async () => {
    const { status, body, text } = await service.upsert(requestTo('chroma', vectors));
    expect([status, body], text).to.deep.equal([200, { upserted_count: 1_000, status: 'success' }]);
    const chroma = service.behind('chroma');
    expect(await chroma.count('notes', {})).to.equal(1_000);
    expect(await chroma.fetch('notes', ['item-0', 'item-999'], {})).to.deep.equal(
      [0, 999].map((place) => ({
        id: `item-${String(place)}`,
        content: vectors[place]?.content,
        metadata: { place, nested: `{"deep":${String(place)}}` },
      })),
    );
    for (const { method, path, body: sent } of service.relay.asked) {
      const schema = requestSchema('chroma', { method, path });
      if (schema !== null) expect(requestFaults('chroma', schema, sent), `${method} ${path}`).to.deep.equal([]);
    }
  });

  it('finds the identical text as the nearest neighbour', async () => {
    for (const place of [0, 123, 999]) {
      const [nearest] = await service
        .behind('chroma')
        .query('notes', { vector: vectorOf(vectors[place]!.content), limit: 3 });
      expect(nearest?.id).to.equal(`item-${String(place)}`);
      expect(nearest?.score).to.be.closeTo(1, 1e-4);
    }
  });

  it('leaves a thousand when the same is sent again', async () => {
    expect((await service.upsert(requestTo('chroma', vectors))).body).to.deep.equal({
      upserted_count: 1_000,
      status: 'success',
    });
    expect(await service.behind('chroma').count('notes', {})).to.equal(1_000);
  });

  it('answers 404 for a collection that is not there', async () => {
    const { status, body } = await service.upsert(requestTo('chroma', items(1), { target_id: 'nowhere' }));
    expect([status, body.code]).to.deep.equal([404, 'rest_svc_vector_target_not_found']);
  });

  it('answers 400 that names both dimensions for a model of another length, also where the collection learned its own', async () => {
    service.embeddings.script(({ body }) => ({
      body: {
        object: 'list',
        model: 'wide',
        data: (body['input'] as string[]).map((text, index) => ({
          object: 'embedding',
          index,
          embedding: vectorOf(text, 16),
        })),
        usage: { prompt_tokens: 1, total_tokens: 1 },
      },
    }));
    const { status, body } = await service.upsert(requestTo('chroma', items(3), { embedding_model: 'wide' }));
    expect([status, body.code]).to.deep.equal([400, 'rest_svc_vector_dimension_mismatch']);
    expect(body.message).to.contain(' 8 ').and.contain('wide returns 16');
    expect(await service.behind('chroma').count('notes', {})).to.equal(1_000);
  });
});
