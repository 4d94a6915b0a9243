import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { escapeHtml, isSameSecret, type Clock } from '#plugin-api';
import type { Config } from './start/config.ts';
import { listen } from './http/server.ts';

export interface RecoveryInit {
  readonly config: Pick<Config, 'host' | 'port' | 'siteUrl'>;
  readonly clock: Pick<Clock, 'after'>;
  /** The plugin that keeps the site from starting. */
  readonly plugin: string;
  readonly print: (line: string) => void;
}

export interface Recovery {
  /** Frees the port for the site. */
  close(): void;
  /** Sends the browser that asked to the site, which has started. */
  finish(): void;
}

/** Milliseconds that the address is valid. */
const lifetime = 900_000;
const path = '/recovery';

/**
 * Serves nothing but a page behind a printed address, which starts the site without the plugin. Resolves when that was asked;
 * the address is void from then on.
 *
 * @throws Error after 15 minutes. The caller ends the process, so that its supervisor tries to start it as usual.
 */
export async function offerRecovery({ config, clock, plugin, print }: RecoveryInit): Promise<Recovery> {
  const key = randomBytes(32).toString('base64url');
  const answer = { accept: (_response: ServerResponse): void => undefined, expire: (): void => undefined };
  const asked = new Promise<ServerResponse | null>((resolve) => {
    answer.accept = resolve;
    answer.expire = () => resolve(null);
  });
  let isUsed = false;
  const server = createServer((request, response) => {
    request.resume();
    if (isUsed || !hasKey(request, key)) return refuse(request, response);
    if (request.method !== 'POST') return send(response, { status: 200, html: page(plugin) });
    isUsed = true;
    answer.accept(response);
  });
  const { url } = await listen(server, config.port, config.host);
  print(`The plugin '${plugin}' ended the last two starts. Start the site without it, within 15 minutes:`);
  print(`${config.siteUrl ?? url}${path}?key=${key}`);
  const stopTimer = clock.after(lifetime, answer.expire);
  const response = await asked;
  stopTimer();
  const close = (): void => {
    server.close();
    server.closeIdleConnections();
  };
  if (response === null) {
    close();
    throw new Error('The address was not opened within 15 minutes. Start again.');
  }
  return {
    close,
    finish: () => void response.writeHead(303, { ...headers, Location: '/admin/plugins' }).end(),
  };
}

const headers = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  Connection: 'close',
};

function hasKey({ url = '' }: IncomingMessage, key: string): boolean {
  const [pathname, query] = url.split('?', 2);
  return pathname === path && isSameSecret(new URLSearchParams(query).get('key') ?? '', key);
}

/** Alive, but not ready. */
function refuse({ url }: IncomingMessage, response: ServerResponse): void {
  if (url === '/healthz') return send(response, { status: 200, html: document('OK', '') });
  response.setHeader('Retry-After', '60');
  send(response, { status: 503, html: document('Not available', '<p>Please try again later.</p>') });
}

function page(plugin: string): string {
  const slug = escapeHtml(plugin);
  return document(
    'The site did not start',
    `<p>The plugin <strong>${slug}</strong> ended the last two starts. Without it, the site starts as usual. The plugin stays
    active: deactivate or update it on the page Plugins before the next start.</p>
    <form method="post"><button>Start without ${slug}</button></form>`,
  );
}

function document(title: string, body: string): string {
  const meta = ['viewport" content="width=device-width', 'color-scheme" content="light dark'];
  const head = `${meta.map((each) => `<meta name="${each}">`).join('')}<title>${title}</title>`;
  return `<!doctype html><html lang="en">${head}<h1>${title}</h1>${body}</html>\n`;
}

function send(response: ServerResponse, { status, html }: { readonly status: number; readonly html: string }): void {
  response.writeHead(status, { ...headers, 'Content-Type': 'text/html; charset=utf-8' }).end(html);
}
