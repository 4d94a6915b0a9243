import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import type { RestError } from '#plugin-api';
import { readMultipart } from '../../host/content/media/multipart.ts';
import { readBody } from '../../plugins/svc/modules/ai-forms/public/read-body.ts';

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

describe('text of a form with files that cannot be stored', () => {
  const body = (name: string, value: string): Buffer =>
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n--b--\r\n`);
  const refused = (reading: Promise<unknown>): Promise<unknown> =>
    reading.then(
      () => 'read',
      ({ status, data }: RestError) => [status, (data as { params: unknown }).params],
    );

  it('is refused with the name of its field, by uploads and by AI forms', async () => {
    for (const [name, shown] of [
      ['title', 'title'],
      ['values[topic]', 'topic'],
      ['values[extras][]', 'extras'],
    ] as const) {
      const sentence = (field: string): unknown => [400, { [field]: `${field} must not contain NUL characters.` }];
      const bytes = body(name, 'a\0b');
      expect(await refused(readMultipart(bytes, headers, limits))).to.deep.equal(sentence(name));
      expect(await refused(readBody({ body: bytes, headers } as never))).to.deep.equal(sentence(shown));
      expect(await refused(readBody({ body: body(name, 'a'), headers } as never))).to.equal('read');
    }
  });

  it('is refused where its bytes are not UTF-8, unless the part names another charset', async () => {
    const part = (value: Uint8Array, charset = ''): Buffer =>
      Buffer.concat([
        Buffer.from(`--b\r\nContent-Disposition: form-data; name="title"${charset}\r\n\r\n`),
        value,
        Buffer.from('\r\n--b--\r\n'),
      ]);
    for (const broken of [[0xff], [0x61, 0xed, 0xa0, 0x80], [0xc3]]) {
      const sentence = [400, { title: 'title must be valid UTF-8.' }];
      expect(await refused(readMultipart(part(Buffer.from(broken)), headers, limits))).to.deep.equal(sentence);
      expect(await refused(readBody({ headers, body: part(Buffer.from(broken)) } as never))).to.deep.equal(sentence);
    }
    for (const [bytes, charset, text] of [
      [Buffer.from('ä 💥 \ufffd'), '', 'ä 💥 \ufffd'],
      [Buffer.from('ä'), '\r\nContent-Type: text/plain; charset=utf-8', 'ä'],
      [Buffer.from('中'), '\r\nContent-Type: text/plain; charset=utf-8', '中'],
      [Buffer.from([0xe4]), '\r\nContent-Type: text/plain; charset=iso-8859-1', 'ä'],
    ] as const)
      expect((await readMultipart(part(bytes, charset), headers, limits)).fields).to.deep.equal([['title', text]]);
  });
});
