import { expect } from 'chai';
import type { Migration } from '#plugin-api';
import { migrations as jobMigrations } from '../../../host/jobs/jobs.ts';
import { formMigrations } from '../../../plugins/svc/modules/ai-forms/forms/form-tables.ts';
import { widgetMigrations } from '../../../plugins/svc/modules/chatbots/widget/widget-tables.ts';
import { imageMigrations } from '../../../plugins/svc/modules/images/image-tables.ts';
import { describeDialects } from '../../helpers/dialects.ts';

const reserved = { scope: 1, subjects: ['s:one'], unit: 'messages', per: 'day', startsAt: 5, amount: 1 };
const common = { user_id: 0, created_at: 1 };

describeDialects('work in progress of an earlier version', (open) => {
  /** Migrates up to an id, stores rows as that version did, then migrates the rest. */
  async function upgrade(
    migrations: readonly Migration[],
    before: string,
    tables: Readonly<Record<string, readonly object[]>>,
  ): Promise<unknown[]> {
    const database = await open();
    await database.migrate('host', jobMigrations);
    await database.migrate(
      'svc',
      migrations.filter(({ id }) => id < before),
    );
    for (const [table, rows] of Object.entries(tables)) await database.knex(table).insert(rows);
    await database.migrate('svc', migrations);
    const jobs = (await database.knex('jobs').where({ owner: 'svc' }).orderBy(['name', 'id'])) as Record<
      string,
      unknown
    >[];
    return jobs.map(({ name, job_key, args, state, due_at, attempts }) => [
      name,
      job_key,
      JSON.parse(args as string),
      state,
      Number(due_at),
      attempts,
    ]);
  }

  it('of images and videos is handed over', async () => {
    const request = { ...common, prompt: 'A boat', n: 1, reserved: 'null', message: '' };
    const video = { ...common, request: '{}', message: '' };
    const jobs = await upgrade(imageMigrations, '0210', {
      svc_image_requests: [
        { ...request, id: 'one', state: 'drawing', lease_until: 1_700_000_000_001 },
        { ...request, id: 'two', state: 'done', lease_until: 7 },
      ],
      svc_video_jobs: [
        { ...video, id: 'film', state: 'running', lease_until: 1_700_000_000_002 },
        { ...video, id: 'old', state: 'failed', lease_until: 0 },
      ],
    });
    expect(jobs).to.deep.equal([
      ['video', 'film', { id: 'film' }, 'waiting', 1_700_000_000_002, 0],
      ['visitor-image', 'one', { id: 'one', provider: '', model: '', size: '' }, 'running', 1_700_000_000_001, 1],
    ]);
  });

  it('of form submissions is handed over with what it reserved', async () => {
    const texts = ['page_url', 'answers', 'response', 'generation', 'error', 'error_code', 'search_text'];
    const submission = {
      ...common,
      ...Object.fromEntries(texts.map((name) => [name, ''])),
      ...{ form_id: 1, form_name: 'Form', attempt: 1 },
    };
    const jobs = await upgrade(formMigrations, '0212', {
      svc_ai_form_submissions: [
        { ...submission, uuid: 'one', status: 'running', lease_until: 8, reserved: JSON.stringify(reserved) },
        { ...submission, uuid: 'two', status: 'completed', lease_until: 8, reserved: '' },
      ],
    });
    expect(jobs).to.deep.equal([['form-submission', 'one', { id: 'one', reserved }, 'running', 8, 1]]);
  });

  it('of chat turns is handed over with what it reserved', async () => {
    const jobs = await upgrade(widgetMigrations, '0213', {
      svc_widget_turns: [
        { conversation: 'c', message_id: 'm', token: 't', until: 9, stopped: 0, reserved: JSON.stringify(reserved) },
      ],
    });
    expect(jobs).to.deep.equal([['chat-turn', 'c', { messageId: 'm', reservation: reserved }, 'running', 9, 1]]);
  });
});
