import { expect } from 'chai';
import { createSubmissionStore } from '../../../../../plugins/svc/modules/chatbots/forms/submission-store.ts';
import type { NewSubmission } from '../../../../../plugins/svc/modules/chatbots/forms/submission.ts';
import { describeBotsAdmin } from './bots-admin.ts';

const page = '/admin/svc/submissions';

function submission(id: string, init: Partial<NewSubmission> = {}): NewSubmission {
  return {
    id,
    botId: 9,
    formId: 'contact',
    formName: 'Call me back',
    conversation: 'c-1',
    userId: 0,
    sessionId: 's-1',
    pageUrl: 'https://shop.example.com/',
    createdAt: Date.UTC(2026, 10, 20, 12),
    inputs: { name: 'Ada', email: 'ada@example.com' },
    display_values: { name: 'Ada <script>', email: 'ada@example.com' },
    labels: { name: 'Name', email: 'E-mail' },
    summary: 'Name: Ada\nE-mail: ada@example.com',
    ...init,
  };
}

describeBotsAdmin('the submissions of chatbots', (admin) => {
  const store = () => createSubmissionStore({ host: admin().host });
  const add = (id: string, init?: Partial<NewSubmission>) => store().add(submission(id, init));
  const get = (query = '') => admin().browser.get(`${page}${query}`);
  const titles = async (query = ''): Promise<(string | undefined)[]> =>
    [...(await get(query)).html.matchAll(/aria-label="Select ([^"]+)"/g)].map(([, title]) => title);

  it('say how to get them while there are none', async () => {
    expect((await get()).text)
      .to.contain('No submissions yet')
      .and.contain('Add a form to a chatbot');
  });

  it('are listed newest first by who sent them and what they say, escaped, and are searched', async () => {
    await add('u-1');
    await add('u-2', { display_values: { email: 'zoe@example.com', message: 'Where is <it>?\nOrder 12.' } });
    await add('u-3', { display_values: {}, inputs: {} });
    expect(await titles()).to.deep.equal([
      'Guest',
      'zoe@example.com · Where is &lt;it&gt;? …',
      'ada@example.com · Ada &lt;script&gt;',
    ]);
    expect((await get()).text).to.contain('(deleted chatbot)');
    expect(await titles('?search=ZOE')).to.have.length(1);
    expect((await get('?bot=12')).text).to.contain('No matching submissions');
    expect(await titles('?bot=x&page=-4&form=')).to.have.length(3);
    expect((await get('?form=contact')).text).to.contain('Form: contact');
  });

  it('are new until they are opened, which the list of chatbots counts', async () => {
    const bot = await admin().add();
    await add('u-1', { botId: bot.id });
    await add('u-2', { botId: bot.id, pageUrl: 'javascript:alert(1)' });
    const count = new RegExp(`href="[^"]+bot(?:=|&#x3D;)${String(bot.id)}[^"]+new"[^>]*>2 new submissions<`);
    expect((await admin().browser.get('/admin/svc/bots')).html).to.match(count);
    const opened = await admin().browser.get('/admin/svc/submission?id=u-1');
    expect(opened.html)
      .to.match(/<dt>E-mail<\/dt>\s*<dd[^>]*>ada@example\.com</)
      .and.match(/href="[^"]+conversation(?:=|&#x3D;)c-1"/)
      .and.contain('https://shop.example.com/')
      .and.contain('Mark as unread');
    expect((await admin().browser.get('/admin/svc/submission?id=u-2')).html).to.not.contain('javascript:alert');
    expect((await admin().browser.get('/admin/svc/submission?id=u-4')).status).to.equal(404);
    expect((await get('?state=read')).text).to.match(/All \(2\) New \(0\) Read \(2\) Archived \(0\)/);
  });

  it('are archived and deleted, one or several, also those of a bot alone in the list shown', async () => {
    const { browser } = admin();
    for (const id of ['u-1', 'u-2', 'u-3']) await add(id);
    const archived = await browser.submit(page, 'bulk', { do: 'archived', ids: 'u-1,u-2', back: 'bot=9&state=new' });
    expect(archived.text).to.contain('2 submissions archived.').and.contain('New (1)');
    expect(archived.html).to.match(/name="bot" value="9"/);
    expect((await browser.submit(page, 'mark', { id: 'u-1', state: 'new' })).text).to.contain('marked as unread.');
    expect((await browser.submit(page, 'bulk', { do: 'delete', ids: 'u-1,u-2' })).text).to.contain(
      '2 submissions deleted.',
    );
    expect((await browser.submit(page, 'delete', { id: 'u-1' })).text).to.contain('no longer exist');
    expect((await store().find('u-3'))?.readState).to.equal('new');
    expect(await store().count({})).to.equal(1);
  });

  it('are paged', async () => {
    for (let number = 0; number < 23; number += 1) await add(`u-${String(number)}`);
    expect((await get()).text).to.contain('Page 1 of 2');
    expect(await titles('?page=2')).to.have.length(3);
    expect((await get('?page=99')).text).to.contain('Page 2 of 2');
  });

  it('are exported as filtered: safe CSV, or JSON lines', async () => {
    await add('u-1', {
      display_values: { name: '=1+1', email: 'ada@example.com', first_name: '=1+1' },
      summary: 'Name: =1+1\nE-mail: ada@example.com',
    });
    await add('u-2', { formId: 'other' });
    const csv = await admin().browser.submit(page, 'export', { format: 'csv', form: 'contact' });
    expect(csv.html)
      .to.contain("'=1+1")
      .and.contain('"Name: =1+1\nE-mail: ada@example.com","new"')
      .and.not.contain('u-2');
    const lines = (await admin().browser.submit(page, 'export', { format: 'jsonl' })).html
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ id }) => id)).to.deep.equal(['u-2', 'u-1']);
    expect(lines[1]).to.deep.include({
      read_state: 'new',
      actor: { type: 'guest' },
      inputs: { name: 'Ada', email: 'ada@example.com' },
    });
  });

  it('are printed by the command line, by chatbot, form and state', async () => {
    const bot = await admin().add();
    await add('u-1', { botId: bot.id });
    await add('u-2', { botId: bot.id, formId: 'other' });
    await add('u-3');
    await store().mark(['u-2'], 'archived');
    const print = async (...argv: string[]) => {
      const { code, out, err } = await admin().host.cli('svc', 'bot', 'submissions', ...argv);
      return code === 0 ? out : err;
    };
    const ids = async (...argv: string[]) =>
      (JSON.parse(await print(...argv, '--json')) as { id: string }[]).map(({ id }) => id);
    expect(await ids()).to.deep.equal(['u-3', 'u-2', 'u-1']);
    expect(await ids(String(bot.id), '--form=contact')).to.deep.equal(['u-1']);
    expect(await ids('--read_state=archived')).to.deep.equal(['u-2']);
    expect((await print('--export=csv', '--search=ada')).split('\n')[0]).to.match(/,"summary","read_state"\s*$/);
    expect(await print('999')).to.contain('Chatbot 999 does not exist');
  });
});
