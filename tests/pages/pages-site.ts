import { createTestHost, type TestHost, type TestHostInit } from '#testing';
import type { NewUser, User } from '#plugin-api';
import type { DialectCase } from '../helpers/dialects.ts';

export const password = 'correct horse battery';

export interface PageAnswer {
  readonly status: number;
  readonly location: string | null;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly html: string;
  /** The page as a reader sees it: without tags, blanks brought together. */
  readonly text: string;
}

/** A browser without JavaScript: cookies, and forms with the nonce of the page they stand on. */
export interface AdminBrowser {
  get(path: string): Promise<PageAnswer>;
  /** Opens the page and sends one of its forms; follows to the page after it. @param path the page, its address included. */
  submit(path: string, action: string, fields?: Readonly<Record<string, string>>): Promise<PageAnswer>;
  /** As `submit`, with the question of the form: the page that asks it. */
  ask(path: string, action: string, fields?: Readonly<Record<string, string>>): Promise<PageAnswer>;
  /** As `submit`, a form with files. */
  upload(path: string, action: string, parts: Readonly<Record<string, string | UploadPart>>): Promise<PageAnswer>;
  /** Sends a form's fields as they are, to see what the server makes of it; `redirect` is not followed. */
  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<PageAnswer>;
}

export interface UploadPart {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface PagesSite {
  readonly host: TestHost;
  create(user: Partial<NewUser> & { readonly login: string }): Promise<User>;
  /** A browser that is not signed in. */
  open(): AdminBrowser;
  signIn(login: string, withPassword?: string): Promise<AdminBrowser>;
}

export async function openPages(
  { location }: DialectCase,
  env: Readonly<Record<string, string>> = {},
  plugins: Pick<TestHostInit, 'plugins' | 'pluginDirs' | 'clock'> = {},
): Promise<PagesSite> {
  const { databaseUrl, dataDir } = location();
  const host = await createTestHost({ database: databaseUrl ?? dataDir, env, ...plugins });
  return {
    host,
    create: (user) => host.users.create({ email: `${user.login}@example.com`, password, ...user }),
    open: () => createBrowser(host),
    async signIn(login, withPassword = password) {
      const browser = createBrowser(host);
      const { status } = await browser.post('/admin/login', { login, password: withPassword });
      if (status !== 303) throw new Error(`The sign-in of ${login} answered ${status}.`);
      return browser;
    },
  };
}

/** A browser that is not signed in. */
export function createBrowser(host: TestHost): AdminBrowser {
  const cookies = new Map<string, string>();
  async function send(path: string, init: RequestInit = {}): Promise<PageAnswer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await host.fetch(path, {
      ...init,
      redirect: 'manual',
      headers: { accept: 'text/html', cookie, ...(init.headers as Record<string, string>) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=', 2);
      if (value === '' || /Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    const html = new TextDecoder().decode(bytes);
    return {
      status: response.status,
      headers: response.headers,
      bytes,
      location: response.headers.get('location'),
      html,
      text: readable(html),
    };
  }
  const post = (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<PageAnswer> =>
    send(path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const follow = (answer: PageAnswer): PageAnswer | Promise<PageAnswer> =>
    answer.location === null ? answer : send(answer.location);
  async function findForm(path: string, action: string): Promise<{ target: string; nonce: string; question: string }> {
    const { html } = await send(path);
    const target = `${path.split('?')[0]}?action=${action}`;
    const form = html
      .split('<form')
      .find(
        (part) => part.includes(`action="${target.replaceAll('=', '&#x3D;')}"`) || part.includes(`action="${target}"`),
      );
    const nonce = /name="_nonce" value="([^"]+)"/.exec(form ?? '')?.[1];
    if (nonce === undefined) throw new Error(`${path} has no form that posts to ${target}.`);
    const question = /name="_question" value="([^"]+)"/.exec(form?.split('</form>')[0] ?? '')?.[1] ?? '';
    return { target, nonce, question };
  }
  return {
    get: (path) => send(path),
    post,
    async submit(path, action, fields = {}) {
      const { target, nonce } = await findForm(path, action);
      return follow(await post(target, { ...fields, _nonce: nonce }));
    },
    async ask(path, action, fields = {}) {
      const { target, nonce, question } = await findForm(path, action);
      if (question === '') throw new Error(`The form of ${path} that posts to ${target} asks nothing.`);
      return follow(await post(target, { ...fields, _nonce: nonce, _question: question }));
    },
    async upload(path, action, parts) {
      const { target, nonce } = await findForm(path, action);
      const body = new FormData();
      for (const [name, part] of Object.entries<string | UploadPart>({ _nonce: nonce, ...parts })) {
        if (typeof part === 'string') body.append(name, part);
        else body.append(name, new Blob([part.bytes]), part.name);
      }
      return follow(await send(target, { method: 'POST', body }));
    },
  };
}

function readable(html: string): string {
  const main = html.slice(Math.max(0, html.indexOf('<main')));
  return main
    .replace(/<[^<>]+>/g, ' ')
    .replace(/&#x27;/g, "'")
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&#x3D;/g, '=')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();
}
