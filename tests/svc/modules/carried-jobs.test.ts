import { expect } from 'chai';
import type { Migration } from '#plugin-api';
import { migrations as jobMigrations } from '../../../host/jobs/jobs.ts';
import { knowledgeMigrations, tables } from '../../../plugins/svc/modules/knowledge-base/tables.ts';
import { describeDialects } from '../../helpers/dialects.ts';

describeDialects('work that waits when a site is updated', (open) => {
  /** The database as an earlier version left it, and what migrates it further. */
  async function openEarlier(migrations: readonly Migration[], since: string) {
    const database = await open({});
    await database.migrate('host', [...jobMigrations]);
    const early = migrations.filter(({ id }) => id < since);
    await database.migrate('svc', early);
    return {
      knex: database.knex,
      update: () => database.migrate('svc', [...migrations]),
      jobs: () =>
        database
          .knex('jobs')
          .orderBy(['name', 'id'])
          .select('owner', 'name', 'job_key', 'args', 'state', 'priority', 'attempts'),
    };
  }
  const job = (name: string, [key, args]: readonly [string, string], changes = {}) => ({
    ...{ owner: 'svc', name, job_key: key, args, state: 'waiting', priority: 10, attempts: 0, ...changes },
  });

  it('becomes jobs: sources to index and to delete, and bases to delete', async () => {
    const { knex, update, jobs } = await openEarlier(knowledgeMigrations, '0210');
    const texts = { name: 'a', store: 's', target: 't', namespace: '', embedding_provider: 'p', embedding_model: 'm' };
    const times = { created_at: 1, updated_at: 1 };
    const base = { ...texts, chunk_tokens: 1, overlap_tokens: 0, follows: '[]', removes_target: 0, ...times };
    await knex(tables.bases).insert(['active', 'deleting'].map((state) => ({ ...base, state })));
    const source = {
      ...{ base_id: 1, kind: 'text', title: '', url: '', message: '', origin: '', version: 1, indexed_version: 0 },
      ...{ content_hash: '', chunks_total: 0, chunks_done: 0, attempts: 2, due_at: 9, leased_until: 9, ...times },
    };
    const states = ['pending', 'indexed', 'indexing', 'failed', 'deleting'];
    await knex(tables.sources).insert(
      states.map((state, index) => ({ ...source, state, identity: String(index), fencing_token: 1 })),
    );
    await update();
    expect(await jobs()).to.deep.equal([
      job('delete-knowledge-base', ['2', '{"base":2}']),
      job('index-source', ['1', '{"source":1}']),
      job('index-source', ['3', '{"source":3}']),
      job('index-source', ['5', '{"source":5}']),
    ]);
    expect(await knex(tables.sources).orderBy('id').pluck('state')).to.deep.equal(states);
  });
});
