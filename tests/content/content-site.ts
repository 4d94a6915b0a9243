import { createTestHost, type TestHost } from '#testing';
import type { User } from '#plugin-api';
import { createApplicationPasswords } from '../../host/users/application-passwords.ts';
import type { DialectCase } from '../helpers/dialects.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- bodies are compared, not typed.
  readonly body: any;
}

export interface CallInit {
  readonly method?: string;
  readonly json?: unknown;
  readonly body?: Uint8Array | FormData;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls below `/wp-json/wp/v2`. */
export type Call = (path: string, init?: CallInit) => Promise<Answer>;

export interface ContentSite {
  readonly host: TestHost;
  /** A visitor. */
  readonly call: Call;
  /** A new user of the role, and what calls as them. */
  as(role: string): Promise<{ readonly user: User; readonly call: Call }>;
}

/** A whole host on the running test's database. */
export async function openContentSite(
  { location }: Pick<DialectCase, 'location'>,
  env: Readonly<Record<string, string>> = {},
): Promise<ContentSite> {
  const { databaseUrl, dataDir } = location();
  const host = await createTestHost({ database: databaseUrl ?? dataDir, env });
  const passwords = createApplicationPasswords(host);
  const caller =
    (own: Readonly<Record<string, string>>): Call =>
    async (path, { method = 'GET', json, body, headers } = {}) => {
      const response = await host.fetch(`/wp-json/wp/v2${path}`, {
        method,
        headers: { ...own, ...headers, ...(json !== undefined && { 'content-type': 'application/json' }) },
        ...(json !== undefined ? { body: JSON.stringify(json) } : body && { body }),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? null : (JSON.parse(text) as unknown),
      };
    };
  let number = 0;
  return {
    host,
    call: caller({}),
    async as(role) {
      number += 1;
      const login = `${role}${number}`;
      const user = await host.users.create({
        login,
        email: `${login}@example.com`,
        password: 'correct horse battery',
        role,
      });
      const { password } = await passwords.create(user.id, 'test');
      return {
        user,
        call: caller({ authorization: `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}` }),
      };
    },
  };
}
