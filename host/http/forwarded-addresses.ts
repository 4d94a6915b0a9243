import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

/**
 * Writes the addresses of `X-Forwarded-For` without ports, brackets and quotes, so that a visitor whose port changes with each
 * connection stays one visitor to limits, bans, logs and anonymizing. What is no address, such as `unknown`, counts as the
 * address of the connection. Express then picks the one that the trusted proxies vouch for.
 */
export function readForwardedAddresses(request: Pick<IncomingMessage, 'headers' | 'socket'>): void {
  const given = request.headers['x-forwarded-for'];
  if (given === undefined) return;
  const peer = request.socket.remoteAddress ?? '';
  request.headers['x-forwarded-for'] = [given]
    .flat()
    .flatMap((list) => list.split(','))
    .map((element) => addressOf(element) ?? peer)
    .join(', ');
}

/** `192.0.2.1:80`, `[2001:db8::1]:443`, `"[2001:db8::1]"`, or an address alone. Null: something else. */
function addressOf(element: string): string | null {
  const text = element.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, plain = text] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d+)?$/.exec(text) ?? [];
  const address = bracketed ?? plain;
  return ipaddr.isValid(address) && /^[\d.]{7,}$|:/.test(address) ? ipaddr.process(address).toString() : null;
}
