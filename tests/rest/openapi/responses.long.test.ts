import { expect } from 'chai';
import type { OpenApiDocument, OpenApiObject } from '#plugin-api';
import { createTestHost } from '#testing';
import type { TestHost } from '#testing';
import { createApplicationPasswords } from '../../../host/users/application-passwords.ts';
import { compile, lookUp } from './check-document.ts';

/** One pixel. */
const image = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

describe('responses of the host', () => {
  let host: TestHost;
  let authorization: string;
  before(async () => {
    host = await createTestHost();
    const { id } = await host.users.create({
      login: 'ada',
      email: 'ada@example.test',
      password: 'correct horse battery',
      role: 'administrator',
    });
    const { password } = await createApplicationPasswords(host).create(id, 'test');
    authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
  });
  after(() => host.stop());

  /** Sends the request and holds the answer against its operation: a status that is named there, and a body of its schema. */
  async function ask(
    documentOf: OpenApiDocument,
    [method, path]: readonly [string, string],
    init: { body?: unknown; headers?: Record<string, string>; as?: 'visitor' } = {},
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const place = path.split('?')[0]!;
    const template = Object.keys(documentOf.paths).find(
      (candidate) =>
        new RegExp(`^${candidate.replace(/\{\w+\}/g, '[^/]+')}$`).test(place) &&
        documentOf.paths[candidate]![method.toLowerCase()] !== undefined,
    );
    const operation = documentOf.paths[template ?? '']?.[method.toLowerCase()];
    expect(operation, `${method} ${path} is in the document`).to.be.an('object');
    const isBytes = init.body instanceof Buffer;
    const response = await fetch(documentOf.servers[0]!.url + path, {
      method,
      headers: {
        ...(init.as !== 'visitor' && { authorization }),
        ...(init.body !== undefined && !isBytes && { 'content-type': 'application/json' }),
        ...init.headers,
      },
      ...(init.body !== undefined && {
        body: isBytes ? new Uint8Array(init.body as Buffer) : JSON.stringify(init.body),
      }),
    });
    const body = (await response.json()) as Record<string, unknown>;
    const named = (operation!['responses'] as Record<string, OpenApiObject>)[String(response.status)];
    expect(named, `${method} ${path}: ${response.status} is named: ${JSON.stringify(body)}`).to.be.an('object');
    const answer = typeof named!['$ref'] === 'string' ? (lookUp(documentOf, named!['$ref']) as OpenApiObject) : named!;
    const { schema } = (answer['content'] as Record<string, { schema: unknown }>)['application/json']!;
    expect(
      compile(documentOf, schema)(body),
      `${method} ${path}: ${JSON.stringify(body)} fits ${JSON.stringify(schema)}`,
    ).to.equal(true);
    for (const name of Object.keys((answer['headers'] ?? {}) as object).filter((header) => header !== 'Link'))
      expect(response.headers.has(name), `${method} ${path}: ${name}`).to.equal(true);
    return { status: response.status, body };
  }

  it('about posts is what their document says', async () => {
    const wp = (await host.rest.openapi('wp/v2'))!;
    const made = await ask(wp, ['POST', '/posts'], { body: { title: 'First', content: 'Text', status: 'publish' } });
    expect(made.status).to.equal(201);
    const one = `/posts/${String(made.body['id'])}`;
    const requests: [readonly [string, string], Parameters<typeof ask>[2]][] = [
      [['GET', '/posts'], {}],
      [['GET', '/posts?context=edit'], {}],
      [['GET', '/posts'], { as: 'visitor' }],
      [['GET', '/posts?per_page=0'], {}],
      [['GET', one], {}],
      [['GET', `${one}?context=edit`], {}],
      [['GET', '/posts/999'], {}],
      [['PUT', one], { body: { title: 'Second' } }],
      [['POST', one], { body: { title: 'Third' }, as: 'visitor' }],
      [['POST', '/posts'], { as: 'visitor', body: { title: 'x' } }],
      [['GET', `${one}/revisions`], {}],
      [['DELETE', one], {}],
      [['DELETE', `${one}?force=true`], {}],
      [['GET', '/types'], {}],
      [['GET', '/types/post'], {}],
      [['GET', '/types/none'], {}],
      [['GET', '/statuses'], {}],
      [['GET', '/statuses/publish'], {}],
    ];
    for (const [request, init] of requests) await ask(wp, request, init);
  });

  it('about media is what their document says', async () => {
    const wp = (await host.rest.openapi('wp/v2'))!;
    const upload = await ask(wp, ['POST', '/media'], {
      body: image,
      headers: { 'content-type': 'image/gif', 'content-disposition': 'attachment; filename="dot.gif"' },
    });
    expect(upload.status).to.equal(201);
    await ask(wp, ['GET', `/media/${String(upload.body['id'])}`]);
    await ask(wp, ['GET', '/media']);
    await ask(wp, ['POST', '/media'], { body: image, headers: { 'content-type': 'image/gif' } });
    await ask(wp, ['DELETE', `/media/${String(upload.body['id'])}?force=true`]);
    const { content } = wp.paths['/media']!['post']!['requestBody'] as {
      content: Record<string, { schema: { properties?: object } }>;
    };
    expect(Object.keys(content)).to.deep.equal(['multipart/form-data', '*/*']);
    expect(content['multipart/form-data']!.schema.properties).to.have.property('file');
  });

  it('about users, their passwords and settings is what their document says', async () => {
    const wp = (await host.rest.openapi('wp/v2'))!;
    const made = await ask(wp, ['POST', '/users'], {
      body: { username: 'sam', email: 'sam@example.test', password: 'correct horse battery' },
    });
    const one = `/users/${String(made.body['id'])}`;
    for (const path of [
      '/users',
      '/users/me',
      '/users/me?context=edit',
      one,
      '/users/999',
      '/settings',
      '/users/me/application-passwords',
    ])
      await ask(wp, ['GET', path]);
    await ask(wp, ['GET', '/users/me'], { as: 'visitor' });
    await ask(wp, ['POST', '/users'], { body: {} });
    await ask(wp, ['PUT', one], { body: { name: 'Sam' } });
    await ask(wp, ['POST', '/settings'], { body: { title: 'New name' } });
    const password = await ask(wp, ['POST', `${one}/application-passwords`], { body: { name: 'phone' } });
    await ask(wp, ['GET', `${one}/application-passwords/${String(password.body['uuid'])}`]);
    await ask(wp, ['DELETE', `${one}/application-passwords/${String(password.body['uuid'])}`]);
    await ask(wp, ['DELETE', `${one}/application-passwords`]);
    await ask(wp, ['DELETE', `${one}?force=true&reassign=false`]);
  });

  it('about itself is what its documents say', async () => {
    const own = (await host.rest.openapi('host/v1'))!;
    for (const path of ['/', '/hooks', '/routes']) await ask(own, ['GET', path]);
    await ask(own, ['GET', '/routes'], { as: 'visitor' });
    const root = (await host.rest.openapi(''))!;
    await ask(root, ['GET', '/']);
    await ask(root, ['POST', '/batch/v1'], {
      body: { requests: [{ path: '/wp/v2/posts', body: { title: 'In a batch' } }, { path: '/nope' }] },
    });
    await ask(root, ['POST', '/batch/v1'], { body: {} });
  });
});
