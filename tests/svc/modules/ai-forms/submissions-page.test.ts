import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formTables } from '../../../../plugins/svc/modules/ai-forms/forms/form-tables.ts';
import { createSubmissionStore } from '../../../../plugins/svc/modules/ai-forms/submissions/submission-store.ts';
import { describeBotsAdmin } from '../chatbots/pages/bots-admin.ts';

const page = '/admin/svc/ai-forms/submissions';

describeBotsAdmin('the submissions of AI forms', (admin) => {
  const submissions = () => createSubmissionStore({ host: admin().host });

  async function add(formId: number, topic: string): Promise<string> {
    const id = randomUUID();
    await submissions().claim({
      id,
      formId,
      formName: 'Tea',
      userId: 0,
      sessionId: '',
      pageUrl: '',
      createdAt: 1_000,
      keep: true,
      inputs: { topic },
      display_values: { topic },
      labels: { topic: 'Topic' },
    });
    return id;
  }

  const titles = async (query = ''): Promise<(string | undefined)[]> =>
    [...(await admin().browser.get(`${page}${query}`)).html.matchAll(/aria-label="Select ([^"]+)"/g)].map(
      ([, title]) => title,
    );

  it('are new until they are opened, which the list of forms counts', async () => {
    const { browser } = admin();
    await browser.submit('/admin/svc/ai-forms', 'create', { starter: 'blank' });
    const [{ id: form } = { id: 0 }] = JSON.parse((await admin().host.cli('svc', 'form', 'list', '--json')).out) as {
      id: number;
    }[];
    const [first] = [await add(form, 'Lake'), await add(form, 'Sea')];
    expect((await browser.get('/admin/svc/ai-forms')).html).to.match(/href="[^"]+state(?:=|&#x3D;)new"[^>]*>2 new</);
    expect((await browser.get(page)).text).to.match(/All \(2\) New \(2\) Read \(0\) Archived \(0\)/);
    const opened = await browser.get(`/admin/svc/ai-forms/submission?id=${first}`);
    expect(opened.html)
      .to.match(/<h1[^>]*>Tea · Lake</)
      .and.contain('Mark as unread');
    expect(await titles('?state=new')).to.deep.equal(['Tea · Sea']);
    expect(await titles('?state=read&search=lake')).to.deep.equal(['Tea · Lake']);
    expect((await browser.get(`/admin/svc/ai-forms/submission?id=${randomUUID()}`)).status).to.equal(404);
  });

  it('are marked, archived and deleted, one or several, and stay in the shown list', async () => {
    const { browser } = admin();
    const [first, second, third] = [await add(7, 'One'), await add(7, 'Two'), await add(8, 'Three')];
    const back = 'form=7&state=new';
    const archived = await browser.submit(page, 'bulk', { do: 'archived', ids: `${first},${third}`, back });
    expect(archived.text).to.contain('2 submissions archived.');
    expect(archived.html).to.match(/name="state" value="new"/);
    expect(await titles('?state=archived&form=7')).to.deep.equal(['Tea · One']);
    expect((await browser.submit(page, 'mark', { id: first, state: 'new' })).text).to.contain(
      '1 submission marked as unread.',
    );
    expect((await browser.submit(page, 'bulk', { do: 'read', ids: second })).text).to.contain('marked as read.');
    expect((await browser.submit(page, 'bulk', { do: 'shred', ids: second })).text).to.contain('Select entries');
    expect((await browser.submit(page, 'mark', { id: first, state: 'lost' })).text).to.contain('Select entries');
    const { out } = await admin().host.cli('svc', 'form', 'submissions', '--read_state=archived', '--json');
    expect((JSON.parse(out) as { id: string; read_state: string }[]).map(({ id, read_state }) => [id, read_state])) //
      .to.deep.equal([[third, 'archived']]);
    expect((await browser.submit(page, 'bulk', { do: 'delete', ids: `${first},${second}` })).text).to.contain(
      '2 submissions deleted.',
    );
    expect((await browser.submit(page, 'delete', { id: first })).text).to.contain('no longer exist');
    expect(await titles()).to.deep.equal(['Tea · Three']);
    for (const form of ['99999999999', '-1', 'x']) expect(await titles(`?form=${form}`), form).to.have.length(1);
  });

  it('export their state', async () => {
    await add(7, 'One');
    const csv = await admin().host.cli('svc', 'form', 'submissions', '--export=csv');
    expect(csv.out.split('\n')[0]).to.match(/,"read_state"\s*$/);
    expect(csv.out.trim()).to.match(/,"new"$/);
  });

  it('count as read if they are older than their state', async () => {
    const id = await add(7, 'Old');
    const { knex } = admin().host.database;
    const {
      id: _id,
      read_state: _state,
      ...row
    } = (await knex(formTables.submissions).first()) as Record<string, unknown>;
    await knex(formTables.submissions).delete();
    await knex(formTables.submissions).insert(row);
    expect((await submissions().find(id))?.readState).to.equal('read');
  });

  it('begin again as new when a failed one is repeated', async () => {
    const id = await add(7, 'One');
    await submissions().fail(id, { error: 'No.', code: 'no' });
    await submissions().mark([id], 'archived');
    const [found] = [(await submissions().find(id))!];
    await submissions().claim({ ...found, sessionId: '', keep: true });
    expect((await submissions().find(id))?.readState).to.equal('new');
  });
});
