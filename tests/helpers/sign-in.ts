import type { TestHost } from '#testing';

/** An administrator's browser, with cookie and nonces, for pages without scripts. */
export interface Browser {
  get(path: string): Promise<string>;
  /** Submits an action of a page with its nonce. */
  post(
    path: string,
    action: string,
    fields: Readonly<Record<string, string>>,
  ): Promise<{ status: number; text: string }>;
}

/** Creates an administrator and signs in. */
export async function signIn(host: TestHost): Promise<Browser> {
  const password = 'correct horse battery staple';
  await host.users.create({ login: 'ada', email: 'ada@example.com', password, role: 'administrator' });
  const signedIn = await host.fetch('/admin/login', {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ login: 'ada', password }),
  });
  const cookie = signedIn.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  const get = async (path: string): Promise<string> =>
    (await host.fetch(`/admin/${path}`, { headers: { cookie } })).text();
  return {
    get,
    async post(path, action, fields) {
      const page = await get(path);
      const nonce = /name="_nonce" value="([^"]+)"/.exec(page.slice(page.indexOf('<main')))?.[1] ?? '';
      const response = await host.fetch(`/admin/${path}?action=${action}`, {
        method: 'POST',
        body: new URLSearchParams({ _nonce: nonce, ...fields }),
        headers: { cookie },
      });
      return { status: response.status, text: await response.text() };
    },
  };
}
