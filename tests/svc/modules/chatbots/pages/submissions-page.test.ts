import { expect } from 'chai';
import { createSystemClock } from '../../../../../host/clock.ts';
import { createSubmissionStore } from '../../../../../plugins/svc/modules/chatbots/forms/submission-store.ts';
import type { Submission, SubmissionStore } from '../../../../../plugins/svc/modules/chatbots/forms/submission.ts';
import { describeDialects } from '../../../../helpers/dialects.ts';
import { createTestHost, type TestHost } from '#testing';

const password = 'correct horse battery';

function submission(id: string, init: Partial<Submission> = {}): Submission {
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

describeDialects('the page of form submissions', (open, { location }) => {
  let host: TestHost;
  let store: SubmissionStore;
  let cookie = '';

  beforeEach(async () => {
    const { databaseUrl, dataDir } = location();
    host = await createTestHost({ plugins: ['svc'], database: databaseUrl ?? dataDir, clock: createSystemClock() });
    await host.users.create({ login: 'ada', email: 'ada@example.com', password, role: 'administrator' });
    const answer = await host.fetch('/admin/login', {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ login: 'ada', password }),
    });
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    store = createSubmissionStore({ host: { database: await open() } });
  });
  afterEach(() => host.stop());

  const page = async (query = ''): Promise<string> =>
    (await host.fetch(`/admin/svc/submissions${query}`, { headers: { cookie } })).text();
  async function post(action: string, fields: Readonly<Record<string, string>>): Promise<Response> {
    const nonce = /name="_nonce" value="([^"]+)"/.exec((await page()).split('<main')[1] ?? '')?.[1] ?? '';
    return host.fetch(`/admin/svc/submissions?action=${action}`, {
      method: 'POST',
      headers: { cookie },
      body: new URLSearchParams({ _nonce: nonce, ...fields }),
      redirect: 'manual',
    });
  }

  it('says how to get submissions while the list is empty', async () => {
    expect(await page())
      .to.contain('No submissions yet')
      .and.contain('Add a form to a chatbot');
  });

  it('shows values with their labels, escaped, newest first, and searches in them', async () => {
    await store.add(submission('u-1'));
    await store.add(
      submission('u-2', { display_values: { name: 'Zoë', email: 'zoe@example.com' }, pageUrl: 'javascript:alert(1)' }),
    );
    const html = await page();
    expect(html)
      .to.contain('2 submissions')
      .and.contain('Ada &lt;script&gt;')
      .and.contain('(deleted chatbot)')
      .and.not.contain('javascript:alert');
    expect(html.indexOf('zoe@example.com')).to.be.lessThan(html.indexOf('ada@example.com · Call me back'));
    expect(await page('?search=ZOE'))
      .to.contain('1 submission<')
      .and.not.contain('Ada &lt;');
    expect(await page('?bot=12')).to.contain('No matches');
    expect(await page('?bot=x&page=-4&form=')).to.contain('2 submissions');
  });

  it('shows the first line of the message without opening the row', async () => {
    await store.add(
      submission('u-1', {
        display_values: { email: 'ada@example.com', topic: 'Order', message: 'Where is <it>?\nOrder 12.' },
        labels: { email: 'E-mail', topic: 'Topic', message: 'Message' },
      }),
    );
    expect(await page()).to.match(/<summary>[^<]*<span\s+class="accordion-note[^>]*>Where is &lt;it&gt;\? …<\/span>/);
  });

  it('pages through many submissions', async () => {
    for (let number = 0; number < 23; number += 1) await store.add(submission(`u-${number}`));
    expect(await page())
      .to.contain('Page 1 of 2')
      .and.contain('?page&#x3D;2');
    expect((await page('?page=2')).match(/value="delete"|action=delete|action&#x3D;delete/g)).to.have.length(3);
    expect(await page('?page=99')).to.contain('Page 2 of 2');
  });

  it('exports filtered submissions as safe CSV and as JSON lines', async () => {
    await store.add(
      submission('u-1', {
        display_values: { name: '=1+1', email: 'ada@example.com', first_name: '=1+1' },
        summary: 'Name: =1+1\nE-mail: ada@example.com',
      }),
    );
    await store.add(submission('u-2', { formId: 'other' }));
    const csv = await post('export', { format: 'csv', form: 'contact' });
    expect(csv.headers.get('content-disposition')).to.contain('submissions.csv');
    const text = await csv.text();
    expect(text).to.contain("'=1+1").and.contain('"Name: =1+1\nE-mail: ada@example.com"').and.not.contain('u-2');
    const lines = (await (await post('export', { format: 'jsonl' })).text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; actor: unknown; inputs: unknown });
    expect(lines.map(({ id }) => id)).to.deep.equal(['u-2', 'u-1']);
    expect(lines[1]).to.deep.include({ actor: { type: 'guest' }, inputs: { name: 'Ada', email: 'ada@example.com' } });
  });

  it('deletes one, once', async () => {
    await store.add(submission('u-1'));
    await store.add(submission('u-2'));
    expect((await post('delete', { id: 'u-1' })).status).to.equal(303);
    expect(await store.find('u-1')).to.equal(null);
    await post('delete', { id: 'u-1' });
    expect(await store.count({})).to.equal(1);
  });
});
