import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostileStyles, contentSecurityPolicy, readDemoPageOptions, demoPageHtml, demoStyles } from './demo-page.ts';

export interface DemoServer {
  /** Listens on a free loopback port; a second call answers the same origin. */
  start(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * A demo shop on a separate origin, so that a chatbot is seen as on any other site: `/?bot=7`, with `css=hostile` for
 * styles that try to break it and `csp=strict` or `csp=closed` for policies. For this machine alone; each process has its own.
 *
 * @param script answers the address of the widget's script.
 */
export function createDemoServer(script: () => string): DemoServer {
  let listening: Promise<Server> | null = null;
  const listen = async (): Promise<Server> => {
    const server = createServer((request, response) => {
      respond(request, response, script());
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    server.unref();
    return server;
  };
  return {
    async start() {
      listening ??= listen().catch((error: unknown) => {
        listening = null;
        throw error;
      });
      return `http://127.0.0.1:${String(((await listening).address() as AddressInfo).port)}`;
    },
    async stop() {
      const server = await listening;
      listening = null;
      if (!server) return;
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}

const files: Readonly<Record<string, string>> = { '/shop.css': demoStyles, '/hostile.css': hostileStyles };

function respond(request: IncomingMessage, response: ServerResponse, script: string): void {
  request.resume();
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
  const styles = files[pathname];
  const common = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-robots-tag': 'noindex' };
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return void response.writeHead(405, { ...common, allow: 'GET, HEAD' }).end();
  if (styles !== undefined)
    return void response.writeHead(200, { ...common, 'content-type': 'text/css; charset=utf-8' }).end(styles);
  if (pathname !== '/')
    return void response
      .writeHead(404, { ...common, 'content-type': 'text/plain; charset=utf-8' })
      .end('There is no such shelf.');
  const options = readDemoPageOptions(searchParams);
  const policy = contentSecurityPolicy(options, new URL(script).origin);
  response.writeHead(200, {
    ...common,
    'content-type': 'text/html; charset=utf-8',
    ...(policy !== null && { 'content-security-policy': policy }),
  });
  response.end(demoPageHtml(options, script));
}
