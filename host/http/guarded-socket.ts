import { connect, type Socket } from 'node:net';
import type { Clock } from '#plugin-api';
import { refusalReason } from './outbound-addresses.ts';
import { checkedAddresses, pinnedLookup, refused, systemResolve, type Resolve } from './outbound-connector.ts';
import { asOutboundError, OutboundError } from './outbound-errors.ts';

export interface SocketTarget {
  /** A name or an IP address, as an administrator typed it. */
  readonly hostname: string;
  readonly port: number;
  /** Milliseconds for name resolution and connection. */
  readonly timeout: number;
}

export interface GuardedSocketDependencies {
  readonly clock: Pick<Clock, 'after'>;
  /** Default: the system's. */
  readonly resolve?: Resolve;
}

/**
 * Opens TCP connections to servers that an administrator typed, for protocols other than HTTP. Private addresses are allowed,
 * cloud metadata and link-local addresses never (D35). All resolved addresses and the connected peer are checked, and the
 * socket gets the checked addresses instead of the name.
 *
 * @throws OutboundError `outbound_refused`, `outbound_dns`, `outbound_connect` or `outbound_timeout`.
 */
export function createGuardedSocket({
  clock,
  resolve = systemResolve,
}: GuardedSocketDependencies): (target: SocketTarget) => Promise<Socket> {
  return async ({ hostname, port, timeout }) => {
    const addresses = await checkedAddresses(hostname, true, resolve).catch((error: unknown) => {
      throw asOutboundError(error, hostname);
    });
    return new Promise((settle, reject) => {
      const socket = connect({ host: hostname, port, lookup: pinnedLookup(addresses), autoSelectFamily: true });
      const undoTimeout = clock.after(timeout, () => {
        socket.destroy(new OutboundError('outbound_timeout', `${hostname} did not respond within ${timeout} ms.`));
      });
      const fail = (error: unknown): void => {
        undoTimeout();
        reject(asOutboundError(error, hostname));
      };
      socket.once('error', fail);
      socket.once('connect', () => {
        socket.off('error', fail);
        undoTimeout();
        const refusal = refusalReason(socket.remoteAddress ?? '', true);
        if (refusal === null) return settle(socket);
        socket.destroy();
        reject(refused(hostname, socket.remoteAddress ?? 'unknown', refusal));
      });
    });
  };
}
