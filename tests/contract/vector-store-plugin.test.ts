import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';
import { startEmbeddingUpstream, type EmbeddingUpstream } from './embedding-upstream.ts';

/** A plugin as a third party writes it: one file, nothing of ours imported. */
const plugin = `
const kept = new Map();
const store = {
  id: 'shelf',
  label: 'Shelf',
  targetKind: 'collection',
  required: ['shelf_number'],
  metrics: ['cosine'],
  settings: { type: 'object', properties: { shelf_number: { type: 'integer', title: 'Shelf number', minimum: 1 } } },
  open: ({ settings }) => ({
    list: async () => [{ name: 'books', dimension: 8, metric: 'cosine' }],
    describe: async (name) => (name === 'books' ? { name, dimension: 8, metric: 'cosine' } : null),
    create: async () => {},
    remove: async () => {},
    writeLimits: async () => ({ records: 2, bytes: 100000 }),
    write: async (target, records) => {
      if (records.some(({ content }) => content === 'too heavy')) throw Object.assign(new Error('the shelf broke.'), { kind: 'unreadable' });
      for (const record of records) kept.set(record.id, { ...record, shelf: settings.shelf_number });
    },
    query: async () => [],
    fetch: async () => [],
    deleteIds: async () => {},
    deleteWhere: async () => {},
    count: async () => kept.size,
  }),
};
export default { register(host) { host.hooks.addFilter('svc_vector_stores', (stores) => [...stores, store]); } };
`;

describe('a vector store of another plugin', () => {
  let folder: string;
  let host: TestHost;
  let embeddings: EmbeddingUpstream;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'store-plugin-'));
    mkdirSync(join(folder, 'shelf'));
    writeFileSync(
      join(folder, 'shelf', 'plugin.json'),
      JSON.stringify({ slug: 'shelf', name: 'Shelf', version: '1.0.0', main: 'index.mjs', host: '^1' }),
    );
    writeFileSync(join(folder, 'shelf', 'index.mjs'), plugin);
    embeddings = await startEmbeddingUpstream();
    host = await createTestHost({
      plugins: ['shelf', 'svc'],
      pluginDirs: [folder, join(import.meta.dirname, '../../plugins')],
    });
    host.hooks.addFilter('svc_provider_settings', (settings: Readonly<Record<string, unknown>>, id: string) =>
      id === 'openai' ? { ...settings, api_key: 'sk-x', base_url: `${embeddings.origin}/v1` } : settings,
    );
    await host.options.update('svc_api_key', host.secrets.encrypt('key'));
  });
  after(async () => {
    await host.stop();
    await embeddings.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function upsert(
    vectors: readonly object[],
    target = 'books',
  ): Promise<{
    status: number;
    body: { upserted_count?: number; code?: string; message?: string; data: { upserted_count?: number } };
  }> {
    const answer = await host.fetch('/wp-json/svc/v1/vector-stores/upsert', {
      method: 'POST',
      headers: { authorization: 'Bearer key', 'content-type': 'application/json' },
      body: JSON.stringify({
        provider: 'shelf',
        target_id: target,
        vectors,
        embedding_provider: 'openai',
        embedding_model: 'm',
      }),
    });
    return { status: answer.status, body: (await answer.json()) as never };
  }

  it('stands in the values of provider, in OPTIONS and in OpenAPI', async () => {
    const options = (await (
      await host.fetch('/wp-json/svc/v1/vector-stores/upsert', { method: 'OPTIONS' })
    ).json()) as { endpoints: { args: { provider: { enum: string[] } } }[] };
    expect(options.endpoints[0]?.args.provider.enum).to.deep.equal(['pinecone', 'qdrant', 'chroma', 'local', 'shelf']);
    const link = JSON.stringify(
      await (
        await host.fetch('/wp-json/svc/v1/openapi.json')
      )
        .json()
        .catch(() => host.fetch('/wp-json/openapi.json').then((answer) => answer.json())),
    );
    expect(link).to.contain('"pinecone","qdrant","chroma","local","shelf"');
  });

  it('is set up on the command line and by its card, and then takes upserts in batches of its own', async () => {
    expect((await upsert([{ content: 'a' }])).body).to.deep.include({ code: 'rest_svc_provider_not_configured' });
    expect((await host.cli('svc', 'vector-store', 'set', 'shelf', '--shelf-number=0')).err).to.contain(
      'Shelf number must be 1 or more',
    );
    expect((await host.cli('svc', 'vector-store', 'set', 'shelf', '--shelf-number=7')).code).to.equal(0);
    expect((await host.cli('svc', 'vector-store', 'test', 'shelf')).code).to.equal(0);
    const { status, body } = await upsert([{ content: 'a' }, { content: 'b' }, { content: 'c' }]);
    expect([status, body]).to.deep.equal([200, { upserted_count: 3, status: 'success' }]);
    expect((await upsert([{ content: 'a' }], 'nowhere')).body.code).to.equal('rest_svc_vector_target_not_found');
  });

  it('has its errors mapped like ours by their kind, with how many were written', async () => {
    const { status, body } = await upsert([{ content: 'a' }, { content: 'b' }, { content: 'too heavy' }]);
    expect([status, body.code, body.data.upserted_count]).to.deep.equal([502, 'rest_svc_vector_store_error', 2]);
    expect(body.message).to.contain('Shelf failed: the shelf broke.');
  });

  it('goes with its plugin', async () => {
    await host.plugins.deactivate('shelf');
    expect((await upsert([{ content: 'a' }])).body.code).to.equal('rest_invalid_param');
  });
});
