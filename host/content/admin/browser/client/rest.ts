/** A response of the REST API of the site. */
export interface RestReply<Body> {
  readonly body: Body;
  /** Of lists: pages in all. */
  readonly pages: number;
}

let nonce: Promise<string> | null = null;

/** A nonce for the signed-in user. It is fetched once, and again after it expired. */
function readNonce(): Promise<string> {
  return (nonce ??= fetch(dataOf('nonceUrl')).then(async (response) => {
    if (response.ok) return response.text();
    nonce = null;
    throw new Error(__('You are signed out. Sign in again in another tab.'));
  }));
}

/** A value of the page for its script: `data-<name>` of the form. */
export function dataOf(name: string): string {
  return document.querySelector<HTMLElement>('form[data-icons]')?.dataset[name] ?? '';
}

/** The root may have the address that visitors use: its path is enough. */
function restUrl(path: string): string {
  const { href } = document.querySelector<HTMLLinkElement>('link[rel="https://api.w.org/"]') ?? { href: '' };
  return new URL(href, location.href).pathname + path;
}

/** @throws Error with a sentence for the user. */
export async function callRest<Body>(path: string, init: RequestInit = {}): Promise<RestReply<Body>> {
  for (let attempt = 1; ; attempt += 1) {
    const headers = { 'X-WP-Nonce': await readNonce(), Accept: 'application/json', ...init.headers };
    const response = await fetch(restUrl(path), { ...init, headers }).catch(() => {
      throw new Error(__('The server did not respond. Try again.'));
    });
    const body = (await response.json().catch(() => ({}))) as Body & {
      readonly code?: string;
      readonly message?: string;
    };
    if (response.ok) return { body, pages: Number(response.headers.get('X-WP-TotalPages') ?? 1) };
    if (body.code !== 'rest_cookie_invalid_nonce' || attempt > 1)
      throw new Error(body.message ?? __('The server did not respond. Try again.'));
    nonce = null;
  }
}

/** Sends a file with its progress, 0 to 1. @throws Error with a sentence for the user. */
export async function sendFile<Body>(path: string, file: File, onProgress: (share: number) => void): Promise<Body> {
  const value = await readNonce();
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', restUrl(path));
    request.responseType = 'json';
    request.setRequestHeader('X-WP-Nonce', value);
    request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    request.setRequestHeader(
      'Content-Disposition',
      `attachment; filename*=UTF-8''${encodeURIComponent(file.name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)}`,
    );
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
    request.addEventListener('error', () => reject(new Error(__('The connection was lost. Try again.'))));
    request.addEventListener('load', () => {
      const body = request.response as (Body & { readonly message?: string }) | null;
      if (request.status === 201 && body) resolve(body);
      else reject(new Error(body?.message ?? __('The server refused the file.')));
    });
    request.send(file);
  });
}
