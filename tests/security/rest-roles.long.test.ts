import { expect } from 'chai';
import type { JsonSchema } from '#plugin-api';
import { createTestHost, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import { createRandom } from '../fuzz/random.ts';
import { validValue } from '../fuzz/values.ts';
import { postHead, sendRaw } from '../rest/raw-request.ts';

const roles = ['visitor', 'subscriber', 'contributor', 'author', 'editor'] as const;
type Role = (typeof roles)[number];

interface Target {
  readonly method: string;
  readonly route: string;
  readonly args: readonly { readonly name: string; readonly schema: JsonSchema; readonly required: boolean }[];
}

describe('REST by role', () => {
  let host: TestHost;
  let headers: Record<Role, Record<string, string>>;
  before(async function () {
    this.timeout(120_000);
    host = await createTestHost({ plugins: ['svc', 'sandbox', 'hello'], env: { LOG_LEVEL: 'error' } });
    const password = 'orchid lantern gravel spoon';
    const admin = await host.users.create({
      login: 'root',
      email: 'root@example.com',
      password,
      role: 'administrator',
    });
    await host.content.posts.create({ title: 'One', content: 'Text', status: 'publish', authorId: admin.id });
    const passwords = createApplicationPasswords(host);
    headers = { visitor: {} } as typeof headers;
    for (const role of roles.slice(1)) {
      const user = await host.users.create({ login: role, email: `${role}@example.com`, password, role });
      const { password: application } = await passwords.create(user.id, 'test');
      headers[role] = { authorization: `Basic ${Buffer.from(`${role}:${application}`).toString('base64')}` };
    }
  });
  after(() => host.stop());

  /** Every method of every route. */
  const targets = (): Target[] =>
    host.rest
      .describe()
      .flatMap(({ route, endpoints }) =>
        endpoints.flatMap(({ methods, args }) => methods.map((method) => ({ method, route, args }))),
      );

  /** What its schema accepts. */
  async function send({ method, route, args }: Target, role: Role): Promise<number> {
    // Names that are unique must differ by role.
    const random = createRandom(1 + roles.indexOf(role));
    const path = route.replace(/\(\?P<\w+>(?:[^()]|\([^()]*\))*\)/g, (part) => (part.includes('\\d') ? '1' : 'x'));
    const required = args.filter((argument) => argument.required && !route.includes(`<${argument.name}>`));
    const body = Object.fromEntries(required.map(({ name, schema }) => [name, validValue(schema, random)]));
    const query = method === 'GET' ? `?${new URLSearchParams(body as Record<string, string>).toString()}` : '';
    const response = await host.fetch(`/wp-json${path}${query}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers[role] },
      ...(method !== 'GET' && { body: JSON.stringify({ title: 'A', content: 'B', force: true, ...body }) }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** What each role may do besides the roles before it. A new route that is open to a role is listed here. */
  const allowed: Readonly<Record<Role, readonly string[]>> = {
    visitor: [
      'GET /',
      'POST /batch/v1',
      'GET /hello/v1/greet/(?P<name>[^/]+)',
      'GET /svc-widget/v1/chat.css',
      'GET /svc-widget/v1/chat.js',
      'GET /svc-widget/v1/form.css',
      'GET /svc-widget/v1/form.js',
      'GET /svc-widget/v1/widget.css',
      'GET /svc-widget/v1/widget.js',
      'POST /svc-widget/v1/images/mine',
      'GET /wp/v2/categories',
      'GET /wp/v2/categories/(?P<id>[\\d]+)',
      'GET /wp/v2/comments',
      'GET /wp/v2/media',
      'GET /wp/v2/pages',
      'GET /wp/v2/posts',
      'GET /wp/v2/posts/(?P<id>[\\d]+)',
      'GET /wp/v2/search',
      'GET /wp/v2/statuses',
      'GET /wp/v2/tags',
      'GET /wp/v2/taxonomies',
      'GET /wp/v2/types',
      'GET /wp/v2/users',
      'GET /wp/v2/users/(?P<id>\\d+)',
    ],
    subscriber: [
      ...['GET', 'POST', 'PUT', 'PATCH'].map((method) => `${method} /wp/v2/users/me`),
      // What an ability needs is checked when it runs.
      'GET /wp-abilities/v1/abilities',
      'GET /wp-abilities/v1/categories',
    ],
    contributor: ['POST /wp/v2/posts', 'POST /wp/v2/tags'],
    author: [],
    editor: [
      ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} /wp/v2/posts/(?P<id>[\\d]+)`),
      'POST /wp/v2/pages',
      'POST /wp/v2/categories',
      ...['POST', 'PUT', 'PATCH'].map((method) => `${method} /wp/v2/categories/(?P<id>[\\d]+)`),
    ],
  };
  /** The index and OpenAPI of each namespace are public. */
  const isIndex = (route: string): boolean => /^GET (?:\/[\w-]+(?:\/v\d)?)?(?:\/openapi\.json)?$/.test(route);

  for (const [index, role] of roles.entries())
    it(`opens to ${role}s what the role is for, of all methods of all routes`, async function () {
      this.timeout(120_000);
      const done: string[] = [];
      for (const target of targets())
        if ((await send(target, role)) < 400) done.push(`${target.method} ${target.route}`);
      const expected = roles.slice(0, index + 1).flatMap((lower) => allowed[lower]);
      expect(done.filter((route) => !isIndex(route))).to.have.members(expected);
    });

  it('reads no body of callers who may not write', async () => {
    const { id } = await host.content.posts.create({ title: 'Two', content: 'Text', status: 'publish' });
    const routes = ['posts', `posts/${String(id)}`, 'media', 'users', 'users/1', 'users/me', 'settings'];
    const passwords = ['users/1/application-passwords', 'users/1/application-passwords/x'];
    // The head alone is sent: a response shows that nothing else was awaited.
    const statusOf = async (route: string, length: number, given: Record<string, string>): Promise<string> => {
      const exchange = sendRaw(host.url, postHead(`/wp-json/wp/v2/${route}`, length, given));
      try {
        return (await exchange.until(/"status":/)).slice(9, 12);
      } finally {
        exchange.socket.destroy();
      }
    };
    for (const route of [...routes, ...passwords]) {
      expect(await statusOf(route, 60_000, headers.visitor), `visitor ${route}`).to.equal('401');
      if (route !== 'users/me')
        expect(await statusOf(route, 900_000, headers.subscriber), `subscriber ${route}`).to.equal('403');
    }
  });
});
