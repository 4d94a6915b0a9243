import { expect } from 'chai';
import { schemaOf } from '../../conformance/image-upstream.ts';
import { png } from '../../contract/images-upstream.ts';
import { openSandbox, type OpenSandbox } from '../helpers/open-sandbox.ts';
import type { Fields } from '../../helpers/fields.ts';

describe('edits of images in the sandbox', () => {
  let sandbox: OpenSandbox;
  before(async () => {
    sandbox = await openSandbox();
  });
  after(() => sandbox.close());

  const square = png(10, { width: 4, height: 4 });
  async function edit(
    fields: Readonly<Record<string, string | Buffer>>,
    { path = '/openai/v1/images/edits', type = 'image/png' } = {},
  ): Promise<{ readonly status: number; readonly body: Fields }> {
    const form = new FormData();
    for (const [name, value] of Object.entries({
      model: 'gpt-image-1',
      prompt: 'Make it night',
      image: square,
      ...fields,
    })) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, new Blob([value as Uint8Array<ArrayBuffer>], { type }), `${name}.png`);
    }
    const response = await fetch(sandbox.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox' },
      body: form,
    });
    return { status: response.status, body: (await response.json()) as Fields };
  }

  it('answer as OpenAI does, another picture for another image', async () => {
    const { status, body } = await edit({ n: '2', size: '1024x1024' });
    expect([status, body['data'].length]).to.deep.equal([200, 2]);
    const valid = schemaOf('openai-images', 'ImagesResponse');
    expect(valid(body), JSON.stringify(valid.errors)).to.equal(true);
    const first = body['data'][0].b64_json as string;
    expect((await edit({ size: '1024x1024' })).body['data'][0].b64_json).to.equal(first);
    expect(
      (await edit({ size: '1024x1024', image: png(200, { width: 4, height: 4 }) })).body['data'][0].b64_json,
    ).not.to.equal(first);
  });

  it('are made at Azure’s two interfaces too', async () => {
    for (const path of [
      '/azure/openai/v1/images/edits',
      '/azure/openai/deployments/gpt-image-1/images/edits?api-version=2025-04-01-preview',
    ])
      expect((await edit({}, { path })).status, path).to.equal(200);
  });

  it('are refused as the real ones are: no image, a bad mask, a model that edits nothing', async () => {
    const cases: [Record<string, string | Buffer>, string, string][] = [
      [{ image: Buffer.from('hello') }, 'image', 'unsupported mimetype'],
      [{ image: 'hello' }, 'image', 'Missing required parameter'],
      [{ mask: png(0, { width: 8, height: 8 }) }, 'mask', 'mask size does not match image size'],
      [{ mask: Buffer.from('hello') }, 'mask', 'must be a PNG'],
      [{ model: 'dall-e-3' }, 'model', 'Invalid value'],
      [{ model: 'dall-e-2', image: png(1, { width: 4, height: 8 }) }, 'image', 'must be square'],
      [{ prompt: '' }, 'prompt', 'empty string'],
    ];
    for (const [fields, param, sentence] of cases) {
      const { status, body } = await edit(fields);
      expect([status, body['error'].param], sentence).to.deep.equal([400, param]);
      expect(body['error'].message).to.contain(sentence);
    }
    expect((await edit({ model: 'dall-e-2' })).status).to.equal(200);
  });

  it('look at the image Gemini is handed', async () => {
    const ask = async (data: string): Promise<{ readonly status: number; readonly body: Fields }> => {
      const contents = [
        { role: 'user', parts: [{ text: 'Make it night' }, { inlineData: { mimeType: 'image/png', data } }] },
      ];
      const response = await fetch(`${sandbox.url}/google/v1beta/models/gemini-2.5-flash-image:generateContent`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-goog-api-key': 'sandbox' },
        body: JSON.stringify({ contents, generationConfig: { responseModalities: ['IMAGE'] } }),
      });
      return { status: response.status, body: (await response.json()) as Fields };
    };
    const pictureOf = ({ body }: { readonly body: Fields }): string =>
      body['candidates'][0].content.parts[0].inlineData.data as string;
    const [one, same, other] = [
      await ask(square.toString('base64')),
      await ask(square.toString('base64')),
      await ask(png(99).toString('base64')),
    ];
    expect([one.status, pictureOf(one) === pictureOf(same), pictureOf(one) === pictureOf(other)]).to.deep.equal([
      200,
      true,
      false,
    ]);
    expect((await ask(Buffer.from('hello').toString('base64'))).status).to.equal(400);
  });
});
