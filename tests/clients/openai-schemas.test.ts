import { expect } from 'chai';
import type { OpenApiDocument } from '#plugin-api';
import { compile } from '../rest/openapi/check-document.ts';
import { startDoor, type Door } from './openai-door.ts';

type Content = { readonly content: { readonly 'application/json': { readonly schema: unknown } } };

describe('the OpenAPI document of the OpenAI-compatible routes', () => {
  let door: Door;
  let document: OpenApiDocument;
  before(async () => {
    door = await startDoor();
    document = (await door.host.rest.openapi('svc-openai/v1'))!;
  });
  after(() => door.host.stop());

  function responseOf(path: string, method: string, status: number): unknown {
    const found = (document.paths[path]![method]!['responses'] as Record<string, object>)[status]!;
    const name = String((found as { $ref?: string }).$ref ?? '').replace('#/components/responses/', '');
    const response = (name === '' ? found : document.components['responses']![name]) as Content;
    return response.content['application/json'].schema;
  }

  const hello = { role: 'user', content: 'Hello' };
  const tool = { type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } };
  for (const [path, bodies] of [
    ['/models', [undefined]],
    [
      '/chat/completions',
      [
        { model: 'openai/gpt-4.1', messages: [hello] },
        { model: 'openai/gpt-4.1', messages: [hello], tools: [tool] },
      ],
    ],
    [
      '/embeddings',
      [
        { model: 'openai/text-embedding-3-small', input: 'a' },
        { model: 'openai/text-embedding-3-small', input: 'a', encoding_format: 'base64' },
      ],
    ],
    ['/images/generations', [{ model: 'openai/gpt-image-1', prompt: 'A lighthouse' }]],
  ] as const)
    it(`describes what it sends: ${path}`, async () => {
      for (const body of bodies) {
        const { status, body: sent } = await door.send(path, body);
        expect(status, JSON.stringify(sent)).to.equal(200);
        const schema = responseOf(path, body === undefined ? 'get' : 'post', 200) as { $ref: string };
        expect(compile(document, schema)(sent), JSON.stringify(sent).slice(0, 500)).to.equal(true);
      }
    });

  it('describes errors in OpenAI’s shape', async () => {
    for (const [path, body, status] of [
      ['/chat/completions', { model: 'openai/gpt-4.1' }, 400],
      ['/chat/completions', { model: 'nope/x', messages: [hello] }, 404],
      ['/embeddings', { model: 'openai/x', input: '' }, 400],
      ['/images/generations', 'no JSON', 400],
    ] as const) {
      const { status: given, body: sent } = await door.send(path, body);
      expect(given, path).to.equal(status);
      const schema = responseOf(path, 'post', status === 404 ? 400 : status);
      expect(compile(document, schema)(sent), JSON.stringify(sent)).to.equal(true);
      expect(compile(document, schema)({ code: 'x', message: 'x', data: {} })).to.equal(false);
    }
  });

  it('names the members of messages', () => {
    const body = document.paths['/chat/completions']!['post']!['requestBody'] as Content;
    const validate = compile(document, body.content['application/json'].schema);
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    for (const [content, expected] of [
      ['Hello', true],
      [[{ type: 'text', text: 'Hello' }, image], true],
      [[{ text: 'without a type' }], false],
      [7, false],
    ] as const)
      expect(validate({ model: 'm', messages: [{ role: 'user', content }] })).to.equal(expected);
  });
});
