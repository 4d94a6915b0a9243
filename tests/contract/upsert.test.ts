import { expect } from 'chai';
import { v5Of } from '../helpers/uuid.ts';
import { requestFaults, requestSchema } from '../conformance/vector-requests.ts';
import { vectorOf } from './embedding-upstream.ts';
import type { Relayed } from './vector-relay.ts';
import { items, requestTo, startVectorService, storeIds, type StoreId, type VectorService } from './vector-service.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const metadata = {
  page: 'contact',
  views: 3,
  share: 0.5,
  live: true,
  tags: ['a', 'b'],
  nested: { deep: [1, null] },
  nothing: null,
};

interface Wire {
  readonly key: readonly [header: string, value: string];
  /** Ids, vectors, metadata and documents of a write, in the service's order. */
  read(write: Relayed): {
    ids: unknown[];
    vectors: number[][];
    metadata: unknown[];
    documents?: unknown[];
    namespace?: unknown;
  };
}

interface PineconeBody {
  readonly vectors: readonly { id: string; values: number[]; metadata: unknown }[];
  readonly namespace?: string;
}

const wires: Record<StoreId, Wire> = {
  pinecone: {
    key: ['api-key', 'sandbox'],
    read({ body }) {
      const { vectors, namespace } = body as unknown as PineconeBody;
      return {
        ids: vectors.map(({ id }) => id),
        vectors: vectors.map(({ values }) => values),
        metadata: vectors.map((vector) => vector.metadata),
        namespace,
      };
    },
  },
  qdrant: {
    key: ['api-key', 'sandbox'],
    read({ body }) {
      const { points } = body as unknown as { points: { id: unknown; vector: number[]; payload: unknown }[] };
      return {
        ids: points.map(({ id }) => id),
        vectors: points.map(({ vector }) => vector),
        metadata: points.map(({ payload }) => payload),
      };
    },
  },
  chroma: {
    key: ['x-chroma-token', 'sandbox'],
    read({ body }) {
      const { ids, embeddings, metadatas, documents } = body as unknown as {
        ids: string[];
        embeddings: string[];
        metadatas: unknown[];
        documents: string[];
      };
      return { ids, vectors: embeddings.map(floatsOf), metadata: metadatas, documents };
    },
  },
};

function floatsOf(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readFloatLE(place * 4));
}

describe('POST /vector-stores/upsert', () => {
  let service: VectorService;
  before(async () => {
    service = await startVectorService();
    for (const id of storeIds) await service.behind(id).create({ name: 'notes', dimension: 8, metric: 'cosine' });
  });
  beforeEach(() => {
    service.relay.script();
    service.embeddings.script();
  });
  after(() => service.stop());

  for (const store of storeIds) {
    describe(`to ${store}`, () => {
      it('embeds every content, writes it with its vector, id and metadata, and answers how many', async () => {
        const vectors = [
          { content: 'Our shop opens at nine.', id: 'e4b1cf4b-11d5-4f6f-9d52-36f7c0a0b6a1', metadata },
          { content: 'Größe: 42 €', id: 'sizes' },
          { content: 'No id' },
        ];
        const { status, body, text } = await service.upsert(requestTo(store, vectors, { namespace: 'shop' }));
        expect([status, body], text).to.deep.equal([200, { upserted_count: 3, status: 'success' }]);

        const contents = vectors.map(({ content }) => content);
        expect(service.embeddings.asked.map(({ body: { model, input } }) => ({ model, input }))).to.deep.equal([
          { model: 'text-embedding-3-small', input: contents },
        ]);
        const [write] = service.relay.writes();
        const sent = wires[store].read(write!);
        expect(write?.headers[wires[store].key[0]]).to.equal(wires[store].key[1]);
        sent.vectors.forEach((vector, place) => {
          expect(vector).to.have.length(8);
          vector.forEach((value, at) => expect(value).to.be.closeTo(vectorOf(contents[place]!)[at]!, 1e-6));
        });
        expect(sent.ids.slice(0, 2)).to.deep.equal([vectors[0]?.id, store === 'qdrant' ? v5Of('sizes') : 'sizes']);
        expect(sent.ids[2]).to.match(uuid);
        const flat = {
          pinecone: { ...metadata, nested: '{"deep":[1,null]}', nothing: 'null' },
          qdrant: metadata,
          chroma: { ...metadata, tags: '["a","b"]', nested: '{"deep":[1,null]}', nothing: 'null' },
        };
        expect(sent.metadata).to.deep.equal([
          { ...flat[store], original_content: contents[0] },
          { original_content: contents[1], ...(store === 'qdrant' && { vector_id: 'sizes' }) },
          { original_content: contents[2] },
        ]);
        expect(sent.documents).to.deep.equal(store === 'chroma' ? contents : undefined);
        expect(sent.namespace).to.equal(store === 'pinecone' ? 'shop' : undefined);
        expect(
          JSON.stringify(service.relay.asked.map(({ path, body: asked }) => [path, asked])).includes('shop"'),
        ).to.equal(store === 'pinecone');
      });

      it('sends nothing that the official description does not know', async () => {
        await service.upsert(requestTo(store, items(3)));
        const checked = service.relay.asked.map((asked) => {
          const path = asked.path.replace(/^\/pinecone/, '');
          const schema = requestSchema(store, { method: asked.method, path });
          return schema === null ? [] : requestFaults(store, schema, asked.body);
        });
        expect(checked.flat()).to.deep.equal([]);
        expect(service.relay.writes()).to.have.length(1);
      });

      it('writes again under the same ids without a second copy, and to namespaces apart where there are any', async () => {
        const before = await service.behind(store).count('notes', {});
        for (let round = 0; round < 2; round += 1)
          await service.upsert(
            requestTo(store, [{ content: `Round ${String(round)}`, id: 'again' }], { namespace: 'rounds' }),
          );
        expect(await service.behind(store).count('notes', {})).to.equal(before + 1);
        const [stored] = await service.behind(store).fetch('notes', ['again'], { namespace: 'rounds' });
        expect(stored).to.deep.equal({ id: 'again', content: 'Round 1', metadata: {} });
        expect(await service.behind(store).fetch('notes', ['again'], { namespace: 'elsewhere' })).to.have.length(
          store === 'pinecone' ? 0 : 1,
        );
      });

      it('takes a thousand items in batches within the limits of the store', async () => {
        const vectors = items(1_000, (place) => `${String(place)} ${'é'.repeat(2_500)}`);
        const { status, body, text } = await service.upsert(requestTo(store, vectors, { namespace: 'many' }));
        expect([status, body.upserted_count], text.slice(0, 300)).to.deep.equal([200, 1_000]);
        const most = {
          pinecone: [1_000, 2_000_000],
          qdrant: [1_000, 32 * 1024 * 1024],
          chroma: [5_461, 40 * 1024 * 1024],
        } as const;
        const writes = service.relay.writes();
        for (const write of writes) {
          expect(write.bytes).to.be.at.most(most[store][1]);
          expect(wires[store].read(write).ids.length).to.be.at.most(most[store][0]);
        }
        if (store === 'pinecone')
          expect(Math.min(...writes.slice(0, -1).map(({ bytes }) => bytes))).to.be.above(1_900_000);
        expect(
          writes.flatMap((write) =>
            wires[store].read(write).metadata.map((kept) => (kept as { original_content: string }).original_content),
          ),
        ).to.deep.equal(vectors.map(({ content }) => content));
      });
    });
  }

  for (const provider of ['openai', 'azure', 'google', 'openrouter']) {
    it(`embeds by ${provider}`, async () => {
      const { status, text } = await service.upsert(
        requestTo('qdrant', [{ content: 'One' }], { embedding_provider: provider, embedding_model: 'some-model' }),
      );
      expect(status, text).to.equal(200);
      const [write] = service.relay.writes();
      wires.qdrant
        .read(write!)
        .vectors[0]!.forEach((value, at) => expect(Math.abs(value)).to.be.at.most(1.01, String(at)));
      expect(service.embeddings.asked[0]?.path).to.match(
        {
          openai: /^\/v1\/embeddings/,
          azure: /embeddings/,
          google: /some-model:batchEmbedContents/,
          openrouter: /^\/api\/v1\/embeddings/,
        }[provider]!,
      );
    });
  }

  it('lets plugins change a request and its answer', async () => {
    const undo = [
      service.host.hooks.addFilter('svc_vector_upsert_request', (call) => ({
        ...call,
        vectors: [{ content: 'In place of all' }],
      })),
      service.host.hooks.addFilter('svc_vector_upsert_response', (answer, call) => ({
        ...answer,
        status: `success of ${call.provider}`,
      })),
    ];
    const { body } = await service.upsert(requestTo('qdrant', items(4)));
    undo.forEach((stop) => stop());
    expect(body).to.deep.equal({ upserted_count: 1, status: 'success of qdrant' });
  });
});
