import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { readMultipart } from '../../host/content/media/multipart.ts';

const headers = { 'content-type': 'multipart/form-data; boundary=b' };
const limits = { fileSize: 100, total: 1000 };
const refusal = (reading: Promise<unknown>): Promise<unknown> =>
  reading.then(
    () => 'read',
    (error: { code: string }) => error.code,
  );

describe('a form with files whose sender hangs up', () => {
  it('is refused in the middle of the form', async () => {
    const source = new PassThrough();
    const reading = refusal(readMultipart(source, headers, limits));
    source.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\nabc');
    source.destroy();
    expect(await reading).to.equal('rest_upload_unreadable');
  });

  it('is refused when it was over before anybody read', async () => {
    const source = new PassThrough();
    source.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await refusal(readMultipart(source, headers, limits))).to.equal('rest_upload_unreadable');
  });
});
