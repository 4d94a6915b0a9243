import { expect } from 'chai';
import type { AdminRequest } from '#plugin-api';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

const target = '/admin/probe?action=save';

describe('questions before an action, without JavaScript', () => {
  let host: OpenAdmin;
  let browser: Browser;
  let seen: AdminRequest['form'][];
  beforeEach(async () => {
    host = await openAdmin();
    browser = await host.signedIn();
    seen = [];
    host.admin.api.addPage({
      slug: 'probe',
      title: 'Probe',
      render: async () => ({ template: 'probe/page', data: {} }),
      actions: {
        save: async ({ form }) => {
          seen.push(form);
          return { notice: { kind: 'success', text: 'Done.' } };
        },
      },
    });
  });
  afterEach(() => host.close());

  async function post(fields: Readonly<Record<string, string>>, headers = {}): ReturnType<Browser['post']> {
    const nonce = (await browser.get('/admin/probe')).nonce(target.replace('=', '&#x3D;'));
    return browser.post(target, { ...fields, _nonce: nonce }, headers);
  }

  it('appear on a separate page, which sends the same fields without them', async () => {
    const fields = { id: '7', 'tags[]': '<b>', _question: 'Delete <i>it</i>? You cannot undo this.' };
    const asked = await post(fields);
    expect([asked.status, seen]).to.deep.equal([200, []]);
    expect(asked.text)
      .to.contain('<h1>Delete &lt;i&gt;it&lt;/i&gt;?</h1>')
      .and.contain('<p>You cannot undo this.</p>')
      .and.contain('name="tags[0]" value="&lt;b&gt;"')
      .and.not.contain('_question');
    const nonce = asked.nonce(target.replace('=', '&#x3D;'));
    await browser.post(target, { id: '7', 'tags[0]': '<b>', _nonce: nonce });
    expect(seen).to.deep.equal([{ id: '7', tags: ['<b>'] }]);
  });

  it('are answered by a button that says what it does', async () => {
    const { text } = await post({ _question: 'Delete “Whole site”?', _question_label: 'Delete' });
    expect(text)
      .to.match(/<button type="submit"[^>]*><span>Delete<\/span>/)
      .and.not.contain('_question_label');
    expect((await post({ _question: 'Delete it?' })).text).to.contain('<span>Continue</span>');
  });

  it('may depend on the chosen action for several rows', async () => {
    const bulk = { '_questions[delete]': 'Delete all?', '_questions[trash]': 'Never asked?' };
    expect((await post({ ...bulk, do: 'delete' })).text).to.contain('<h1>Delete all?</h1>');
    await post({ ...bulk, do: 'restore' });
    expect(seen).to.deep.equal([{ do: 'restore' }]);
  });

  it('come after the nonce, and not at all for scripts', async () => {
    expect((await browser.post(target, { _question: 'Delete it?', _nonce: 'wrong' })).status).to.equal(403);
    await post({ _question: 'Delete it?' }, { Accept: 'application/json' });
    expect(seen).to.deep.equal([{}]);
  });
});
