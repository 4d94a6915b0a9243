import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createUploadBucket } from '../../host/content/media/upload-bucket.ts';
import type { UploadStore } from '../../host/content/media/upload-store.ts';
import { describeHosts, silentLog } from '../helpers/dialects.ts';
import { startS3Server, type S3Server } from '../helpers/s3-server.ts';
import { openContentSite, type Answer, type Call, type ContentSite } from './content-site.ts';
import { until } from '../helpers/until.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describeHosts('uploads in a bucket', (dialectCase) => {
  let server: S3Server;
  let site: ContentSite;
  let author: Call;
  let bucket: UploadStore;
  beforeEach(async () => {
    server = await startS3Server();
    site = await openContentSite(dialectCase, { ...server.env, DATA_DIR: dialectCase.location().dataDir });
    author = (await site.as('author')).call;
    const { UPLOADS_S3_BUCKET, UPLOADS_S3_ENDPOINT } = server.env;
    bucket = createUploadBucket(
      { bucket: UPLOADS_S3_BUCKET, endpoint: UPLOADS_S3_ENDPOINT, region: 'us-east-1' },
      { log: silentLog },
    );
  });
  afterEach(async () => {
    await site.host.stop();
    await bucket.close();
    await server.stop();
  });

  const upload = (name: string, bytes: Uint8Array = png, type = 'image/png'): Promise<Answer> =>
    author('/media', {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` },
    });
  const pathOf = ({ body }: Answer): string => new URL(body.source_url).pathname;
  const fileOf = (path: string): string => path.replace('/uploads/', '');

  it('are stored, served and deleted there, and nothing in the data folder', async () => {
    const [first, second] = [await upload('cat.png'), await upload('cat.png')];
    const path = pathOf(first);
    expect(path).to.match(/^\/uploads\/2026\/01\/cat-[0-9a-f]{16}\.png$/);
    expect(pathOf(second)).not.to.equal(path);
    expect(await bucket.has(fileOf(path))).to.equal(true);
    expect(existsSync(join(dialectCase.location().dataDir, 'uploads'))).to.equal(false);
    expect(Buffer.from((await site.host.content.media.read(first.body.id)) ?? []).equals(png)).to.equal(true);

    const whole = await site.host.fetch(path);
    expect([
      whole.status,
      ...['content-type', 'content-length', 'x-content-type-options', 'cache-control', 'content-disposition'].map(
        (name) => whole.headers.get(name),
      ),
    ]).to.deep.equal([200, 'image/png', String(png.length), 'nosniff', 'public, max-age=86400', null]);
    expect(Buffer.from(await whole.arrayBuffer()).equals(png)).to.equal(true);
    const head = await site.host.fetch(path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, String(png.length)]);
    const part = await site.host.fetch(path, { headers: { range: 'bytes=1-3' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).to.deep.equal([
      206,
      `bytes 1-3/${png.length}`,
      'PNG',
    ]);
    const none = await site.host.fetch(path, { headers: { range: `bytes=${png.length + 1}-` } });
    expect([none.status, await none.text()]).to.deep.equal([416, '']);
    const known = { 'if-none-match': whole.headers.get('etag') ?? '' };
    const same = await site.host.fetch(path, { headers: known });
    expect([same.status, await same.text()]).to.deep.equal([304, '']);

    await author(`/media/${first.body.id}?force=true`, { method: 'DELETE' });
    await until('the deletion of the file', async () => !(await bucket.has(fileOf(path))));
    expect((await site.host.fetch(path)).status).to.equal(404);
    expect((await site.host.fetch(pathOf(second))).status).to.equal(200);
  });

  it('are downloaded if browsers could run them, and not found outside the paths of uploads', async () => {
    const text = await site.host.fetch(pathOf(await upload('t.csv', Buffer.from('a,b\n'), 'text/csv')));
    expect([
      await text.text(),
      ...['content-type', 'content-disposition', 'content-security-policy'].map((name) => text.headers.get(name)),
    ]).to.deep.equal(['a,b\n', 'text/csv; charset=utf-8', 'attachment', "default-src 'none'; sandbox"]);
    for (const wrong of [
      '/uploads/2026/01/none.png',
      '/uploads/2026/01/',
      '/uploads/private/2026/01/x.png',
      '/uploads/x',
    ])
      expect((await site.host.fetch(wrong)).status, wrong).to.equal(404);
  });

  it('are private there too, also when they become so', async () => {
    const { media } = site.host.content;
    const owner = await site.as('author');
    const stored = await media.save({ bytes: png, name: 'own.png', isPrivate: true, authorId: owner.user.id });
    expect(stored.file).to.match(/^private\/2026\/01\/[0-9a-f]{32}\.png$/);
    expect((await site.host.fetch(new URL(stored.url).pathname)).status).to.equal(404);
    expect((await site.host.fetch(`/uploads/${stored.file}`)).status).to.equal(404);

    const open = await media.save({ bytes: png, name: 'open.png' });
    expect((await site.host.fetch(new URL(open.url).pathname)).status).to.equal(200);
    const hidden = await media.makePrivate(open.id);
    expect([await bucket.has(open.file), await bucket.has(hidden?.file ?? '')]).to.deep.equal([false, true]);
    expect((await site.host.fetch(new URL(open.url).pathname)).status).to.equal(404);
    expect(await bucket.move(open.file, hidden?.file ?? '')).to.equal(true);
    expect(Buffer.from((await media.read(open.id)) ?? []).equals(png)).to.equal(true);
  });

  it('are reported by doctor if they are missing, and so is a bucket that does not exist', async () => {
    const { body } = await upload('cat.png');
    await site.as('administrator');
    const uploads = async (): Promise<string> => {
      const { out, err } = await site.host.cli('doctor');
      return `${out}${err}`.split('\n').find((line) => line.includes('uploads')) ?? '';
    };
    expect(await uploads()).to.contain('complete');
    await bucket.remove(body.media_details.file);
    expect(await uploads()).to.contain(`1 file of the media library is missing: ${body.media_details.file}.`);
    const lost = createUploadBucket(
      { bucket: 'no-such-bucket', endpoint: server.env.UPLOADS_S3_ENDPOINT, region: 'us-east-1' },
      { log: silentLog },
    );
    const failure = await lost.check().catch((error: unknown) => String(error));
    expect(failure).to.contain('The bucket no-such-bucket cannot be reached');
    await lost.close();
  });

  it('are refused while the store does not respond, with the error in the log', async () => {
    const path = pathOf(await upload('cat.png'));
    await server.stop();
    const refused = await upload('dog.png');
    expect([refused.status, refused.body.code]).to.deep.equal([500, 'rest_upload_failed']);
    expect((await site.host.fetch(path)).status).to.equal(500);
    server = await startS3Server();
  });
});
