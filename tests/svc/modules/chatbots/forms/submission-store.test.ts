import { expect } from 'chai';
import { createSubmissionStore } from '../../../../../plugins/svc/modules/chatbots/forms/submission-store.ts';
import {
  submissionMigrations,
  submissionsTable,
} from '../../../../../plugins/svc/modules/chatbots/forms/submission-tables.ts';
import type { Submission, SubmissionStore } from '../../../../../plugins/svc/modules/chatbots/forms/submission.ts';
import { describeDialects } from '../../../../helpers/dialects.ts';

function submission(id: string, init: Partial<Submission> = {}): Submission {
  return {
    id,
    botId: 1,
    formId: 'contact',
    formName: 'Contact',
    conversation: 'c-1',
    userId: 0,
    sessionId: 's-1',
    pageUrl: 'https://shop.example.com/',
    createdAt: 1_700_000_000_123,
    inputs: { name: 'Ada', email: 'Ada@Example.com', basket: ['a'], terms: true, amount: 3 },
    display_values: { name: 'Ada', email: 'Ada@Example.com', basket: 'Äpfel 100%', terms: 'Yes', amount: '3' },
    labels: { name: 'Name' },
    summary: 'Name: Ada',
    readState: 'new',
    ...init,
  };
}

describeDialects('submissions of forms', (open) => {
  let store: SubmissionStore;
  let database: Awaited<ReturnType<typeof open>>;

  beforeEach(async () => {
    database = await open();
    await database.migrate('svc', submissionMigrations);
    store = createSubmissionStore({ host: { database } });
  });

  it('are stored unchanged, and once per id', async () => {
    expect(await store.add(submission('u-1'))).to.equal(true);
    expect(await store.add(submission('u-1', { summary: 'changed' }))).to.equal(false);
    expect(await store.find('u-1')).to.deep.equal(submission('u-1'));
    expect(await store.find('u-2')).to.equal(null);
    const added = await Promise.all(Array.from({ length: 8 }, () => store.add(submission('u-3'))));
    expect(added.filter(Boolean)).to.have.length(1);
  });

  it('are read without answers where a row has none', async () => {
    await store.add(submission('u-1'));
    await database.knex(submissionsTable).update({ answers: '{}' });
    expect(await store.list({}, { limit: 5, offset: 0 })).to.deep.equal([
      submission('u-1', { inputs: {}, display_values: {}, labels: {}, summary: '' }),
    ]);
  });

  it('are stored with a text in place of an email address that is longer than addresses are', async () => {
    const long = submission('u-1', { inputs: { email: `${'x'.repeat(500)}@example.com` } });
    expect(await store.add(long)).to.equal(true);
    expect(await store.find('u-1')).to.deep.equal(long);
  });

  it('are listed newest first by bot, form and part of a value', async () => {
    await store.add(submission('u-1'));
    await store.add(submission('u-2', { botId: 2 }));
    await store.add(submission('u-3', { formId: 'other', display_values: { name: 'Zoë 50_50' } }));
    const ids = async (filter: Parameters<SubmissionStore['list']>[0]): Promise<string[]> =>
      (await store.list(filter, { limit: 10, offset: 0 })).map(({ id }) => id);
    expect(await ids({})).to.deep.equal(['u-3', 'u-2', 'u-1']);
    expect(await ids({ botId: 1 })).to.deep.equal(['u-3', 'u-1']);
    expect(await ids({ formId: 'other' })).to.deep.equal(['u-3']);
    expect(await ids({ search: 'ZOE' })).to.deep.equal(['u-3']);
    expect(await ids({ search: 'apfel 100%' })).to.deep.equal(['u-2', 'u-1']);
    expect(await ids({ search: '0_5' })).to.deep.equal(['u-3']);
    expect(await ids({ search: 'a_a' })).to.deep.equal([]);
    expect(await store.count({ search: 'apfel' })).to.equal(2);
    expect((await store.list({}, { limit: 1, offset: 1 })).map(({ id }) => id)).to.deep.equal(['u-2']);
  });

  it('are read completely in batches', async () => {
    const total = 1003;
    const database = await open();
    await database.transaction(async (transaction) => {
      for (let index = 0; index < total; index += 1) await store.add(submission(`u-${index}`), transaction);
    });
    const seen: string[] = [];
    for await (const { id } of store.all({})) seen.push(id);
    expect(seen).to.deep.equal(Array.from({ length: total }, (_, index) => `u-${total - 1 - index}`));
  });

  it('of a person are found and deleted by user, session or email address', async () => {
    await store.add(submission('u-1', { userId: 7, sessionId: null, inputs: { name: 'x' } }));
    await store.add(submission('u-2', { sessionId: 's-2' }));
    await store.add(submission('u-3', { sessionId: 's-3', conversation: 'c-3', inputs: { email: 'bob@example.com' } }));
    expect((await store.listByPerson({ email: ' ADA@example.com' })).map(({ id }) => id)).to.deep.equal(['u-2']);
    expect(await store.deleteByPerson({ userId: 7 })).to.equal(1);
    expect(await store.deleteByPerson({ sessionId: 's-2' })).to.equal(1);
    expect(await store.deleteByConversations(['c-3', 'c-4'])).to.equal(1);
    expect(await store.count({})).to.equal(0);
    expect(await store.delete(['u-1'])).to.equal(0);
  });

  it('that are older than their state count as read', async () => {
    const { knex } = await open();
    await store.add(submission('u-1'));
    const { read_state: _state, ...row } = (await knex(submissionsTable).first()) as Record<string, unknown>;
    await knex(submissionsTable).delete();
    await knex(submissionsTable).insert(row);
    expect((await store.find('u-1'))?.readState).to.equal('read');
  });

  it('are rolled back with their transaction', async () => {
    const database = await open();
    await database
      .transaction(async (transaction) => {
        await store.add(submission('u-1'), transaction);
        throw new Error('undo');
      })
      .catch(() => undefined);
    expect(await store.count({})).to.equal(0);
  });
});
