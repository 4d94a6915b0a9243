import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { isLoopback, withoutBrackets } from './outbound-addresses.ts';
import { OutboundError, asOutboundError } from './outbound-errors.ts';

/** The proxy that connections of a URL go through, as `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say; null: none. */
export type FindProxy = (url: string) => Promise<URL | null>;

/** The proxies of the environment, read at each connection. A service on the same machine is never behind one. */
export const findProxyInEnvironment: FindProxy = async (url) => {
  if (isLoopback(new URL(url).hostname)) return null;
  const { getProxyForUrl } = await import('proxy-from-env');
  const found = getProxyForUrl(url);
  return found === '' ? null : new URL(found);
};

export interface TunnelTarget {
  /** A name, or an address in brackets if it is IPv6. */
  readonly hostname: string;
  readonly port: string;
  /** Milliseconds until the tunnel must be open. */
  readonly timeout: number;
}

/**
 * Opens a tunnel by the method CONNECT. The proxy gets the name, which its own rules are about, and resolves it.
 *
 * @throws OutboundError `outbound_connect`, `outbound_tls`, `outbound_dns` or `outbound_timeout`, with the proxy's address and
 *   never its password
 */
export function openTunnel(proxy: URL, { hostname, port, timeout }: TunnelTarget): Promise<Socket> {
  const authority = `${hostname}:${port}`;
  const request = (proxy.protocol === 'https:' ? requestHttps : requestHttp)({
    hostname: withoutBrackets(proxy.hostname),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...credentials(proxy) },
    agent: false,
    signal: AbortSignal.timeout(timeout),
  });
  return new Promise((resolve, reject) => {
    request.once('connect', ({ statusCode }, socket, head) => {
      if (statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        return resolve(socket as Socket);
      }
      socket.destroy();
      reject(refusedTunnel(proxy, authority, statusCode ?? 0));
    });
    request.once('error', (error) => reject(failedTunnel(proxy, authority, { error, timeout })));
    request.end();
  });
}

function credentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const encoded = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return { 'proxy-authorization': ['Basic', encoded].join(' ') };
}

function refusedTunnel({ host }: URL, authority: string, status: number): OutboundError {
  return new OutboundError('outbound_connect', refusalSentence(host, authority, status));
}

function refusalSentence(host: string, authority: string, status: number): string {
  if (status === 407)
    return `The proxy ${host} asks for a user name and a password (status 407). Put them into its address in the environment.`;
  if (status === 403)
    return `The proxy ${host} does not allow ${authority} (status 403). Allow it there, or name it in NO_PROXY.`;
  return `The proxy ${host} opened no connection to ${authority} (status ${status}).`;
}

function failedTunnel(
  { host }: URL,
  authority: string,
  { error, timeout }: { readonly error: Error; readonly timeout: number },
): OutboundError {
  if (error.name === 'TimeoutError' || (error.cause as { name?: unknown } | undefined)?.name === 'TimeoutError')
    return new OutboundError(
      'outbound_timeout',
      `The proxy ${host} opened no connection to ${authority} within ${timeout} ms.`,
      { cause: error },
    );
  const { code, reason } = asOutboundError(error, `the proxy ${host}`);
  return new OutboundError(code, reason, { cause: error });
}
