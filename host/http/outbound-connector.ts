import type { LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { literalAddress, refusalReason, refusedName, withoutBrackets } from './outbound-addresses.ts';
import { OutboundError, asOutboundError } from './outbound-errors.ts';
import { openTunnel, type FindProxy } from './egress-proxy.ts';

/** Resolves all addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** All addresses of a name, as the system resolves it. */
export async function systemResolve(hostname: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises');
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/** Which private networks a request may reach. */
export interface OutboundPolicy {
  readonly allowInternal: boolean;
  /** `host:port` that is allowed even if private. */
  readonly allowHost: string | null;
}

const notPublic = 'The address is not public.';

/**
 * The allowed addresses of a host.
 *
 * @throws OutboundError `outbound_dns`, or `outbound_refused` if any of the addresses is forbidden: a name that
 *   resolves to an internal address is not trusted.
 */
export async function checkedAddresses(
  hostname: string,
  internal: boolean,
  resolve: Resolve,
): Promise<readonly string[]> {
  const named = refusedName(hostname);
  if (named !== null) throw new OutboundError('outbound_refused', `${hostname} ${named}.`, { message: notPublic });
  const literal = literalAddress(hostname);
  const addresses = literal === null ? await resolveName(hostname, resolve) : [literal];
  for (const address of addresses) {
    const refusal = refusalReason(address, internal);
    if (refusal !== null) throw refused(hostname, address, refusal);
  }
  return addresses;
}

/** Whether the policy allows private networks for this host and port. */
export function reachesInternal(policy: OutboundPolicy, hostname: string, port: string): boolean {
  return policy.allowInternal || policy.allowHost === `${hostname}:${port}`;
}

export interface ConnectorDependencies {
  readonly policy: OutboundPolicy;
  readonly resolve: Resolve;
  /** Which connections go through a proxy. Default: none. */
  readonly findProxy?: FindProxy | null;
  /** undici's; a parameter because undici loads on first use. */
  readonly buildConnector: typeof buildConnector;
  /** Connect timeout in milliseconds. */
  readonly timeout: number;
}

/** How a connection is made: to one of these addresses, or through a proxy. */
type Route = { readonly addresses: readonly string[] } | { readonly proxy: URL };

interface RouteTarget extends Pick<ConnectorDependencies, 'resolve' | 'findProxy'> {
  /** `http:` or `https:` */
  readonly protocol: string;
  readonly port: string;
  /** Whether private networks are allowed. */
  readonly internal: boolean;
}

/**
 * The way to a host that the guard allows. A proxy resolves names by itself, so behind one a name may have no address here; if it
 * has some, they are checked as without a proxy.
 *
 * @param hostname without brackets
 * @throws OutboundError `outbound_refused`, or `outbound_dns` without a proxy
 */
export async function findRoute(
  hostname: string,
  { protocol, port, internal, resolve, findProxy }: RouteTarget,
): Promise<Route> {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  const proxy = (await findProxy?.(`${protocol}//${host}:${port}`)) ?? null;
  if (proxy === null) return { addresses: await checkedAddresses(hostname, internal, resolve) };
  await checkedAddresses(hostname, internal, resolve).catch((error: unknown) => {
    if (!(error instanceof OutboundError && error.code === 'outbound_dns')) throw error;
  });
  return { proxy };
}

/**
 * A connector for undici that checks literal addresses, all resolved addresses, and the connected peer. The socket gets
 * the checked addresses instead of the name, so a second lookup cannot return others. Behind a proxy the peer is the proxy, which
 * gets the name.
 */
export function createGuardedConnector({
  policy,
  resolve,
  findProxy = null,
  buildConnector: build,
  timeout,
}: ConnectorDependencies): buildConnector.connector {
  return (options, callback) => {
    const hostname = withoutBrackets(options.hostname);
    const port = options.port || (options.protocol === 'https:' ? '443' : '80');
    const internal = reachesInternal(policy, options.hostname, port) || reachesInternal(policy, hostname, port);
    const fail = (error: unknown): void => callback(asOutboundError(error, hostname), null);
    const connectTo = (addresses: readonly string[]): void => {
      const connect = build({
        lookup: pinnedLookup(addresses),
        timeout,
        allowH2: false,
      } as buildConnector.BuildOptions);
      connect(options, (error, socket) => {
        if (error !== null) return fail(error);
        const refusal = refusalReason(socket.remoteAddress ?? '', internal);
        if (refusal === null) return callback(null, socket);
        socket.destroy();
        callback(refused(hostname, socket.remoteAddress ?? 'unknown', refusal), null);
      });
    };
    const connectThrough = (proxy: URL): void => {
      openTunnel(proxy, { hostname: options.hostname, port, timeout }).then((tunnel) => {
        if (options.protocol !== 'https:') return callback(null, tunnel);
        build({ timeout, allowH2: false })({ ...options, httpSocket: tunnel }, (error, socket) =>
          error === null ? callback(null, socket) : fail(error),
        );
      }, fail);
    };
    findRoute(hostname, { protocol: options.protocol, port, internal, resolve, findProxy }).then(
      (route) => ('proxy' in route ? connectThrough(route.proxy) : connectTo(route.addresses)),
      fail,
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

/** The error for a host at a forbidden address. */
export function refused(hostname: string, address: string, refusal: string): OutboundError {
  // What a name resolves to is not known to who sent it.
  return literalAddress(hostname) === null
    ? new OutboundError('outbound_refused', `${hostname} resolves to ${address}, which ${refusal}.`)
    : new OutboundError('outbound_refused', `${hostname} ${refusal}.`, { message: notPublic });
}

/** A lookup that always returns the checked addresses, so that a socket cannot resolve the name again. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const results = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return (_hostname, options, callback) => {
    const [first] = results;
    if (options.all) callback(null, results);
    else callback(null, first?.address ?? '', first?.family ?? 4);
  };
}
