import type { Clock, NewUser, User } from '#plugin-api';
import { createTestHost, type TestHost } from '#testing';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import type { DialectCase } from '../helpers/dialects.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are compared, not typed.
  readonly body: any;
}

export type Call = (path: string, init?: { readonly method?: string; readonly json?: unknown }) => Promise<Answer>;

/** A whole host on the running test's database, and callers who sign in by an application password. */
export interface RoutesSite {
  readonly host: TestHost;
  /** Below `/wp-json`. Without a sign-in. */
  readonly call: Call;
  create(user: Partial<NewUser> & { readonly login: string }): Promise<User>;
  as(user: User): Promise<Call>;
  /** A caller with a session and its nonce, as a page of the site has them. */
  signedIn(user: User): Promise<Call>;
}

/** @param clock default: one that stands still. */
export async function openSite({ location }: DialectCase, clock?: Clock): Promise<RoutesSite> {
  const { databaseUrl, dataDir } = location();
  const host = await createTestHost({ database: databaseUrl ?? dataDir, ...(clock && { clock }) });
  const passwords = createApplicationPasswords(host);
  const password = 'correct horse battery';
  const caller =
    (headers: Record<string, string>): Call =>
    async (path, { method = 'GET', json } = {}) => {
      const response = await host.fetch(`/wp-json${path}`, {
        method,
        headers: { ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? null : (JSON.parse(text) as unknown),
      };
    };
  return {
    host,
    call: caller({}),
    create: (user) =>
      host.users.create({
        email: `${user.login.replace(/ /g, '.')}@example.com`,
        password,
        ...user,
      }),
    async signedIn({ login }) {
      const body = new URLSearchParams({ login, password });
      const opened = await host.fetch('/admin/login', { method: 'POST', body, redirect: 'manual' });
      const cookie = (opened.headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
      const nonce = await (await host.fetch('/admin/rest-nonce', { headers: { cookie } })).text();
      return caller({ cookie, 'x-wp-nonce': nonce });
    },
    async as({ id, login }) {
      const { password } = await passwords.create(id, 'test');
      return caller({ authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}` });
    },
  };
}
