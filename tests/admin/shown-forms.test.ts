import { expect } from 'chai';
import type { AdminRequest } from '#plugin-api';
import { changedFields, stampForms } from '../../host/admin/shown-forms.ts';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

const target = '/admin/probe?action=save';

describe('a form that was saved by another tab', () => {
  let host: OpenAdmin;
  let browser: Browser;
  let title: string;
  let seen: AdminRequest['form'][];
  beforeEach(async () => {
    host = await openAdmin();
    browser = await host.signedIn();
    title = 'Tea';
    seen = [];
    host.admin.api.addPage({
      slug: 'probe',
      title: 'Probe',
      render: async ({ query }) => ({ template: 'probe/edit', data: { title, id: query['id'] } }),
      actions: {
        save: async ({ form }) => {
          if (form['title'] === '')
            return {
              notice: { kind: 'error', text: 'Enter a title.' },
              page: { template: 'probe/edit', data: { title: '', id: form['id'] } },
            };
          seen.push(form);
          title = String(form['title']);
          return {};
        },
      },
    });
  });
  afterEach(() => host.close());

  const open = async (text?: string) => readHidden(text ?? (await browser.get('/admin/probe?id=7')).text);

  it('comes back with what was typed and the fields that changed, and can be saved anyway', async () => {
    const [first, second] = [await open(), await open()];
    expect((await browser.post(target, { ...first, title: 'Coffee' })).status).to.equal(303);
    const refused = await browser.post(target, { ...second, title: 'Milk' });
    expect([refused.status, seen.length]).to.deep.equal([409, 1]);
    expect(refused.text)
      .to.contain('<h1>Save anyway?</h1>')
      .and.match(/Title<\/th>\s*<td[^>]*>Coffee<\/td>\s*<td[^>]*>Milk</)
      .and.not.contain('Taste</th>');
    expect((await browser.post(target, { ...readHidden(refused.text) })).status).to.equal(303);
    expect(seen[1]).to.deep.equal({ id: '7', title: 'Milk', taste: '' });
  });

  it('is reported to scripts, which may ask before they send it', async () => {
    const json = { Accept: 'application/json' };
    const sent = await open();
    expect((await browser.post(target, { ...sent, _check: '1' }, json)).status).to.equal(200);
    title = 'Coffee';
    for (const check of [{ _check: '1' }, { title: 'Milk' }]) {
      const refused = await browser.post(target, { ...sent, ...check }, json);
      expect([refused.status, refused.json()['code']]).to.deep.equal([409, 'edit_conflict']);
      expect(refused.json()['data']).to.deep.equal({ changes: [{ name: 'title', label: 'Title', now: 'Coffee' }] });
    }
    expect(seen).to.deep.equal([]);
  });

  it('is found after an error too, and not when it shows what is stored', async () => {
    const refused = await browser.post(target, { ...(await open()), title: '' });
    expect((await browser.post(target, { ...(await open(refused.text)), title: 'Milk' })).status).to.equal(303);
    const again = await browser.post(target, { ...(await open(refused.text)), title: 'Rum' });
    expect(again.status).to.equal(409);
    expect((await browser.post(target, { ...(await open()), title: 'Rum' })).status).to.equal(303);
  });

  it('is found after another button of the form arranged its rows', async () => {
    const form = (value: string) =>
      `<form method="post" action="/admin/x?action=save"><input type="hidden" name="id" value="1"><input name="a" value="${value}"></form>`;
    const { _shown: shown = '' } = readHidden(await stampForms(form('stored'), { query: '' }));
    const arranged = await stampForms(form('typed'), { query: '', sent: { action: 'arrange', shown } });
    expect(readHidden(arranged)['_shown']).to.equal(shown);
  });

  it('that has expired comes back with what was typed, if a page of the admin sent it', async () => {
    const form = { ...(await open()), _nonce: 'of another session', title: 'Milk' };
    const from = { Origin: host.url, Referer: `${host.url}/admin/probe?id=7` };
    const expired = await browser.post(target, form, from);
    expect([expired.status, seen]).to.deep.equal([403, []]);
    expect(expired.text).to.contain('<h1>Send the form again?</h1>');
    await browser.post(target, readHidden(expired.text));
    expect(seen[0]).to.include({ title: 'Milk' });
    for (const headers of [{}, { ...from, Referer: `${host.url}/a-post` }, { ...from, Origin: 'https://evil.example' }])
      expect((await browser.post(target, form, headers)).text).to.contain('This form has expired');
  });

  const page = (content: string) => `<form method="post" action="/admin/x?action=save">${content}</form>`;
  const changes = async (before: string, after: string) => {
    const shown = readHidden(await stampForms(page(before), { query: '' }))['_shown'] ?? '';
    return (await changedFields(page(after), { action: 'save', shown })).map(({ label, now }) => [label, now]);
  };

  it('compares each kind of field by what a browser sends', async () => {
    const list = (...chosen: boolean[]) =>
      `<fieldset><legend>Days</legend>${chosen.map((is, day) => `<label><input type="checkbox" name="d[]" value="${day}"${is ? ' checked' : ''}> Day ${day}</label>`).join('')}</fieldset>`;
    for (const [before, after, ...expected] of [
      [
        '<textarea name="a" aria-label="A">\nx &amp; y</textarea>',
        '<textarea name="a" aria-label="A">z</textarea>',
        ['A', 'z'],
      ],
      [
        '<label for="s">Size</label><select id="s" name="s"><option>L</option><option value="m">M</option></select>',
        '<label for="s">Size</label><select id="s" name="s"><option>L</option><option value="m" selected>M</option></select>',
        ['Size', 'M'],
      ],
      [
        '<input type="hidden" name="o" value="0"><input type="checkbox" name="o" value="1" aria-label="On air">',
        '<input type="hidden" name="o" value="0"><input type="checkbox" name="o" value="1" checked aria-label="On air">',
        ['On air', 'On'],
      ],
      [list(true, false), list(true, true), ['Days', 'Day 0, Day 1']],
      ['<input name="r[0]" value="1">', '<input name="r[0]" value="1"><input name="r[1]" value="2">', ['r[1]', '2']],
      ['<input name="a" value="1"><input name="b" value="2">', '<input name="a" value="1">', ['b', '']],
    ] as const) {
      expect(await changes(before, before)).to.deep.equal([]);
      expect(await changes(before, after)).to.deep.equal(expected);
    }
  });

  it('compares neither passwords nor what only hidden fields hold', async () => {
    expect(
      await changes(
        '<input name="a" value="1"><input type="hidden" name="t" value="1"><input type="password" name="p" value="">',
        '<input name="a" value="1"><input type="hidden" name="t" value="2"><input type="password" name="p" value="x">',
      ),
    ).to.deep.equal([]);
  });

  it('knows several forms of one action by their hidden fields', async () => {
    const form = (id: number, value: string) =>
      page(`<input type="hidden" name="id" value="${id}"><input name="a" value="${value}">`);
    const stamped = await stampForms(form(1, 'x') + form(2, 'y'), { query: '' });
    const shown = readHidden(stamped.slice(stamped.lastIndexOf('<form')))['_shown'] ?? '';
    expect(await changedFields(form(1, 'z') + form(2, 'y'), { action: 'save', shown })).to.deep.equal([]);
    expect(await changedFields(form(1, 'x') + form(2, 'z'), { action: 'save', shown })).to.have.length(1);
    expect(await changedFields(form(1, 'x') + form(3, 'z'), { action: 'save', shown })).to.deep.equal([]);
  });
});

/** The fields of the first form of a page. */
function readHidden(html: string): Record<string, string> {
  const main = html.slice(Math.max(0, html.indexOf('<main')));
  const form = main.slice(main.indexOf('<form'), main.indexOf('</form>'));
  return Object.fromEntries(
    [...form.matchAll(/<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"/g)].map(([, name, value = '']) => [
      name,
      value.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='),
    ]),
  );
}
