import { administrator } from './shop.ts';

export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly status: number;
}

/** A browser's part for clients made for one: while it is open the process's `fetch` keeps the cookies of one site. */
export interface BrowserSession {
  /** Every request so far. */
  readonly sent: readonly SentRequest[];
  /** The nonce that a page of the site would have been given. */
  restNonce(): Promise<string>;
  forgetCookies(): void;
  /** Gives `fetch` back. */
  close(): void;
}

/** Signs the administrator in by the form of the site. */
export async function openBrowserSession(site: string): Promise<BrowserSession> {
  const bare = globalThis.fetch;
  const cookies = new Map<string, string>();
  const sent: SentRequest[] = [];

  globalThis.fetch = async (input, init = {}) => {
    const request = new Request(input, init);
    if (new URL(request.url).origin === site && cookies.size > 0)
      request.headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await bare(request);
    sent.push({ method: request.method, url: request.url, status: response.status });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return response;
  };

  const response = await fetch(`${site}/admin/login`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ login: administrator.login, password: administrator.password }),
  });
  if (response.status !== 303)
    throw new Error(`Signing in was answered with ${response.status}: ${await response.text()}`);
  return {
    sent,
    restNonce: async () => (await fetch(`${site}/admin/rest-nonce`)).text(),
    forgetCookies: () => cookies.clear(),
    close: () => {
      globalThis.fetch = bare;
    },
  };
}
