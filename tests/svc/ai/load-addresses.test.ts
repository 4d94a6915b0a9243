import { expect } from 'chai';
import { createImageAddresses } from '../../../plugins/svc/ai/image-addresses.ts';
import { loadAddresses } from '../../../plugins/svc/ai/load-addresses.ts';
import type { NativeRequest } from '../../../plugins/svc/providers/provider.ts';

const base64 = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const data = `data:image/gif;base64,${base64}`;
const url = 'https://pictures.example/a.gif';

describe('a request as it was sent, with images by address', () => {
  const load = async (format: NativeRequest['format'], body: NativeRequest['body']) => {
    const fetched: string[] = [];
    const images = createImageAddresses({
      fetch(address) {
        fetched.push(address);
        const bytes = Buffer.from(base64, 'base64');
        return Promise.resolve({
          status: 200,
          headers: {},
          body: bytes,
          url: address,
          text: () => '',
          json: () => null,
        });
      },
    });
    return { body: await loadAddresses({ format, body }, { images, signal: undefined }), fetched };
  };

  it('gets their data in each format, and keeps all other members', async () => {
    const detail = { detail: 'low' };
    const chat = (image: string) => ({
      seed: 1,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: image, ...detail } }], mood: null }],
    });
    expect(await load('chat', chat(url))).to.deep.equal({ body: chat(data), fetched: [url] });
    const responses = (image: string) => ({
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: image, ...detail }] }],
    });
    expect(await load('responses', responses(url))).to.deep.equal({ body: responses(data), fetched: [url] });
    const messages = (source: object) => {
      const image = { type: 'image', source, cache_control: { type: 'ephemeral' } };
      return { messages: [{ role: 'user', content: [image, { type: 'tool_result', content: [image] }] }] };
    };
    const source = { type: 'base64', media_type: 'image/gif', data: base64 };
    expect(await load('messages', messages({ type: 'url', url }))).to.deep.equal({
      body: messages(source),
      fetched: [url],
    });
  });

  it('is the same without any, also where a tool was called with something like one', async () => {
    const use = { type: 'tool_use', input: { type: 'image', source: { type: 'url', url } } };
    for (const body of [
      { messages: [{ role: 'assistant', content: [use] }] },
      { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }] },
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'QUJD' } }] }] },
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: data } }] }] },
    ]) {
      const loaded = await load('messages', body);
      expect(loaded.body).to.equal(body);
      expect(loaded.fetched).to.deep.equal([]);
    }
  });
});
