import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formTables } from '../../plugins/svc/modules/ai-forms/forms/form-tables.ts';
import { makeForm, startedPage } from './ai-forms-site.ts';
import { describeWidget } from './widget-site.ts';

const noReceipt = { add: () => undefined };

const mail = [
  { id: 'email', type: 'text', label: 'E-mail' },
  { id: 'topic', type: 'text', label: 'Topic', required: true },
];

describeWidget('what is stored of forms', (site) => {
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await site().host.cli(...args);
    if (code !== 0) throw new Error(err);
    return out;
  };
  const stored = async (): Promise<string[]> =>
    (await site().host.database.knex(formTables.submissions).orderBy('id').pluck('response')) as string[];

  it('is found, filtered and exported by commands', async () => {
    const { id } = await makeForm(site(), { elements: mail, prompt: '{topic}' });
    const page = await startedPage(site(), id);
    await page.submit({ topic: 'Ärger', email: '=cmd()' });
    site().upstream.answer = (turn) => {
      turn.fail(400);
    };
    await page.submit({ topic: 'Lake' });
    const list = JSON.parse(await run('svc', 'form', 'submissions', String(id), '--json')) as {
      status: string;
      number: number | null;
    }[];
    expect(list.map(({ status, number }) => [status, number])).to.deep.equal([
      ['failed', null],
      ['completed', 1],
    ]);
    expect(JSON.parse(await run('svc', 'form', 'submissions', '--search=arger', '--json'))).to.have.length(1);
    expect(JSON.parse(await run('svc', 'form', 'submissions', '--search=you said', '--json'))).to.have.length(1);
    expect(JSON.parse(await run('svc', 'form', 'submissions', '--status=failed', '--json'))).to.have.length(1);
    const lines = (await run('svc', 'form', 'submissions', '--export=jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { inputs: object; response: { text: string } });
    expect(lines.at(-1)).to.deep.include({
      inputs: { email: '=cmd()', topic: 'Ärger' },
      response: { text: 'You said: Ärger' },
    });
    expect(await run('svc', 'form', 'submissions', '--export=csv'))
      .to.contain('E-mail: =cmd()')
      .and.to.contain('You said: Ärger');
  });

  it('names a used-up budget; to visitors, the form is not available', async () => {
    const budget = { id: 'one', name: 'One', unit: 'calls', amount: 1 };
    await run('svc', 'budget', 'set', JSON.stringify(budget));
    const page = await startedPage(
      site(),
      (await makeForm(site(), { limits: { message: 'Come back next month.' } })).id,
    );
    await page.submit({ topic: 'Sea' });
    const { status, body, headers } = await page.submit({ topic: 'Lake' });
    expect([status, body['code'], body['message']]).to.deep.equal([
      502,
      'rest_svc_form_failed',
      'This form is not available right now.',
    ]);
    expect(Number(headers.get('retry-after'))).to.be.greaterThan(60);
    const codes = await site().host.database.knex(formTables.submissions).orderBy('id').pluck('error_code');
    expect(codes).to.deep.equal(['', 'rest_svc_budget_exhausted']);
  });

  it('goes when it is older than its form keeps', async () => {
    const short = await makeForm(site(), { privacy: { retention_days: 2 } });
    const long = await makeForm(site(), {});
    for (const { id } of [short, long]) await (await startedPage(site(), id)).submit({ topic: 'Sea' });
    site().clock.jump(3 * 24 * 3600_000);
    await (await startedPage(site(), short.id)).submit({ topic: 'New' });
    await site().host.cron.run('svc_ai_forms_sweep');
    expect((await stored()).map((text) => text.includes('New'))).to.deep.equal([false, true]);
  });

  it('is exported and erased for a person: by user, by session, by the address that was given', async () => {
    const { id } = await makeForm(site(), { elements: mail, prompt: '{topic}' });
    const { cookie, id: user } = await site().user('ada');
    await (await startedPage(site(), id, { origin: site().host.url, cookie })).submit({ topic: 'Of Ada' });
    const guest = await startedPage(site(), id);
    await guest.submit({ topic: 'Of Eve', email: 'Eve@Example.com' });
    await (await startedPage(site(), id)).submit({ topic: 'Of nobody' });
    const { hooks } = site().host;
    const records = await hooks.applyFiltersAsync(
      'svc_personal_data_export',
      [],
      { email: 'ada@example.com' },
      { userId: user, conversations: [] },
    );
    expect(records.map(({ type, data }) => [type, (data['response'] as { text: string }).text])).to.deep.equal([
      ['form_answer', 'You said: Of Ada'],
    ]);
    expect(
      await hooks.applyFiltersAsync(
        'svc_personal_data_erase',
        {},
        { email: 'eve@example.com' },
        { userId: null, conversations: [] },
        noReceipt,
      ),
    ).to.deep.include({ form_answers: 1 });
    expect(
      await hooks.applyFiltersAsync(
        'svc_personal_data_erase',
        {},
        { userId: user },
        { userId: user, conversations: [] },
        noReceipt,
      ),
    ).to.deep.include({ form_answers: 1 });
    expect(await stored()).to.deep.equal(['You said: Of nobody']);
    const [session] = (await site().host.database.knex(formTables.submissions).pluck('session_id')) as string[];
    expect(
      await hooks.applyFiltersAsync(
        'svc_personal_data_erase',
        {},
        { sessionId: session ?? '' },
        { userId: null, conversations: [] },
        noReceipt,
      ),
    ).to.deep.include({ form_answers: 1 });
  });

  it('goes over to nobody when its user is deleted, and goes with its form', async () => {
    const { id } = await makeForm(site(), {});
    const { cookie, id: user } = await site().user('ada');
    await (await startedPage(site(), id, { origin: site().host.url, cookie })).submit({ topic: 'Sea' });
    await site().host.users.delete(user);
    expect(
      await site()
        .host.database.knex(formTables.submissions)
        .first('user_id', 'session_id')
        .then((row: { user_id: number; session_id: null }) => [Number(row.user_id), row.session_id]),
    ).to.deep.equal([0, null]);
    await run('svc', 'form', 'delete', String(id));
    expect(await stored()).to.deep.equal([]);
  });

  it('says of a response that was cut or filtered that it is not complete', async () => {
    const { id } = await makeForm(site());
    const rows = () => site().host.database.knex(formTables.submissions).orderBy('id');
    const page = await startedPage(site(), id);
    for (const finish of ['length', 'content_filter'] as const) {
      site().upstream.answer = (turn) => {
        turn.piece('Half of');
        turn.end(undefined, finish);
      };
      expect((await page.submit({ topic: 'First' })).body).to.include({ response: 'Half of', finish_reason: finish });
      expect((await page.stream({ topic: 'Second' })).at(-1)).to.include({ type: 'done', finish_reason: finish });
      for (const row of (await rows()).slice(-2)) expect(JSON.parse(row.generation as string).finish).to.equal(finish);
    }
  });

  it('is noted in the ledger with the form’s own reference, at its cost', async () => {
    const { id } = await makeForm(site(), {});
    const { body } = await (await startedPage(site(), id)).submit({ topic: 'Sea' });
    const noted = () =>
      site()
        .host.database.knex('svc_usage')
        .where('module', 'ai-forms')
        .whereLike('reference', `form:${String(id)}:%`);
    // What it cost is counted after the response.
    let rows = await noted();
    while (rows.length === 0) {
      await site().clock.advance(1_000);
      rows = await noted();
    }
    expect(
      rows.map(({ reference, outcome }: { reference: string; outcome: string }) => [reference, outcome]),
    ).to.deep.equal([[`form:${String(id)}:${body.submission_id}`, 'ok']]);
  });
});

describeWidget('senders of forms', (site) => {
  it('show session and nonce as headers, which are checked before a large body is read', async () => {
    const { id } = await makeForm(site());
    const { token, headers: page } = await startedPage(site(), id);
    const html = await site().host.content.doShortcode(`[svc_form id=${String(id)}]`);
    const nonce = /name="nonce" value="([\w-]{22})"/.exec(html)?.[1] ?? '';
    const send = async (headers: Readonly<Record<string, string>>, body: string): Promise<number> => {
      const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
      return (await site().host.fetch(`/wp-json/svc-widget/v1/forms/${String(id)}/submit`, init)).status;
    };
    const body = JSON.stringify({ submission_id: randomUUID(), values: { topic: 'Sea' } });
    const large = '{'.repeat(20_000);
    const own = { origin: site().host.url };
    for (const [right, wrong] of [
      [
        { ...page, 'x-svc-session': token },
        { ...page, 'x-svc-session': `${token}a` },
      ],
      [
        { ...own, 'x-svc-nonce': nonce },
        { ...own, 'x-svc-nonce': 'A'.repeat(22) },
      ],
    ] as const)
      expect([
        await send(right, body),
        await send(wrong, body),
        await send(right, large),
        await send(wrong, large),
      ]).to.deep.equal([200, 403, 400, 403]);
  });
});
