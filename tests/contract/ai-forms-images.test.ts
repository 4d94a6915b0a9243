import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { formTables } from '../../plugins/svc/modules/ai-forms/forms/form-tables.ts';
import { makeForm, startedPage } from './ai-forms-site.ts';
import { describeWidget } from './widget-site.ts';

describeWidget('image fields of forms', (site) => {
  const rows = () => site().host.database.knex(formTables.submissions).orderBy('id');

  it('send images to models that read them, and store nothing of them but name and size', async () => {
    const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(300)]);
    const photo = { id: 'photo', type: 'image', label: 'Photo', required: true };
    const settings = {
      elements: [photo, { id: 'topic', type: 'text', label: 'Topic' }],
      prompt: 'What is on {photo}, {topic}?',
    };
    const send = async (id: number): Promise<{ status: number; body: { code?: string } }> => {
      const page = await startedPage(site(), id);
      const body = new FormData();
      body.append('token', page.token);
      body.append('submission_id', randomUUID());
      body.append('values[topic]', 'dear');
      body.append('values[photo]', new Blob([picture]), 'cat.png');
      const response = await site().host.fetch(`/wp-json/svc-widget/v1/forms/${String(id)}/submit`, {
        method: 'POST',
        headers: { ...page.headers, accept: 'application/json' },
        body,
      });
      return { status: response.status, body: (await response.json()) as { code?: string } };
    };
    site().upstream.answer = (turn) => {
      turn.piece('A cat.');
      turn.end();
    };
    const { id } = await makeForm(site(), settings);
    expect((await send(id)).status).to.equal(200);
    const url = `data:image/png;base64,${picture.toString('base64')}`;
    expect(site().upstream.calls[0]?.messages.at(-1)?.content).to.deep.equal([
      { type: 'image_url', image_url: { url } },
      { type: 'text', text: 'What is on cat.png, dear?' },
    ]);
    const [row] = await rows();
    expect(JSON.parse(row.answers as string).inputs).to.deep.equal({
      photo: { name: 'cat.png', size: picture.length },
      topic: 'dear',
    });
    const { knex } = site().host.database;
    for (const table of [formTables.submissions, 'svc_webhook_events', 'posts', 'options'])
      expect(JSON.stringify(await knex(table).select('*')), table).not.to.contain(
        picture.toString('base64').slice(20, 80),
      );
    expect(await knex('posts').where({ type: 'attachment' })).to.deep.equal([]);

    const blind = await makeForm(site(), { ...settings, model: 'gpt-3.5-turbo' });
    expect((await send(blind.id)).body.code).to.equal('rest_svc_form_failed');
    expect((await rows()).at(-1)).to.deep.include({
      status: 'failed',
      error_code: 'rest_svc_model_cannot_see',
      error: 'gpt-3.5-turbo of OpenAI cannot read images. Choose a model that can.',
    });
    expect(site().upstream.calls).to.have.length(1);
  });
});
