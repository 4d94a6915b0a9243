import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeDialects, describeHosts } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { openContentSite, type Answer, type Call, type ContentSite } from './content-site.ts';
import { openContent } from './open-content.ts';
import { until } from '../helpers/until.ts';

/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const gif = Buffer.from('R0lGODlhAwACAIAAAP///wAAACH5BAAAAAAALAAAAAADAAIAAAIChF8AOw==', 'base64');
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
const html = Buffer.from('<!doctype html><script>alert(1)</script>');

describeDialects('media', (open, dialectCase) => {
  it('are stored by month under names of their own, with their size, and go with their file', async () => {
    const { media, dataDir, posts } = await openContent(open, dialectCase);
    const first = await media.save({ bytes: png, name: '../../My Cät.PNG', alt: 'A cat' });
    const second = await media.save({ bytes: png, name: 'my-cat.png' });
    expect([first.file, second.file]).to.deep.equal(['2026/05/my-cat.png', '2026/05/my-cat-1.png']);
    expect(first).to.deep.include({
      url: 'http://site.test/uploads/2026/05/my-cat.png',
      mimeType: 'image/png',
      size: png.length,
      width: 1,
      height: 1,
      alt: 'A cat',
      title: 'My Cät',
    });
    expect([first.post.type, first.post.status]).to.deep.equal(['attachment', 'inherit']);
    const path = join(dataDir, 'uploads', first.file);
    expect(Buffer.from((await media.read(first.id)) ?? []).equals(png)).to.equal(true);
    expect([
      existsSync(path),
      await media.url(first.id),
      await media.delete(first.id),
      await media.get(first.id),
      await media.delete(first.id),
    ]).to.deep.equal([true, first.url, true, null, false]);
    expect([await media.read(first.id), await media.read(999)]).to.deep.equal([null, null]);
    await posts.delete(second.id);
    await until('the deletion of the file', () => !existsSync(path));
  });

  it('get the extension of their content when they are images, and are refused when name and content do not agree', async () => {
    const { media } = await openContent(open, dialectCase);
    expect(await media.save({ bytes: gif, name: 'a.png' })).to.deep.include({
      file: '2026/05/a.gif',
      mimeType: 'image/gif',
      width: 3,
      height: 2,
    });
    expect((await media.save({ bytes: Buffer.from('a,b\n1,2\n'), name: 'table.csv' })).mimeType).to.equal('text/csv');
    const refused: [string, Buffer][] = [
      ['a.svg', svg],
      ['a.html', html],
      ['a.png', html],
      ['a.png', svg],
      ['a.pdf', png],
      ['a.png.php', png],
      ['a.js', Buffer.from('x()')],
      ['a', png],
      ['a.txt', Buffer.from([0, 1, 2, 255])],
      ['a.xml', svg],
    ];
    for (const [name, bytes] of refused)
      expect(await failureOf(media.save({ bytes, name })), name).to.include({
        code: 'rest_upload_sideload_error',
        status: 400,
      });
    expect(await failureOf(media.save({ bytes: Buffer.alloc(0), name: 'a.png' }))).to.include({
      code: 'rest_upload_no_data',
    });
  });

  it('are limited in size by a setting, and in type by a filter that cannot let in what browsers run', async () => {
    const { media, options, hooks } = await openContent(open, dialectCase);
    await options.update('upload_limit_mb', 1);
    expect(
      await failureOf(media.save({ bytes: Buffer.concat([png, Buffer.alloc(1_048_576)]), name: 'a.png' })),
    ).to.include({ code: 'rest_upload_file_too_big' });
    hooks.addFilter('upload_mimes', () => ({ svg: 'image/svg+xml', gif: 'image/gif' }));
    expect(await failureOf(media.save({ bytes: png, name: 'a.png' }))).to.include({
      code: 'rest_upload_sideload_error',
    });
    expect(await failureOf(media.save({ bytes: svg, name: 'a.svg' }))).to.include({
      code: 'rest_upload_sideload_error',
    });
    expect((await media.save({ bytes: gif, name: 'a.gif' })).mimeType).to.equal('image/gif');
  });

  it('leave no file behind when their post cannot be made', async () => {
    const { media, hooks, dataDir } = await openContent(open, dialectCase);
    hooks.addFilter('wp_insert_attachment_data', () => {
      throw new Error('no');
    });
    expect(String(await failureOf(media.save({ bytes: png, name: 'a.png' })))).to.equal('Error: no');
    expect(existsSync(join(dataDir, 'uploads/2026/05/a.png'))).to.equal(false);
  });
});

describeHosts('/wp/v2/media and /uploads', (dialectCase) => {
  let site: ContentSite;
  let author: Call;
  beforeEach(async () => {
    site = await openContentSite(dialectCase);
    author = (await site.as('author')).call;
  });
  afterEach(() => site.host.stop());

  const upload = (call: Call, name: string, bytes: Uint8Array): Promise<Answer> =>
    call('/media', {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'image/png', 'content-disposition': `attachment; filename="${name}"` },
    });
  const codeOf = ({ status, body }: Answer): unknown[] => [status, body?.code];

  it('takes a file as the body or in a form, describes, lists, changes and deletes it', async () => {
    const raw = await upload(author, 'cat.png', png);
    expect([raw.status, raw.headers.get('location')]).to.deep.equal([
      201,
      `${site.host.url}/wp-json/wp/v2/media/${raw.body.id}`,
    ]);
    expect(raw.body).to.deep.include({
      source_url: `${site.host.url}/uploads/2026/01/cat.png`,
      media_type: 'image',
      mime_type: 'image/png',
      alt_text: '',
      post: null,
      status: 'inherit',
    });
    expect(raw.body.media_details).to.deep.include({
      width: 1,
      height: 1,
      file: '2026/01/cat.png',
      filesize: png.length,
    });
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(gif)]), 'tiny ü.gif');
    form.append('alt_text', 'Tiny');
    form.append('title', 'A title');
    const formed = await author('/media', { method: 'POST', body: form });
    expect([formed.status, formed.body.alt_text, formed.body.title.raw, formed.body.source_url]).to.deep.equal([
      201,
      'Tiny',
      'A title',
      `${site.host.url}/uploads/2026/01/tiny-u.gif`,
    ]);
    expect((await site.call('/media')).headers.get('x-wp-total')).to.equal('2');
    expect((await site.call('/media?mime_type=image/gif')).body.map(({ id }: { id: number }) => id)).to.deep.equal([
      formed.body.id,
    ]);
    const changed = await author(`/media/${raw.body.id}`, {
      method: 'POST',
      json: { alt_text: 'Cat', caption: '<b>C</b>' },
    });
    expect([changed.body.alt_text, changed.body.caption.raw]).to.deep.equal(['Cat', '<b>C</b>']);
    expect(codeOf(await author(`/media/${raw.body.id}`, { method: 'DELETE' }))).to.deep.equal([
      501,
      'rest_trash_not_supported',
    ]);
    expect((await author(`/media/${raw.body.id}?force=true`, { method: 'DELETE' })).body.deleted).to.equal(true);
  });

  it('refuses what is no upload', async () => {
    const contributor = (await site.as('contributor')).call;
    const post = (headers: Record<string, string>, bytes = png): Promise<Answer> =>
      author('/media', { method: 'POST', body: bytes, headers });
    const disposition = 'attachment; filename="a.png"';
    expect(codeOf(await upload(site.call, 'a.png', png))).to.deep.equal([401, 'rest_cannot_create']);
    expect(codeOf(await upload(contributor, 'a.png', png))).to.deep.equal([403, 'rest_cannot_create']);
    const large = Buffer.alloc(200_000);
    expect(codeOf(await upload(site.call, 'a.png', large))).to.deep.equal([401, 'rest_cannot_create']);
    expect(codeOf(await upload(contributor, 'a.png', large))).to.deep.equal([403, 'rest_cannot_create']);
    expect(codeOf(await upload(author, 'a.html', html))).to.deep.equal([400, 'rest_upload_sideload_error']);
    expect(codeOf(await post({ 'content-type': 'image/png' }))).to.deep.equal([
      400,
      'rest_upload_no_content_disposition',
    ]);
    expect(codeOf(await post({ 'content-type': 'image/png', 'content-disposition': 'attachment' }))).to.deep.equal([
      400,
      'rest_upload_invalid_disposition',
    ]);
    expect(
      codeOf(await post({ 'content-type': 'image/png', 'content-disposition': disposition, 'content-md5': 'x' })),
    ).to.deep.equal([412, 'rest_upload_hash_mismatch']);
    expect(codeOf(await author('/media', { method: 'POST' }))).to.deep.equal([400, 'rest_upload_no_data']);
    expect(
      codeOf(await post({ 'content-type': 'multipart/form-data; boundary=x' }, Buffer.from('--x\r\nnever ends'))),
    ).to.deep.equal([400, 'rest_upload_unreadable']);
    expect(
      codeOf(
        await post(
          { 'content-type': 'image/png', 'content-disposition': disposition },
          Buffer.concat([png, Buffer.alloc(11 * 1_048_576)]),
        ),
      ),
    ).to.deep.equal([413, 'rest_body_too_large']);
    const draft = await site.host.content.posts.create({ title: 'x', authorId: 99 });
    expect(
      codeOf(
        await author(`/media?post=${draft.id}`, {
          method: 'POST',
          body: png,
          headers: { 'content-type': 'image/png', 'content-disposition': disposition },
        }),
      ),
    ).to.deep.equal([403, 'rest_cannot_edit']);
  });

  it('serves files with their type, not to be guessed, in parts, and nothing else', async () => {
    const { body } = await upload(author, 'cat.png', png);
    const path = new URL(body.source_url).pathname;
    const whole = await site.host.fetch(path);
    expect([
      whole.status,
      whole.headers.get('content-type'),
      whole.headers.get('x-content-type-options'),
      whole.headers.get('content-disposition'),
    ]).to.deep.equal([200, 'image/png', 'nosniff', null]);
    expect(Buffer.from(await whole.arrayBuffer()).equals(png)).to.equal(true);
    const part = await site.host.fetch(path, { headers: { range: 'bytes=1-3' } });
    expect([part.status, await part.text()]).to.deep.equal([206, 'PNG']);
    expect(await statusOf(site.host.url, path, { 'if-none-match': whole.headers.get('etag') ?? '' })).to.equal(304);
    const zip = await author('/media', {
      method: 'POST',
      body: Buffer.from('a,b\n'),
      headers: { 'content-type': 'text/csv', 'content-disposition': 'attachment; filename=t.csv' },
    });
    const csv = await site.host.fetch(new URL(zip.body.source_url).pathname);
    expect([csv.headers.get('content-disposition'), csv.headers.get('content-type')]).to.deep.equal([
      'attachment',
      'text/csv; charset=utf-8',
    ]);
    for (const wrong of [
      '/uploads/',
      '/uploads/2026/01/',
      '/uploads/2026/01/none.png',
      '/uploads/2026/01/..%2f..%2f..%2f..%2fetc%2fpasswd',
      '/uploads/../host/main.ts',
      '/uploads/2026/01/%2e%2e/x',
      '/uploads/2026/01/.x',
      '/uploads/%00',
    ]) {
      expect(await statusOf(site.host.url, wrong), wrong).to.equal(404);
    }
  });
});

/** Asks for exactly this path with exactly these headers; `fetch` would tidy both. */
function statusOf(url: string, path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
