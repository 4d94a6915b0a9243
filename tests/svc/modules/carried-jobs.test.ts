import { expect } from 'chai';
import type { Migration } from '#plugin-api';
import { migrations as jobMigrations } from '../../../host/jobs/jobs.ts';
import {
  contentJobsMigration,
  contentMigration,
  contentTableNames,
} from '../../../plugins/svc/modules/content-writer/content-tables.ts';
import {
  automationJobsMigration,
  automationsMigration,
  taskTables,
} from '../../../plugins/svc/modules/automations/tables.ts';
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

  it('becomes jobs: texts of batches, in the order of their positions', async () => {
    const { knex, update, jobs } = await openEarlier([contentMigration, contentJobsMigration], '0211');
    const { items } = contentTableNames;
    const text = { user_id: 1, topic: '', input: '{}', draft: '{}', due_at: 0, created_at: 1, updated_at: 1 };
    const texts = [
      { batch_id: 1, status: 'waiting', position: 0 },
      { batch_id: 2, status: 'pending', position: 5, attempts: 1 },
      { batch_id: 2, status: 'processing', position: 2_000, attempts: 2 },
      { batch_id: null, status: 'pending', position: 0 },
      { batch_id: 2, status: 'completed', position: 6 },
    ];
    await knex(items).insert(
      texts.map((changes, index) => ({ ...text, ...changes, attempts: changes.attempts ?? 0, uuid: String(index) })),
    );
    await update();
    expect(await jobs()).to.deep.equal([
      job('write-text', ['2', '{"item":2}'], { priority: 5, attempts: 1 }),
      job('write-text', ['3', '{"item":3}'], { priority: 1_000, attempts: 2 }),
    ]);
    expect(await knex(items).orderBy('id').pluck('status')).to.deep.equal(texts.map(({ status }) => status));
  });

  it('becomes jobs: items of active tasks, with the attempts that count', async () => {
    const { knex, update, jobs } = await openEarlier([automationsMigration, automationJobsMigration], '0212');
    const task = {
      ...{ name: 't', type: 'x', settings: '{}', source: '{}', schedule: '', author_id: 0, limit_run: 0, limit_day: 0 },
      ...{ attempts: 3, created_at: 1, updated_at: 1 },
    };
    await knex(taskTables.tasks).insert(['active', 'paused'].map((status) => ({ ...task, status })));
    const item = {
      run_id: 1,
      target: '',
      input: '{}',
      message: '',
      created_at: 1,
      token: 1,
      attempts: 0,
      tries_from: 0,
    };
    const items = [
      { task_id: 1, state: 'pending', due_at: 0 },
      { task_id: 1, state: 'completed', due_at: null },
      { task_id: 1, state: 'processing', due_at: 5, attempts: 5, tries_from: 3 },
      { task_id: 2, state: 'pending', due_at: 0 },
    ];
    for (const [index, changes] of items.entries())
      await knex(taskTables.items).insert({ ...item, identity: String(index), ...changes });
    await update();
    expect(await jobs()).to.deep.equal([
      job('automation-item', ['1', '{"task":1,"item":1}'], { priority: 0 }),
      job('automation-item', ['3', '{"task":1,"item":3}'], { priority: 1, attempts: 2 }),
    ]);
    expect(await knex(taskTables.items).orderBy('id').pluck('state')).to.deep.equal(items.map(({ state }) => state));
  });
});
