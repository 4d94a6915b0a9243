import { expect } from 'chai';
import { createFakeClock } from '#testing';
import { contentMigration, contentTableNames } from '../../../../plugins/svc/modules/content-writer/content-tables.ts';
import { defaultPostSettings } from '../../../../plugins/svc/modules/content-writer/posts/post-settings.ts';
import { builtInTemplates } from '../../../../plugins/svc/modules/content-writer/templates/built-in.ts';
import { pickSettings } from '../../../../plugins/svc/modules/content-writer/templates/template.ts';
import { eraseTexts, exportTexts } from '../../../../plugins/svc/modules/content-writer/runs/personal-data.ts';
import { createRunStore, type RunStore } from '../../../../plugins/svc/modules/content-writer/runs/run-store.ts';
import { sweepRuns } from '../../../../plugins/svc/modules/content-writer/runs/run-store.ts';
import { emptyDraft, emptyInput } from '../../../../plugins/svc/modules/content-writer/write/draft.ts';
import type { Database } from '../../../../host/database/database-contract.ts';
import { describeDialects } from '../../../helpers/dialects.ts';

describeDialects('texts that are kept', (open) => {
  const day = 86_400_000;
  const clock = createFakeClock({ now: Date.UTC(2026, 10, 20) });
  let database: Database;
  let runs: RunStore;
  beforeEach(async () => {
    database = await open({ clock });
    await database.migrate('svc', [contentMigration]);
    runs = createRunStore({ database, clock, jobs: { addMany: async () => 0, cancel: async () => 0 } as never });
  });
  const [article] = builtInTemplates;
  const batch = async (userId: number) =>
    runs.createBatch({
      label: 'x',
      userId,
      inputs: [{ ...emptyInput, topic: 'Tea' }],
      settings: { template: pickSettings(article!), post: defaultPostSettings, read_pages: false, mapping: null },
    });
  const text = (uuid: string, userId: number) =>
    runs.add({
      uuid,
      userId,
      input: { ...emptyInput, topic: 'Coffee' },
      status: 'completed',
      message: '',
      draft: { ...emptyDraft, title: 'T' },
      postId: null,
    });
  const count = async (table: string): Promise<number> =>
    Number(((await database.knex(table).count('* as n').first()) as { n: number | string }).n);

  it('go after their time, but not while they are written', async () => {
    await batch(1);
    const started = await batch(1);
    await runs.startBatch(started.id);
    await text('a', 1);
    clock.jump(3 * day);
    await sweepRuns({ database, clock });
    expect((await runs.batches({ userId: null, limit: 10, offset: 0 })).map(({ id }) => id)).to.deep.equal([
      started.id,
    ]);
    clock.jump(200 * day);
    await sweepRuns({ database, clock });
    expect([await count(contentTableNames.batches), await count(contentTableNames.items)]).to.deep.equal([1, 1]);
    await runs.cancel(started.id);
    clock.jump(200 * day);
    await sweepRuns({ database, clock });
    expect([await count(contentTableNames.batches), await count(contentTableNames.items)]).to.deep.equal([0, 0]);
  });

  it('are in the data of whoever asked for them, and go with them', async () => {
    await batch(1);
    await text('a', 1);
    await text('b', 2);
    const host = { database, users: { find: async () => Promise.resolve({ id: 1 }) } } as never;
    expect((await exportTexts(host, [], { email: 'ada@example.com' })).map(({ type }) => type)).to.deep.equal([
      'content_text',
      'content_text',
    ]);
    expect(await eraseTexts(host, { messages: 1 }, { userId: 1 })).to.deep.equal({ messages: 1, content_texts: 2 });
    expect(await exportTexts(host, [], { sessionId: 'x' })).to.deep.equal([]);
    expect([await count(contentTableNames.batches), await count(contentTableNames.items)]).to.deep.equal([0, 1]);
  });

  it('are added once, and become one post', async () => {
    expect(await text('a', 1)).to.equal(true);
    expect(await text('a', 1)).to.equal(false);
    const taken = await Promise.all([1, 2, 3].map(() => database.transaction(async () => runs.claimForPost('a', 1))));
    expect(taken.filter(Boolean)).to.have.length(1);
    expect(await runs.claimForPost('a', 2)).to.equal(false);
  });
});
