import { expect } from 'chai';
import { startVectorRelay } from './vector-relay.ts';
import { items, requestTo, startVectorService, storeIds, type Answer, type VectorService } from './vector-service.ts';

const failure = (status: number, message: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: { message, error: 'Error' },
});

describe('errors of POST /vector-stores/upsert', () => {
  let service: VectorService;
  before(async () => {
    service = await startVectorService();
    for (const id of storeIds) {
      await service.behind(id).create({ name: 'notes', dimension: 8, metric: 'cosine' });
      await service.behind(id).create({ name: 'short', dimension: 3, metric: 'cosine' });
    }
  });
  beforeEach(() => {
    service.relay.script();
    service.embeddings.script();
  });
  after(() => service.stop());

  function expectError(answer: Answer, status: number, code: string): void {
    expect([answer.status, answer.body.code], answer.text).to.deep.equal([status, code]);
    expect(answer.body).to.have.all.keys('code', 'message', 'data');
    expect(answer.text)
      .not.to.match(/node_modules|\/plugins\/|\bat .+:\d+:\d+/)
      .and.not.contain('sk-upstream')
      .and.not.contain('"sandbox"');
  }
  function expectNobodyAsked(): void {
    expect([service.embeddings.asked.length, service.relay.writes().length]).to.deep.equal([0, 0]);
  }

  it('asks for the REST key before anything else', async () => {
    for (const body of [requestTo('qdrant', items(1)), {}, '{'])
      expectError(await service.upsert(body, {}), 401, 'rest_svc_invalid_api_key');
  });

  it('names all that is missing', async () => {
    const { status, body } = await service.upsert({});
    expect([status, body.code, body.data.params]).to.deep.equal([
      400,
      'rest_missing_callback_param',
      ['provider', 'target_id', 'vectors', 'embedding_provider', 'embedding_model'],
    ]);
  });

  const invalid: Record<string, object> = {
    provider: { provider: 'weaviate' },
    target_id: { target_id: '' },
    vectors: { vectors: [] },
    'vectors that are no list': { vectors: 'text' },
    'vectors without content': { vectors: [{ id: 'a' }] },
    'an id that is no text': { vectors: [{ content: 'a', id: 7 }] },
    'a blank id': { vectors: [{ content: 'a', id: '' }] },
    'metadata that is no object': { vectors: [{ content: 'a', metadata: 'text' }] },
    embedding_provider: { embedding_provider: 'claude' },
    embedding_model: { embedding_model: '' },
    namespace: { namespace: 7 },
  };
  for (const [name, change] of Object.entries(invalid)) {
    it(`refuses ${name} with 400 rest_invalid_param and asks nobody`, async () => {
      const answer = await service.upsert(requestTo('qdrant', items(1), change));
      expectError(answer, 400, 'rest_invalid_param');
      expect(Object.keys(answer.body.data.params)[0]).to.match(new RegExp(`^${Object.keys(change)[0]!}`));
      expectNobodyAsked();
    });
  }

  it('takes 1,000 items and refuses one more; a body of 10 MB and refuses a larger one', async () => {
    expectError(await service.upsert(requestTo('qdrant', items(1_001))), 400, 'rest_invalid_param');
    const large = requestTo('qdrant', [{ content: 'a', id: 'large', metadata: { text: 'x'.repeat(9_900_000) } }]);
    expect((await service.upsert(large)).status).to.equal(200);
    service.embeddings.script();
    service.relay.script();
    expectError(
      await service.upsert(requestTo('qdrant', [{ content: 'x'.repeat(10 * 1024 * 1024) }])),
      413,
      'rest_body_too_large',
    );
    expectNobodyAsked();
  });

  it('refuses a blank content by its place', async () => {
    const answer = await service.upsert(requestTo('qdrant', [{ content: 'a' }, { content: ' \n' }]));
    expectError(answer, 400, 'rest_svc_empty_input');
    expect(answer.body.message).to.equal('The content of vectors[1] must not be blank.');
    expectNobodyAsked();
  });

  it('refuses the same id twice, also where only the store takes two ids for one', async () => {
    for (const store of storeIds)
      expectError(
        await service.upsert(
          requestTo(store, [
            { content: 'a', id: 'x' },
            { content: 'b', id: 'x' },
          ]),
        ),
        400,
        'rest_svc_duplicate_vector_id',
      );
    const id = 'e4b1cf4b-11d5-4f6f-9d52-36f7c0a0b6a1';
    expectError(
      await service.upsert(
        requestTo('qdrant', [
          { content: 'a', id },
          { content: 'b', id: id.toUpperCase() },
        ]),
      ),
      400,
      'rest_svc_duplicate_vector_id',
    );
    expectNobodyAsked();
  });

  it('refuses what a store would refuse half-way before anything is embedded', async () => {
    const cases: [string, object, RegExp][] = [
      ['pinecone', { content: 'a', id: 'größe' }, /^vectors\[1\]: Pinecone takes ids of 1 to 512 ASCII/],
      ['pinecone', { content: 'a', metadata: { $set: 1 } }, /\$set/],
      ['pinecone', { content: 'x'.repeat(41_000) }, /Pinecone accepts 40960/],
      ['chroma', { content: 'a', metadata: { 'chroma:document': 'x' } }, /chroma:document/],
    ];
    for (const [store, item, sentence] of cases) {
      const answer = await service.upsert(requestTo(store, [{ content: 'first' }, item]));
      expectError(answer, 400, 'rest_invalid_param');
      expect(answer.body.data.params.vectors).to.match(sentence);
      expectNobodyAsked();
    }
  });

  for (const store of storeIds) {
    it(`${store}: answers 404 for a target that is not there, before anything is embedded`, async () => {
      const answer = await service.upsert(requestTo(store, items(2), { target_id: 'nowhere' }));
      expectError(answer, 404, 'rest_svc_vector_target_not_found');
      expect(answer.body.message).to.contain('nowhere');
      expectNobodyAsked();
    });

    it(`${store}: answers 400 that names both dimensions after one call for embeddings, and writes nothing`, async () => {
      const { status, body, text } = await service.upsert(
        requestTo(store, items(300), {
          target_id: 'short',
          embedding_provider: 'google',
          embedding_model: 'gemini-embedding-001',
        }),
      );
      expect([status, body.code], text).to.deep.equal([400, 'rest_svc_vector_dimension_mismatch']);
      expect(body.message).to.contain('short').and.contain(' 3 ').and.contain('returns 8');
      expect(body.data).to.include({ target_dimension: 3, model_dimension: 8 });
      expect([service.embeddings.asked.length, service.relay.writes().length]).to.deep.equal([1, 0]);
    });

    it(`${store}: writes nothing when the third call for embeddings fails`, async () => {
      service.embeddings.script((_asked, count) =>
        count >= 3 ? { status: 400, body: { error: { message: 'The third is refused.' } } } : undefined,
      );
      const answer = await service.upsert(
        requestTo(store, items(500), { embedding_provider: 'google', embedding_model: 'gemini-embedding-001' }),
      );
      expectError(answer, 400, 'rest_svc_provider_rejected');
      expect(service.embeddings.asked.length).to.be.at.least(3);
      expect(service.relay.writes()).to.have.length(0);
      expect(answer.body.data).not.to.have.property('upserted_count');
    });

    it(`${store}: says how many were written when it fails half-way, and a repeat heals it`, async () => {
      const half = `half-${store}`;
      await service.behind(store).create({ name: half, dimension: 8, metric: 'cosine' });
      const vectors = items(900, (place) => `${String(place)} ${'x'.repeat(store === 'pinecone' ? 6_000 : 10_500)}`);
      service.relay.script((_asked, writes) =>
        writes >= 2 && /upsert|points/.test(_asked.path) && _asked.method !== 'GET' && !_asked.path.endsWith('/get')
          ? failure(503, 'Down for repairs.')
          : undefined,
      );
      const answer = await service.upsert(requestTo(store, vectors, { target_id: half }));
      expectError(answer, 502, 'rest_svc_vector_store_error');
      const written: number = answer.body.data.upserted_count;
      expect(written).to.be.above(0).and.below(900);
      expect(answer.body.message)
        .to.contain('Down for repairs.')
        .and.contain(`${String(written)} of 900 vectors were written`);
      expect(await service.behind(store).count(half, {})).to.equal(written);
      expect(service.relay.writes()).to.have.length(1 + 3);

      service.relay.script();
      const { status, body } = await service.upsert(requestTo(store, vectors, { target_id: half }));
      expect([status, body.upserted_count]).to.deep.equal([200, 900]);
      expect(await service.behind(store).count(half, {})).to.equal(900);
    });

    it(`${store}: heals a passing fault by itself`, async () => {
      service.relay.script((_asked, writes) =>
        writes === 1 && service.relay.writes().at(-1) === _asked ? failure(500, 'Once') : undefined,
      );
      const { status } = await service.upsert(requestTo(store, items(2)));
      expect([status, service.relay.writes().length]).to.deep.equal([200, 2]);
    });

    const theirs: [number, number, string, number][] = [
      [401, 502, 'rest_svc_provider_auth_failed', 1],
      [403, 502, 'rest_svc_provider_auth_failed', 1],
      [400, 400, 'rest_svc_provider_rejected', 1],
      [429, 429, 'rest_svc_provider_rate_limited', 3],
      [500, 502, 'rest_svc_vector_store_error', 3],
    ];
    for (const [status, ours, code, tries] of theirs) {
      it(`${store}: answers ${String(ours)} ${code} for its ${String(status)}, after ${String(tries)} tries`, async () => {
        service.relay.script(() => failure(status, `Sentence of ${String(status)}.`, { 'retry-after': '7' }));
        const answer = await service.upsert(requestTo(store, items(1)));
        expectError(answer, ours, code);
        expect(answer.body.data).to.include({ provider: store, provider_status: status });
        // Qdrant's client keeps nothing of a 429 but how long to wait.
        expect(answer.body.message).to.contain(
          store === 'qdrant' && status === 429 ? 'it is rate limited.' : `Sentence of ${String(status)}.`,
        );
        expect(answer.headers.get('retry-after')).to.equal(status === 429 ? '7' : null);
        expect([service.relay.asked.length, service.embeddings.asked.length]).to.deep.equal([tries, 0]);
      });
    }

    it(`${store}: answers 504 when nothing comes within its time limit`, async () => {
      const undo = service.host.hooks.addFilter(
        'svc_vector_store_settings',
        (settings) => ({ ...settings, timeout: 4 }),
        20,
      );
      let reached = (): void => undefined;
      const hanging = new Promise<void>((resolve) => {
        reached = resolve;
      });
      service.relay.script(() => {
        reached();
        return { instead: 'hang' };
      });
      const answering = service.upsert(requestTo(store, items(1)));
      await hanging;
      await service.clock.advance(5_000);
      const answer = await answering;
      undo();
      expectError(answer, 504, 'rest_svc_provider_timeout');
      expect(answer.body.message).to.contain('within 4 seconds');
    });

    it(`${store}: says where it is set up when it is not`, async () => {
      const undo = service.host.hooks.addFilter('svc_vector_store_settings', () => ({}), 20);
      const answer = await service.upsert(requestTo(store, items(1)));
      undo();
      expectError(answer, 400, 'rest_svc_provider_not_configured');
      expect(answer.body.message).to.match(/Save its (API key and )?URL in the admin/);
      expectNobodyAsked();
    });

    it(`${store}: answers 502 when nobody is there`, async () => {
      const gone = await startVectorRelay('');
      const closed = gone.origin;
      await gone.stop();
      const undo = service.host.hooks.addFilter(
        'svc_vector_store_settings',
        (settings) => ({ ...settings, url: closed }),
        20,
      );
      const answer = await service.upsert(requestTo(store, items(1)));
      undo();
      expectError(answer, 502, 'rest_svc_vector_store_error');
      expect(answer.body.message).to.contain('ECONNREFUSED');
    });
  }
});
