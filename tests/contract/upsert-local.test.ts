import { expect } from 'chai';
import { tables } from '../../plugins/svc/vector-stores/local/tables.ts';
import { until } from '../helpers/until.ts';
import { items, requestTo, startVectorService, type VectorService } from './vector-service.ts';

describe('POST /vector-stores/upsert into the database of the site', () => {
  let service: VectorService;
  before(async () => {
    service = await startVectorService();
    await run('vector-store', 'create', 'local', 'notes', '--dimension=8');
  });
  beforeEach(() => {
    service.embeddings.script();
  });
  after(() => service.stop());

  async function run(...argv: string[]): Promise<Record<string, unknown>> {
    const { code, out, err } = await service.host.cli('svc', ...argv, '--json');
    expect(code, err).to.equal(0);
    return JSON.parse(out) as Record<string, unknown>;
  }
  const countTexts = async (): Promise<number> => (await service.host.database.knex(tables.texts)).length;

  it('needs no settings: it is listed as configured, and its test works', async () => {
    const listed = (await run('vector-store', 'list')) as unknown as { id: string; configured: boolean }[];
    expect(listed.find(({ id }) => id === 'local')).to.deep.include({ configured: true, label: 'Site database' });
    expect(await run('vector-store', 'test', 'local')).to.deep.include({ works: true, targets: 1 });
  });

  it('writes and replaces by id, in a namespace too', async () => {
    for (const [changes, count] of [
      [{}, 200],
      [{}, 200],
      [{ namespace: 'other' }, 400],
    ] as const) {
      const { status, body } = await service.upsert(requestTo('local', items(200), changes));
      expect([status, body]).to.deep.equal([200, { upserted_count: 200, status: 'success' }]);
      expect(await countTexts()).to.equal(count);
    }
    expect(await run('vector-store', 'targets', 'local')).to.deep.equal([
      { name: 'notes', dimension: 8, metric: 'cosine', count: 400 },
    ]);
  });

  it('refuses what does not fit before anything is embedded', async () => {
    const cases: [object, number, string, RegExp][] = [
      [{ target_id: 'nowhere' }, 404, 'rest_svc_vector_target_not_found', /nowhere/],
      [{ vectors: [{ content: 'a', metadata: { text: 'x'.repeat(41_000) } }] }, 400, 'rest_invalid_param', /vectors/],
      [{ vectors: items(1).concat(items(1)) }, 400, 'rest_svc_duplicate_vector_id', /item-0/],
    ];
    for (const [changes, status, code, message] of cases) {
      const answer = await service.upsert(requestTo('local', items(1), changes));
      expect([answer.status, answer.body.code], answer.text).to.deep.equal([status, code]);
      expect(answer.body.message).to.match(message);
    }
    expect(service.embeddings.asked).to.have.length(0);
    await run('vector-store', 'create', 'local', 'short', '--dimension=3');
    const { status, body } = await service.upsert(requestTo('local', items(1), { target_id: 'short' }));
    expect([status, body.code]).to.deep.equal([400, 'rest_svc_vector_dimension_mismatch']);
  });

  it('holds a knowledge base for which no store was chosen', async () => {
    const created = await run(
      ...['knowledge', 'create', 'Help', '--target=help', '--provider=openai', '--model=text-embedding-3-small'],
    );
    expect(created).to.deep.include({ store: 'local', made_target: true });
    const id = String(created['id']);
    await run('knowledge', 'add', id, '--text=The shop opens at nine.', '--title=Opening hours');
    await until('an indexed source', async () =>
      JSON.stringify(await run('knowledge', 'sources', id)).includes('"indexed"'),
    );
    const found = (await run('knowledge', 'search', id, 'The', 'shop', 'opens')) as unknown as { text: string }[];
    expect(found.map(({ text }) => text).join()).to.contain('The shop opens at nine.');
    await run('knowledge', 'delete', id, '--target');
    await until(
      'a deleted collection',
      async () => !JSON.stringify(await run('vector-store', 'targets', 'local')).includes('help'),
    );
  });

  it('is removed with the plugin', async () => {
    await service.host.plugins.deactivate('svc');
    await service.host.plugins.uninstall('svc');
    for (const table of Object.values(tables))
      expect(await service.host.database.knex.schema.hasTable(table), table).to.equal(false);
  });
});
