import type { IncomingMessage, ServerResponse } from 'node:http';
import { createLocalServer, type LocalServer } from '../local-server.ts';
import { hostileStyles, contentSecurityPolicy, readDemoPageOptions, demoPageHtml, demoStyles } from './demo-page.ts';

/**
 * A demo shop on a separate origin, so that a chatbot is seen as on any other site: `/?bot=7`, with `css=hostile` for
 * styles that try to break it and `csp=strict` or `csp=closed` for policies. For this machine alone; each process has its own.
 *
 * @param script answers the address of the widget's script.
 */
export function createDemoServer(script: () => string): LocalServer {
  return createLocalServer((request, response) => respond(request, response, script()));
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
