import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import type { AdminRequest } from '#plugin-api';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

describe('forms with files', () => {
  let host: OpenAdmin;
  let browser: Browser;
  let seen: { text: string; form: unknown; name: string | undefined }[];
  beforeEach(async () => {
    host = await openAdmin();
    browser = await host.signedIn();
    seen = [];
    const take = async (request: AdminRequest) => {
      const file = request.files?.['paper'];
      seen.push({ text: file ? await readFile(file.path, 'utf8') : '', form: request.form, name: file?.name });
      return {};
    };
    for (const slug of ['papers', 'plain']) {
      host.admin.api.addPage({ slug, title: slug, ...(slug === 'papers' && { uploadLimit: 1_048_576 }), render: async () => ({ template: 'admin/plugins', data: { mayInstall: true } }), actions: { take, install: take } });
    }
  });
  afterEach(() => host.close());

  const uploads = async (): Promise<string[]> => (await readdir(tmpdir())).filter((name) => name.startsWith('upload-'));
  async function send(page: string, content: string, fields: Record<string, string> = {}): Promise<Response> {
    const nonce = (await browser.get(`/admin/${page}`)).nonce(`/admin/${page}?action&#x3D;install`);
    const body = new FormData();
    for (const [name, value] of Object.entries({ _nonce: nonce, ...fields })) body.append(name, value);
    body.append('paper', new Blob([content]), '../../paper.txt');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return fetch(`${host.url}/admin/${page}?action=take`, { method: 'POST', body, headers: { Cookie: cookie, Accept: 'application/json' } });
  }

  it('hand fields and files to the action, and leave nothing on the disk', async () => {
    const before = await uploads();
    expect((await send('papers', 'hello', { 'a[b]': '1' })).status).to.equal(200);
    expect(seen).to.deep.equal([{ text: 'hello', form: { a: { b: '1' } }, name: 'paper.txt' }]);
    expect((await uploads()).filter((name) => !before.includes(name))).to.deep.equal([]);
  });

  it('are refused with a wrong nonce, when too large, and on pages that take none', async () => {
    expect((await send('papers', 'x', { _nonce: 'wrong' })).status).to.equal(403);
    const large = await send('papers', 'x'.repeat(1_048_577));
    expect([large.status, ((await large.json()) as { notice: { text: string } }).notice.text]).to.deep.equal([413, 'The file is larger than 1 MB.']);
    expect((await send('plain', 'x')).status).to.equal(403);
    expect(seen).to.deep.equal([]);
  });
});
