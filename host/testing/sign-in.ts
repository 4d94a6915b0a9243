import type { User } from '#plugin-api';
import type { TestHost } from './test-host.ts';

export interface TestPage {
  readonly status: number;
  readonly text: string;
}

/** The browser of a user who has signed in, for admin pages without scripts. */
export interface SignedIn {
  readonly user: User;
  /** The header `Cookie`. */
  readonly cookie: string;
  /** @param page its slug, with a query if it takes one: `order-helper?id=1`. */
  open(page: string): Promise<TestPage>;
  /** Posts an action of a page with the nonce of its form, and follows the redirect to the page that says what was done. */
  submit(page: string, action: string, fields?: Readonly<Record<string, string>>): Promise<TestPage>;
}

const password = 'orchid lantern gravel spoon';

/** Creates a user of the role, once for each role, and signs in. */
export async function signIn(host: Pick<TestHost, 'users' | 'fetch'>, role: string): Promise<SignedIn> {
  const login = `test-${role}`;
  const user =
    (await host.users.find(login)) ??
    (await host.users.create({ login, email: `${login}@example.com`, password, role }));
  const send = (path: string, init: RequestInit = {}) => host.fetch(`/admin/${path}`, { redirect: 'manual', ...init });
  const read = async (response: Response): Promise<TestPage> => ({
    status: response.status,
    text: await response.text(),
  });
  const cookie = cookiesOf(await send('login', { method: 'POST', body: new URLSearchParams({ login, password }) }));
  const open: SignedIn['open'] = async (page) => read(await send(page, { headers: { cookie } }));
  return {
    user,
    cookie,
    open,
    async submit(page, action, fields = {}) {
      const { text } = await open(page);
      const nonce = /name="_nonce" value="([^"]+)"/.exec(text.slice(text.indexOf('<main')))?.[1] ?? '';
      const [path = '', query] = page.split('?', 2);
      const target = new URLSearchParams(query);
      target.set('action', action);
      const body = new URLSearchParams({ _nonce: nonce, ...fields });
      const response = await send(`${path}?${target.toString()}`, { method: 'POST', body, headers: { cookie } });
      const location = response.headers.get('location');
      if (location === null) return read(response);
      // Its notice is in a cookie.
      const headers = { cookie: [cookie, cookiesOf(response)].filter(Boolean).join('; ') };
      return read(await host.fetch(location, { headers }));
    },
  };
}

function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}
