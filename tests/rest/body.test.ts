import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { administrator, startRestSite } from './site.ts';
import type { RestSite } from './site.ts';

describe('request bodies', () => {
  let site: RestSite;
  before(async () => {
    site = await startRestSite({ currentUser: () => administrator });
    site.rest.registerRoute('test/v1', '/echo', {
      methods: ['GET', 'POST', 'PUT'],
      handler: ({ params, json, form }) => ({ params, json, form }),
    });
    site.rest.registerRoute('test/v1', '/small', {
      methods: ['POST'],
      bodyLimit: 100,
      handler: ({ params }) => params,
    });
  });
  after(() => site.stop());

  const path = '/wp-json/test/v1/echo';
  const codes: readonly [name: string, body: string | Uint8Array, code: string, reason?: number][] = [
    ['is cut off', '{"a":', 'rest_invalid_json', 4],
    ['holds a bare line break', '{"a":"\n"}', 'rest_invalid_json', 3],
    ['is not UTF-8', Uint8Array.from([0x22, 0xff, 0x22]), 'rest_invalid_json', 5],
    ['is nested 513 deep', '['.repeat(513) + ']'.repeat(513), 'rest_invalid_json', 1],
    ['opens a hundred thousand brackets', '['.repeat(100_000), 'rest_invalid_json', 1],
    ['holds half a surrogate pair', '{"a":"\\ud800"}', 'rest_invalid_param'],
    ['holds a NUL character', '{"a":{"b":"\\u0000"}}', 'rest_invalid_param'],
    ['names __proto__', '{"a":[{"__proto__":{"isAdmin":true}}]}', 'rest_invalid_param'],
    ['spells __proto__ with escapes', '{"_\\u005fproto__":{}}', 'rest_invalid_param'],
  ];
  for (const [name, body, code, reason] of codes) {
    it(`JSON that ${name} is a 400`, async () => {
      const response = await site.fetch(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const answer = (await response.json()) as { code: string; data: Record<string, unknown> };
      expect([response.status, answer.code]).to.deep.equal([400, code]);
      expect(answer.data['json_error_code']).to.equal(reason);
    });
  }

  const json = (body: string, route = path) => site.post(route, body);
  const members = (count: number): string =>
    `{${Array.from({ length: count }, (_, index) => `"k${String(index)}":1`).join(',')}}`;
  const refusals: readonly [name: string, largest: string, above: string, message: string][] = [
    ['members of the body', members(1_000), members(1_001), 'An object of the body has more than 1,000 members.'],
    [
      'members of an object inside a list',
      `{"a":[[${members(1_000)}]]}`,
      `{"a":[[${members(1_001)}]]}`,
      'An object of the body has more than 1,000 members.',
    ],
    [
      'elements of a list',
      `[${'1,'.repeat(99_999)}1]`,
      `[${'1,'.repeat(100_000)}1]`,
      'The body has more than 100,000 values.',
    ],
    [
      'members of all objects',
      `[${Array.from({ length: 100 }, () => members(999)).join(',')}]`,
      `[${Array.from({ length: 100 }, () => members(1_000)).join(',')}]`,
      'The body has more than 100,000 values.',
    ],
    [
      'elements that are empty',
      `[${'{},'.repeat(49_999)}{}]`,
      `[${'{},'.repeat(50_000)}{}]`,
      'The body has more than 100,000 values.',
    ],
  ];
  for (const [name, largest, above, message] of refusals) {
    it(`with too many ${name} are a 400, and one less is read`, async () => {
      expect((await json(largest)).status).to.equal(200);
      const refused = await json(above);
      expect(refused.status).to.equal(400);
      expect(refused.body).to.deep.include({ code: 'rest_invalid_param' });
      expect((refused.body['data'] as { params: unknown }).params).to.deep.equal({ body: message });
    });
  }

  it('may have commas, braces and quotes in strings', async () => {
    const text = '"{[,\\'.repeat(2_000);
    expect((await json(JSON.stringify({ text, [text.slice(0, 900)]: 1 }))).body['json']).to.have.property('text', text);
    expect((await json(`["${'\\'.repeat(500)}","${'{,'.repeat(60_000)}"]`)).status).to.equal(200);
  });

  it('far above their route’s limit for text are read only if images are in them', async () => {
    site.rest.registerRoute('test/v1', '/images', {
      methods: ['POST'],
      bodyLimit: 32 * 1_048_576,
      handler: ({ json: given }) => (given as string[]).length,
    });
    const route = '/wp-json/test/v1/images';
    const image = `data:image/png;base64,${'A'.repeat(12 * 1_048_576)}`;
    expect((await json(JSON.stringify([image, image, 'é']), route)).status).to.equal(200);
    const small = `data:image/png;base64,${'A'.repeat(60_000)}`;
    expect((await json(JSON.stringify(Array<string>(200).fill(small)), route)).status).to.equal(200);
    const many = JSON.stringify(Array<string>(400).fill(small));
    const length = 12 * 1_048_576;
    const others = [`data:${'A'.repeat(length)}`, image.replace('A', 'é'), image.replace('A', '\\n'), `data:,${image}`];
    for (const body of [many, ...others.map((text) => JSON.stringify([text]))])
      expect((await json(body, route)).status, body.slice(0, 40)).to.equal(413);
    const refused = await json(JSON.stringify([image.replace('data:', 'text:')]), route);
    expect([refused.status, refused.body['code'], refused.body['message']]).to.deep.equal([
      413,
      'rest_body_too_large',
      'The request body is too large. Send at most 10485760 bytes besides images as data: URLs.',
    ]);
  });

  it('with files may be larger than JSON and forms, where the route says so', async () => {
    site.rest.registerRoute('test/v1', '/files', {
      methods: ['POST'],
      bodyLimit: 13 * 1_048_576,
      parsedBodyLimit: 262_144,
      handler: ({ body }) => body.length,
    });
    site.rest.registerRoute('test/v1', '/large', {
      methods: ['POST'],
      bodyLimit: 13 * 1_048_576,
      handler: ({ body }) => body.length,
    });
    const send = async (route: string, type: string, length: number): Promise<number> =>
      (
        await site.fetch(`/wp-json/test/v1${route}`, {
          method: 'POST',
          headers: { 'content-type': type },
          body: type === 'application/json' ? `"${'a'.repeat(length - 2)}"` : `a=${'a'.repeat(length - 2)}`,
        })
      ).status;
    const form = 'application/x-www-form-urlencoded';
    expect(await send('/files', 'multipart/form-data; boundary=x', 13 * 1_048_576)).to.equal(200);
    for (const type of ['application/json', form]) {
      expect(await send('/files', type, 262_144)).to.equal(200);
      expect(await send('/files', type, 262_145)).to.equal(413);
    }
    expect(await send('/large', 'application/json', 2 * 1_048_576)).to.equal(200);
    expect(await send('/large', form, 1_048_576)).to.equal(200);
    expect(await send('/large', form, 1_048_577)).to.equal(413);
  });

  it('with a content encoding are a 415', async () => {
    const response = await site.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync('{"a":1}'),
    });
    expect([response.status, response.headers.get('accept-encoding'), await response.json()]).to.deep.equal([
      415,
      'identity',
      {
        code: 'rest_unsupported_content_encoding',
        message: 'The request body has the content encoding gzip. Send it without one.',
        data: { status: 415 },
      },
    ]);
    expect((await site.post(path, { a: 1 }, { 'content-encoding': 'identity' })).status).to.equal(200);
  });

  it('nested 512 deep are read', async () => {
    expect((await site.post(path, '['.repeat(512) + ']'.repeat(512))).status).to.equal(200);
  });

  it('may use the names of inherited members', async () => {
    const body = { constructor: 'Bob', toString: '1', hasOwnProperty: '2' };
    expect((await site.post(path, body)).body['params']).to.deep.equal(body);
  });

  it('of 1 MB are read, and one byte more is 413', async () => {
    const fits = JSON.stringify({ a: 'x'.repeat(1_048_576 - 8) });
    expect((await site.post(path, fits)).status).to.equal(200);
    const answer = await site.post(path, `${fits} `);
    expect(answer.status).to.equal(413);
    expect(answer.body).to.include({ code: 'rest_body_too_large' });
  });

  it('far over the limit get 413 although they are not read', async () => {
    expect((await site.post(path, 'x'.repeat(8_000_000))).status).to.equal(413);
  });

  it('without an announced length are cut off at the limit', async () => {
    const stream = new Blob(['"', 'x'.repeat(50), 'x'.repeat(500_000), '"']).stream();
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit;
    const response = await site.fetch('/wp-json/test/v1/small', init);
    expect(response.status).to.equal(413);
  });

  it('with a limit of the route’s own are refused by it', async () => {
    expect((await site.post('/wp-json/test/v1/small', { a: 'x'.repeat(200) })).body).to.deep.include({
      data: { status: 413, limit: 100 },
    });
  });

  it('that are not read leave the connection usable for the next request', async () => {
    const port = Number(new URL(site.url).port);
    const request = (route: string, body: string): string =>
      `POST /wp-json/test/v1/${route} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(request('small', `"${'x'.repeat(500)}"`) + request('small', '{"a":1}')),
      );
      socket.on('data', (chunk) => {
        received += chunk.toString();
        if (received.includes('{"a":1}')) socket.destroy();
      });
      socket.on('close', () => resolve(received));
    });
    expect(text).to.match(/ 413 [\s\S]* 200 /);
  });

  it('are read with their head, after it and in pieces, on one connection', async () => {
    const socket = connect(Number(new URL(site.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    const head =
      'POST /wp-json/test/v1/echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n';
    const rounds = [
      [`${head}{"a":1}`],
      [head, '{"a":2}'],
      [`${head}{"a"`, ':3}'],
      [`${head}{"a":4}${head}{"a":5}`],
      [`${head}{"a":6}`],
    ];
    for (const pieces of rounds) {
      for (const piece of pieces) {
        socket.write(piece);
        // In a packet of its own.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const last = pieces.at(-1)?.at(-2) ?? '';
      while (!received.includes(`"json":{"a":${last}}`)) await once(socket, 'data');
    }
    socket.destroy();
    expect([...received.matchAll(/"json":\{"a":(\d)\}/g)].map(([, number]) => number)).to.deep.equal([...'123456']);
    expect(received.match(/HTTP\/1\.1 200 OK/g)).to.have.length(6);
  });

  it('as forms are read with PUT too, and with nested names', async () => {
    const body = new URLSearchParams([
      ['a[b]', '1'],
      ['a[c][]', '2'],
      ['a[c][]', '3'],
    ]);
    const response = await site.fetch(path, { method: 'PUT', body });
    expect(await response.json()).to.deep.equal({
      params: { a: { b: '1', c: ['2', '3'] } },
      json: null,
      form: { a: { b: '1', c: ['2', '3'] } },
    });
  });

  it('of other types are left alone', async () => {
    const response = await site.fetch(path, { method: 'POST', body: '{"a":1}' });
    expect(await response.json()).to.deep.equal({ params: {}, json: null, form: {} });
  });

  it('win over the query, and the query over the path', async () => {
    site.rest.registerRoute('test/v1', '/merge/{a}/{b}/{c}', {
      methods: ['POST'],
      args: { d: { default: 'preset' } },
      handler: ({ params }) => params,
    });
    const answer = await site.post('/wp-json/test/v1/merge/url/url/url?a=query&b=query', { a: 'json' });
    expect(answer.body).to.deep.equal({ a: 'json', b: 'query', c: 'url', d: 'preset' });
  });
});
