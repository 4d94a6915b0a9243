import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { expect } from 'chai';
import { formTables } from '../../plugins/svc/modules/ai-forms/forms/form-tables.ts';
import { insertJobs } from '../../plugins/svc/kit/migrations.ts';
import { fields, makeForm, pageOf, startedPage } from './ai-forms-site.ts';
import { describeWidget } from './widget-site.ts';

describeWidget('forms that a model answers', (site) => {
  const rows = () => site().host.database.knex(formTables.submissions).orderBy('id');

  it('are answered as a whole or as the answer is made, and stored', async () => {
    const { id } = await makeForm(site(), { instructions: 'You write for [username].' });
    const page = await startedPage(site(), id);
    const { status, body } = await page.submit({
      topic: 'The {tone} sea',
      tone: 'f',
      extras: ['a', 'b'],
      words: '120',
    });
    expect(status).to.equal(200);
    const asked = 'Topic: The {tone} sea; tone: Friendly; extras: Alpha, Beta; words: 120; source:';
    expect(body.response).to.equal(`You said: ${asked}`);
    expect(site().upstream.calls[0]?.messages).to.deep.equal([
      { role: 'system', content: 'You write for Guest.' },
      { role: 'user', content: asked },
    ]);
    const events = await page.stream({ topic: 'Second' });
    expect(
      events
        .filter(({ type }) => type === 'delta')
        .map(({ text }) => text)
        .join(''),
    ).to.equal('You said: Topic: Second; tone: ; extras: ; words: ; source:');
    expect(events.at(-1)).to.deep.include({
      type: 'done',
      response: 'You said: Topic: Second; tone: ; extras: ; words: ; source:',
      sources: [],
    });
    const [first, second] = await rows();
    expect(first).to.deep.include({
      uuid: body.submission_id,
      status: 'completed',
      form_id: id,
      response: body.response,
    });
    expect([Number(first.number), Number(second.number)]).to.deep.equal([1, 2]);
    expect(JSON.parse(first.answers as string).inputs).to.deep.equal({
      topic: 'The {tone} sea',
      tone: 'f',
      extras: ['a', 'b'],
      words: 120,
      source: null,
    });
  });

  it('take files as text, and keep nothing of them but their name', async () => {
    const { id } = await makeForm(site());
    const page = await startedPage(site(), id);
    const body = new FormData();
    for (const [name, value] of [
      ['token', page.token],
      ['submission_id', randomUUID()],
      ['values[topic]', 'Sea'],
      ['values[extras][]', 'a'],
      ['values[extras][]', 'b'],
    ] as const)
      body.append(name, value);
    body.append('values[source]', new Blob(['# Facts\n\nSalt is salty.']), 'facts.md');
    const response = await site().host.fetch(`/wp-json/svc-widget/v1/forms/${String(id)}/submit`, {
      method: 'POST',
      headers: { ...page.headers, accept: 'application/json' },
      body,
    });
    expect(response.status).to.equal(200);
    expect(site().upstream.calls[0]?.messages.at(-1)?.content).to.equal(
      'Topic: Sea; tone: ; extras: Alpha, Beta; words: ; source: # Facts\n\nSalt is salty.',
    );
    const [row] = await rows();
    expect(JSON.parse(row.answers as string).inputs.source).to.deep.equal({ name: 'facts.md', size: 23 });
    expect(row.answers).not.to.contain('salty');
  });

  it('refuse what does not fit, with a sentence for each field, before anything is asked or stored', async () => {
    const { id } = await makeForm(site(), { consent: { required: true, text: 'I agree.' } });
    const page = await startedPage(site(), id);
    const refused = await page.submit({ topic: 'x'.repeat(41), tone: 'z', extras: ['c'], words: 5 }, { consent: true });
    expect(refused.status).to.equal(400);
    expect(refused.body.data['params']).to.deep.equal({
      topic: 'Topic must have at most 40 characters, not 41.',
      tone: 'Tone must be one of: Friendly, Strict.',
      extras: 'Extras allows only: Alpha, Beta.',
      words: 'Words must be 10 or more.',
    });
    expect((await page.submit({ topic: 'Sea' })).body.data['params']).to.deep.equal({
      'svc:consent': 'Tick the box to continue.',
    });
    expect((await page.submit({}, { consent: true })).body.data['params']).to.deep.equal({
      topic: 'Topic is required.',
    });
    for (const [name, content, sentence] of [
      ['a.exe', 'x', /\.txt, \.md or \.pdf/],
      ['big.txt', 'x'.repeat(110_000), /larger than 0\.1 MB/],
      ['fake.pdf', 'no pdf', /not a PDF/],
    ] as const) {
      const body = new FormData();
      body.append('token', page.token);
      body.append('submission_id', randomUUID());
      body.append('consent', '1');
      body.append('values[topic]', 'Sea');
      body.append('values[source]', new Blob([content]), name);
      const response = await site().host.fetch(`/wp-json/svc-widget/v1/forms/${String(id)}/submit`, {
        method: 'POST',
        headers: { ...page.headers, accept: 'application/json' },
        body,
      });
      expect(((await response.json()) as { data: { params: { source: string } } }).data.params.source, name).to.match(
        sentence,
      );
    }
    expect(site().upstream.calls).to.have.length(0);
    expect(await rows()).to.have.length(0);
  });

  it('count a submission once however often it is sent, and try a failed one anew', async () => {
    const { id } = await makeForm(site());
    const page = await startedPage(site(), id);
    const submission_id = randomUUID();
    site().upstream.answer = (turn) => {
      turn.fail(400);
    };
    const failed = await page.submit({ topic: 'Sea' }, { submission_id });
    expect(failed.body).to.deep.include({
      code: 'rest_svc_form_failed',
      message: 'This form is not available right now.',
    });
    expect((await rows())[0]).to.deep.include({ status: 'failed', error_code: 'rest_svc_provider_rejected' });
    site().upstream.answer = (turn) => {
      turn.piece('Yes');
      turn.end();
    };
    const before = site().upstream.calls.length;
    const answers = [
      await page.submit({ topic: 'Sea' }, { submission_id }),
      await page.submit({ topic: 'Sea' }, { submission_id }),
    ];
    expect(answers.map(({ status, body }) => [status, body.response])).to.deep.equal([
      [200, 'Yes'],
      [200, 'Yes'],
    ]);
    expect(site().upstream.calls.length - before).to.equal(1);
    expect((await rows()).map(({ status, attempt }) => [status, attempt])).to.deep.equal([['completed', 2]]);
    const turn = site().upstream.next();
    const other = randomUUID();
    const running = page.submit({ topic: 'Sea' }, { submission_id: other });
    const { piece, end } = await turn;
    expect((await page.submit({ topic: 'Sea' }, { submission_id: other })).body.code).to.equal(
      'rest_svc_submission_running',
    );
    piece('Done');
    end();
    expect((await running).body.response).to.equal('Done');
  });

  it('give way to another try when the node that answers is gone, and its limit back', async () => {
    const { id } = await makeForm(site(), { limits: { guest: { amount: 1, per: 'day' } } });
    const page = await startedPage(site(), id);
    await page.submit({ topic: 'Sea' });
    const { knex } = site().host.database;
    await knex(formTables.submissions).update({ status: 'running', number: null });
    const reserved = {
      scope: id,
      subjects: (await knex(formTables.counters).pluck('subject')) as string[],
      unit: 'answers',
      per: 'day',
      startsAt: Date.UTC(2026, 10, 20),
      amount: 1,
    };
    const [uuid] = (await knex(formTables.submissions).pluck('uuid')) as [string];
    await insertJobs(knex, 'form-submission', [{ key: uuid, args: { id: uuid, reserved }, isRunning: true, dueAt: 1 }]);
    expect((await page.submit({ topic: 'Two' })).status).to.equal(429);
    await site().host.jobs.drain();
    expect((await rows())[0]).to.deep.include({ status: 'failed', error_code: 'rest_svc_form_abandoned' });
    expect((await page.submit({ topic: 'Two' })).status).to.equal(200);
  });

  it('hold limits of guests by session and address, of users by role, and say when there is more', async () => {
    await site().host.options.update('timezone_string', 'Europe/Berlin');
    const { id } = await makeForm(site(), {
      limits: {
        guest: { amount: 2, per: 'day' },
        user: { amount: 1, per: 'month' },
        roles: { editor: { amount: 3, per: 'month' } },
        message: 'Enough for today.',
      },
    });
    expect((await (await startedPage(site(), id)).submit({ topic: 'One' })).status).to.equal(200);
    expect((await (await startedPage(site(), id)).submit({ topic: 'Two' })).status).to.equal(200);
    const third = await startedPage(site(), id);
    const limit = { message: 'Enough for today.', until: '2026-11-20T23:00:00.000Z' };
    const refused = await third.submit({ topic: 'Three' });
    expect(refused).to.deep.include({
      status: 429,
      body: { code: 'rest_svc_form_limit_reached', message: 'Enough for today.', data: { status: 429, limit } },
    });
    expect(refused.headers.get('retry-after')).to.equal(String(13 * 3600));
    expect((await third.start()).body.limit).to.deep.equal(limit);
    site().clock.jump(13 * 3600_000);
    expect((await third.submit({ topic: 'Three' })).status).to.equal(200);
    for (const [login, role, most] of [
      ['ada', 'subscriber', 1],
      ['eve', 'editor', 3],
    ] as const) {
      const { cookie } = await site().user(login, role);
      const page = await startedPage(site(), id, { origin: site().host.url, cookie });
      const statuses = [];
      for (let send = 0; send < 4; send += 1) statuses.push((await page.submit({ topic: 'Sea' })).status);
      expect(
        statuses.filter((status) => status === 200),
        login,
      ).to.have.length(most);
    }
    expect(JSON.stringify(await site().host.database.knex(formTables.counters))).not.to.contain('127.0.0');
  });

  it('hold a limit when 30 submissions come at once', async () => {
    const { id } = await makeForm(site(), { limits: { guest: { amount: 4, per: 'day' } } });
    const page = await startedPage(site(), id);
    const answers = await Promise.all(Array.from({ length: 30 }, () => page.submit({ topic: 'Sea' })));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(4);
    expect(answers.filter(({ status }) => status === 429)).to.have.length(26);
    expect((await rows()).map(({ number }) => Number(number)).sort()).to.deep.equal([1, 2, 3, 4]);
  });

  it('are there for the pages of their embed settings alone, and while they are active', async () => {
    const { id } = await makeForm(site());
    const get = (headers: Readonly<Record<string, string>>) =>
      site().host.fetch(`/wp-json/svc-widget/v1/forms/${String(id)}`, { headers });
    const allowed = await get({ origin: 'https://shop.example.com' });
    expect([
      allowed.status,
      allowed.headers.get('access-control-allow-origin'),
      allowed.headers.get('access-control-allow-credentials'),
    ]).to.deep.equal([200, 'https://shop.example.com', null]);
    const view = (await allowed.json()) as Record<string, unknown>;
    expect(view).to.have.all.keys('id', 'name', 'intro', 'elements', 'texts', 'result', 'consent', 'messages');
    expect(JSON.stringify(view)).not.to.match(/gpt-4o-mini|Topic:/);
    expect(((await (await get({ origin: 'https://evil.example' })).json()) as { code: string }).code).to.equal(
      'rest_svc_form_origin_not_allowed',
    );
    const page = await startedPage(site(), id);
    page.headers['origin'] = 'https://evil.example';
    expect((await page.submit({ topic: 'Sea' })).body.code).to.equal('rest_svc_form_origin_not_allowed');
    // A token is worth nothing to another form, another origin, or another browser.
    const other = await makeForm(site(), { embed: { enabled: true, any_site: true } });
    const theirs = pageOf(site(), other.id);
    theirs.token = page.token;
    expect((await theirs.submit({ topic: 'Sea' })).body.code).to.equal('rest_svc_form_expired');
    await site().host.cli('svc', 'form', 'update', '--json', JSON.stringify({ id, status: 'inactive' }));
    expect((await get({ origin: 'https://shop.example.com' })).status).to.equal(404);
    expect(site().upstream.calls).to.have.length(0);
  });

  it('need a session, or the nonce of a form that the site wrote', async () => {
    const { id } = await makeForm(site());
    expect((await pageOf(site(), id).submit({ topic: 'Sea' })).body.code).to.equal('rest_svc_form_expired');
    const own = pageOf(site(), id, { origin: site().host.url });
    expect((await own.submit({ topic: 'Sea' }, { nonce: 'A'.repeat(22) })).status).to.equal(403);
    const html = await site().host.content.doShortcode(`[svc_form id=${String(id)}]`);
    const nonce = /name="nonce" value="([\w-]{22})"/.exec(html)?.[1] ?? '';
    expect((await own.submit({ topic: 'Sea' }, { nonce })).status).to.equal(200);
    // Of use to other sites it is not.
    expect((await pageOf(site(), id).submit({ topic: 'Sea' }, { nonce })).status).to.equal(403);
    site().clock.jump(25 * 3600_000);
    expect((await own.submit({ topic: 'Sea' }, { nonce })).status).to.equal(403);
  });

  it('store nothing of fields and answers where nothing is to be kept', async () => {
    const { id } = await makeForm(site(), { privacy: { keep: false } });
    const page = await startedPage(site(), id);
    const submission_id = randomUUID();
    const { body } = await page.submit(
      { topic: 'A secret' },
      { submission_id, page_url: 'https://shop.example.com/secret' },
    );
    expect(body.response).to.contain('A secret');
    const stored = await rows();
    expect(stored.map(({ status }) => status)).to.deep.equal(['completed']);
    expect(JSON.stringify(stored)).not.to.contain('secret');
    expect((await page.submit({ topic: 'A secret' }, { submission_id })).body.code).to.equal(
      'rest_svc_submission_not_kept',
    );
  });

  it('end with the visitor who goes away: nothing more is made, and nothing counts', async () => {
    const { id } = await makeForm(site(), { limits: { guest: { amount: 1, per: 'day' } } });
    const page = await startedPage(site(), id);
    const coming = site().upstream.next();
    // A connection of its own, which is gone with its caller.
    const caller = request(`${site().host.url}/wp-json/svc-widget/v1/forms/${String(id)}/submit`, {
      method: 'POST',
      agent: false,
      headers: {
        ...page.headers,
        'user-agent': 'node',
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
    });
    caller.on('error', () => undefined);
    const responded = once(caller, 'response');
    caller.end(JSON.stringify({ token: page.token, submission_id: randomUUID(), values: { topic: 'Sea' } }));
    const turn = await coming;
    turn.piece('Half');
    await responded;
    const failed = new Promise<void>((resolve) => {
      site().host.hooks.addAction('svc_form_failed', () => resolve());
    });
    caller.destroy();
    await failed;
    turn.cut();
    expect((await rows())[0]).to.deep.include({
      status: 'failed',
      error_code: 'rest_svc_request_aborted',
      response: '',
    });
    expect((await page.submit({ topic: 'Sea' })).status).to.equal(200);
  });

  it('can be changed by filters before the prompt, after the answer and in what pages are told', async () => {
    const { hooks } = site().host;
    hooks.addFilter('svc_form_prompt', (given, turn) => ({
      ...given,
      prompt: `${given.prompt} (${turn.display_values['tone'] ?? ''})`,
      params: { ...given.params, temperature: 0 },
    }));
    hooks.addFilter('svc_form_streams', () => false);
    hooks.addFilter('svc_form_response', (text) => text.replaceAll('Sea', 'Lake'));
    hooks.addFilter('svc_form_config', (view) => ({ ...view, intro: 'Hello' }));
    const { id } = await makeForm(site());
    const page = await startedPage(site(), id);
    expect(
      (await page.stream({ topic: 'Sea', tone: 's' })).map(({ type, text, response }) => [type, text ?? response]),
    ).to.deep.equal([
      ['delta', 'You said: Topic: Lake; tone: Strict; extras: ; words: ; source: (Strict)'],
      ['done', 'You said: Topic: Lake; tone: Strict; extras: ; words: ; source: (Strict)'],
    ]);
    expect((await rows())[0].response).to.contain('Lake');
    const view = (await (
      await site().host.fetch(`/wp-json/svc-widget/v1/forms/${String(id)}`, { headers: page.headers })
    ).json()) as { intro: string };
    expect(view.intro).to.equal('Hello');
  });

  it('become drafts of users who may write posts, on the site itself', async () => {
    const { id } = await makeForm(site(), { elements: [fields[0]], prompt: '{topic}' });
    site().upstream.answer = (turn) => {
      turn.piece('# A **title**\n\nSome <script>alert(1)</script> [text](javascript:alert(1)).');
      turn.end();
    };
    const { cookie, id: author } = await site().user('ada', 'author');
    const page = await startedPage(site(), id, { origin: site().host.url, cookie });
    expect((await page.start()).body.may_save).to.equal(true);
    const { body } = await page.submit({ topic: 'Sea' });
    const saved = await page.post<{ id: number; edit_url: string }>('post', { submission_id: body.submission_id });
    expect(saved.status).to.equal(200);
    const post = await site().host.content.posts.get(saved.body.id);
    expect(post).to.deep.include({ title: 'A title', status: 'draft', authorId: author });
    expect(post?.content).to.contain('Some');
    expect(post?.content).not.to.match(/script/);
    const stranger = await site().user('eve', 'author');
    expect(
      (
        await (
          await startedPage(site(), id, { origin: site().host.url, cookie: stranger.cookie })
        ).post('post', { submission_id: body.submission_id })
      ).status,
    ).to.equal(404);
    const reader = await site().user('bob', 'subscriber');
    const theirs = await startedPage(site(), id, { origin: site().host.url, cookie: reader.cookie });
    expect((await theirs.start()).body.may_save).to.equal(false);
    expect(
      (await theirs.post('post', { submission_id: (await theirs.submit({ topic: 'Sea' })).body.submission_id })).status,
    ).to.equal(403);
  });
});
