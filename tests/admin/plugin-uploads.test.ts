import { watch } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request as open } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AdminRequest } from '#plugin-api';
import { openAdmin, type Browser, type OpenAdmin } from './open-admin.ts';

describe('forms with files', () => {
  let host: OpenAdmin;
  let browser: Browser;
  let uploadsDir = '';
  let seen: { text: string; form: unknown; name: string | undefined }[];
  beforeEach(async () => {
    // Of its own: the system's holds uploads of whatever else runs at this moment.
    uploadsDir = await mkdtemp(join(tmpdir(), 'admin-uploads-'));
    host = await openAdmin({ uploadsDir });
    browser = await host.signedIn();
    seen = [];
    const take = async (request: AdminRequest) => {
      const file = request.files?.['paper'];
      seen.push({ text: file ? await readFile(file.path, 'utf8') : '', form: request.form, name: file?.name });
      return {};
    };
    for (const slug of ['papers', 'plain']) {
      host.admin.api.addPage({
        slug,
        title: slug,
        ...(slug === 'papers' && { uploadLimit: 1_048_576 }),
        render: async () => ({ template: 'admin/plugins', data: { mayInstall: true } }),
        actions: { take, install: take },
      });
    }
  });
  afterEach(async () => {
    await host.close();
    await rm(uploadsDir, { recursive: true, force: true });
  });

  const uploads = (): Promise<string[]> => readdir(uploadsDir);
  const cookie = (): string => [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  async function send(page: string, content: string, fields: Record<string, string> = {}): Promise<Response> {
    const nonce = (await browser.get(`/admin/${page}`)).nonce(`/admin/${page}?action&#x3D;install`);
    const body = new FormData();
    for (const [name, value] of Object.entries({ _nonce: nonce, ...fields })) body.append(name, value);
    body.append('paper', new Blob([content]), '../../paper.txt');
    return fetch(`${host.url}/admin/${page}?action=take`, {
      method: 'POST',
      body,
      headers: { Cookie: cookie(), Accept: 'application/json' },
    });
  }

  it('hand fields and files to the action, and leave nothing on the disk', async () => {
    expect((await send('papers', 'hello', { 'a[b]': '1' })).status).to.equal(200);
    expect(seen).to.deep.equal([{ text: 'hello', form: { a: { b: '1' } }, name: 'paper.txt' }]);
    expect(await uploads()).to.deep.equal([]);
  });

  it('are refused with a wrong nonce, when too large, and on pages that take none', async () => {
    expect((await send('papers', 'x', { _nonce: 'wrong' })).status).to.equal(403);
    const large = await send('papers', 'x'.repeat(1_048_577));
    expect([large.status, ((await large.json()) as { notice: { text: string } }).notice.text]).to.deep.equal([
      413,
      'The file is larger than 1 MB.',
    ]);
    expect((await send('plain', 'x')).status).to.equal(403);
    expect(seen).to.deep.equal([]);
    expect(await uploads()).to.deep.equal([]);
  });

  /** A multipart body that says nothing of its length. */
  async function stream(): Promise<ReturnType<typeof open>> {
    const nonce = (await browser.get('/admin/papers')).nonce('/admin/papers?action&#x3D;install');
    const sending = open(`${host.url}/admin/papers?action=take`, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=edge', Cookie: cookie(), Accept: 'application/json' },
    });
    sending.write(
      `--edge\r\nContent-Disposition: form-data; name="_nonce"\r\n\r\n${nonce}\r\n--edge\r\nContent-Disposition: form-data; name="paper"; filename="p.txt"\r\n\r\n`,
    );
    return sending;
  }

  it('answer a sender who goes on sending above the limit, in place of a broken connection', async () => {
    let sending: ReturnType<typeof open> | undefined;
    const status = await new Promise<number | undefined>((resolve, reject) => {
      void stream().then((opened) => {
        sending = opened;
        opened.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject);
        for (let megabyte = 0; megabyte < 8; megabyte += 1) opened.write('x'.repeat(1_048_576));
      });
    });
    sending?.destroy();
    expect(status).to.equal(413);
    expect([await uploads(), seen]).to.deep.equal([[], []]);
  });

  it('leave nothing of one whose sender hangs up', async () => {
    const arrived = new Promise<void>((resolve) => {
      const watcher = watch(uploadsDir, () => {
        watcher.close();
        resolve();
      });
    });
    const sending = await stream();
    sending.on('error', () => undefined);
    await arrived;
    const gone = new Promise<void>((resolve) => {
      const watcher = watch(
        uploadsDir,
        () =>
          void uploads().then((left) => {
            if (left.length > 0) return;
            watcher.close();
            resolve();
          }),
      );
    });
    sending.destroy();
    await gone;
    expect(seen).to.deep.equal([]);
  });
});
