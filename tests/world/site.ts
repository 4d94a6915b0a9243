import { setTimeout } from 'node:timers/promises';
import { startSite, type RunningSite } from '../helpers/running-site.ts';

const administrator = {
  ADMIN_USER: 'ada',
  ADMIN_PASSWORD: 'nine tall ships at anchor 41',
  ADMIN_EMAIL: 'ada@example.com',
};
export const restKey = 'the REST key of a run over the world';

/** A site as its operator starts it, with an administrator's browser and an API key. */
export interface WorldSite extends RunningSite {
  /** Runs a command with `--json` and reads what it printed. */
  run(...words: string[]): Promise<unknown>;
  /** A request with the REST key. An object is sent as JSON. */
  call(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Points providers at an upstream of the run. Ends when the running site has seen it, which takes up to a second. */
  setProviders(addresses: Readonly<Record<string, string>>): Promise<void>;
  /** A request as the administrator, with cookie and nonce. */
  asAdministrator(path: string, init?: RequestInit): Promise<Response>;
  /** Header of a new application password of the administrator. */
  applicationPassword(): Promise<string>;
  /** Opens a page of the admin. */
  open(page: string): Promise<string>;
  /** Posts a form of an admin page with its nonce. A file is sent as one of a multipart form. */
  submit(page: string, action: string, fields: Readonly<Record<string, string | File>>): Promise<Submitted>;
}

export interface Submitted {
  readonly status: number;
  readonly text: string;
}

export async function startWorldSite(env: Readonly<Record<string, string>> = {}): Promise<WorldSite> {
  const site = await startSite({ ...administrator, LOG_LEVEL: 'error', ...env });
  const run = async (...words: string[]): Promise<unknown> => JSON.parse(await site.cli(...words, '--json')) as unknown;
  await site.cli('svc', 'key', 'set', restKey);
  const cookie = await signIn(site.url);
  const open = async (page: string): Promise<string> =>
    (await fetch(`${site.url}/admin/${page}`, { headers: { cookie } })).text();
  const nonce = (await (await fetch(`${site.url}/admin/rest-nonce`, { headers: { cookie } })).text()).trim();
  const asAdministrator = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { 'content-type': 'application/json', cookie, 'x-wp-nonce': nonce };
    return fetch(`${site.url}/wp-json/${path}`, { ...init, headers });
  };
  return {
    ...site,
    run,
    open,
    asAdministrator,
    async applicationPassword() {
      const body = JSON.stringify({ name: 'World' });
      const response = await asAdministrator('wp/v2/users/me/application-passwords', { method: 'POST', body });
      const { password } = (await response.json()) as { readonly password: string };
      return `Basic ${Buffer.from(`${administrator.ADMIN_USER}:${password}`).toString('base64')}`;
    },
    async setProviders(addresses) {
      for (const [id, address] of Object.entries(addresses))
        await site.cli(
          ...['svc', 'provider', 'set', id, '--api-key=sk-recorded', `--base-url=${address}`, '--model=any'],
          ...(id === 'azure' ? ['--api-version=v1'] : []),
        );
      await setTimeout(1_000);
    },
    call: (path, body, headers = {}) =>
      fetch(`${site.url}/wp-json/${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${restKey}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async submit(page, action, fields) {
      const nonce = nonceIn(await open(page));
      const [path = '', query] = page.split('?', 2);
      const target = new URLSearchParams(query);
      target.set('action', action);
      const form = new FormData();
      form.set('_nonce', nonce);
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      const withFile = Object.values(fields).some((value) => typeof value !== 'string');
      const response = await fetch(`${site.url}/admin/${path}?${target.toString()}`, {
        method: 'POST',
        headers: { cookie },
        redirect: 'manual',
        body: withFile ? form : new URLSearchParams({ _nonce: nonce, ...(fields as Readonly<Record<string, string>>) }),
      });
      return { status: response.status, text: await response.text() };
    },
  };
}

function nonceIn(html: string): string {
  return /name="_nonce" value="([^"]+)"/.exec(html.slice(html.indexOf('<main')))?.[1] ?? '';
}

async function signIn(url: string): Promise<string> {
  const response = await fetch(`${url}/admin/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ login: administrator.ADMIN_USER, password: administrator.ADMIN_PASSWORD }),
  });
  const cookies = response.headers.getSetCookie().map((line) => line.split(';')[0]);
  if (cookies.length === 0) throw new Error(`The sign-in was refused with status ${response.status}.`);
  return cookies.join('; ');
}
