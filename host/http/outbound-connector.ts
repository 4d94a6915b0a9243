import type { LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { literalAddress, refusalOf } from './outbound-addresses.ts';
import { OutboundError, asOutboundError } from './outbound-errors.ts';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** What private networks a request may reach. */
export interface OutboundPolicy {
  readonly allowInternal: boolean;
  /** `host:port` that is reached even when it is private, and nothing beside it. */
  readonly allowHost: string | null;
}

/**
 * The addresses a host may be reached at.
 *
 * @throws OutboundError `outbound_dns`, or `outbound_refused` as soon as a single answer is forbidden: a name that points
 *   inside even once is not to be trusted with a second try.
 */
export async function checkedAddresses(
  hostname: string,
  internal: boolean,
  resolve: Resolve,
): Promise<readonly string[]> {
  const literal = literalAddress(hostname);
  const addresses = literal === null ? await resolveName(hostname, resolve) : [literal];
  for (const address of addresses) {
    const refusal = refusalOf(address, internal);
    if (refusal !== null) throw refused(hostname, address, refusal);
  }
  return addresses;
}

/** Whether the policy opens private networks for this host and port. */
export function reachesInternal(policy: OutboundPolicy, hostname: string, port: string): boolean {
  return policy.allowInternal || policy.allowHost === `${hostname}:${port}`;
}

export interface ConnectorDependencies {
  readonly policy: OutboundPolicy;
  readonly resolve: Resolve;
  /** undici's, handed in because undici is loaded at first use. */
  readonly buildConnector: typeof buildConnector;
  /** Milliseconds for connecting. */
  readonly timeout: number;
}

/**
 * A connector for undici that checks literal addresses, every answer of the resolver, and the peer it ended up with. The
 * socket gets the checked addresses instead of the name, so that a second look-up cannot answer differently.
 */
export function createGuardedConnector({
  policy,
  resolve,
  buildConnector: build,
  timeout,
}: ConnectorDependencies): buildConnector.connector {
  return (options, callback) => {
    const hostname = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const port = options.port || (options.protocol === 'https:' ? '443' : '80');
    const internal = reachesInternal(policy, options.hostname, port) || reachesInternal(policy, hostname, port);
    checkedAddresses(hostname, internal, resolve).then(
      (addresses) => {
        const connect = build({ lookup: pinned(addresses), timeout, allowH2: false } as buildConnector.BuildOptions);
        connect(options, (error, socket) => {
          if (error !== null) return callback(asOutboundError(error, hostname), null);
          const refusal = refusalOf(socket.remoteAddress ?? '', internal);
          if (refusal === null) return callback(null, socket);
          socket.destroy();
          callback(refused(hostname, socket.remoteAddress ?? 'unknown', refusal), null);
        });
      },
      (error: unknown) => callback(asOutboundError(error, hostname), null),
    );
  };
}

async function resolveName(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  const addresses = await resolve(hostname).catch((error: unknown) => {
    throw new OutboundError('outbound_dns', `The name ${hostname} cannot be resolved.`, { cause: error });
  });
  if (addresses.length === 0) throw new OutboundError('outbound_dns', `The name ${hostname} has no address.`);
  return addresses;
}

function refused(hostname: string, address: string, refusal: string): OutboundError {
  const subject = literalAddress(hostname) === null ? `${hostname} leads to ${address}, which` : hostname;
  return new OutboundError('outbound_refused', `${subject} ${refusal}.`);
}

function pinned(addresses: readonly string[]): LookupFunction {
  const answers = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = answers;
    if (options.all) callback(null, answers);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}
