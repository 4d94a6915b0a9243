import type { IncomingMessage } from 'node:http';
import type { Clock, Logger, OptionsApi } from '#plugin-api';
import { refusalReason } from './outbound-addresses.ts';

/** Headers that proxies add. */
const headers = ['x-forwarded-for', 'forwarded', 'x-forwarded-proto', 'x-forwarded-host'] as const;

const transient = 'undeclared_proxy';
/** Seconds: long enough to be read, and gone soon after the proxy is. */
const lifetime = 7 * 24 * 3600;

/** A proxy in front that `TRUST_PROXY` does not name. */
export interface UndeclaredProxy {
  readonly address: string;
  /** The header by which it was recognized. */
  readonly header: string;
  /** ISO 8601. */
  readonly seenAt: string;
}

interface Parts {
  readonly config: { readonly trustProxy: boolean | number | string };
  readonly options: Pick<OptionsApi, 'getTransient' | 'setTransient'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Notes the first request of this process that comes from a private address with the headers of a proxy, while `TRUST_PROXY` names
 * none: all visitors share the address of that proxy then, and the limits of each. A public address may add such headers to any
 * request, so it means nothing there. For all nodes: Site Health and `doctor` read it.
 */
export function createProxyWatch({ config, options, clock, log }: Parts): (request: IncomingMessage) => void {
  let isOver = config.trustProxy !== false;
  return (request) => {
    if (isOver) return;
    const header = headers.find((name) => request.headers[name] !== undefined);
    if (header === undefined) return;
    const address = request.socket.remoteAddress ?? '';
    if (refusalReason(address, false) === null) return;
    isOver = true;
    log.warn('Requests come through a proxy that TRUST_PROXY does not name', {
      event: 'proxy_undeclared',
      address,
      header,
    });
    const found: UndeclaredProxy = { address, header, seenAt: new Date(clock.now()).toISOString() };
    void options.setTransient(transient, found, lifetime).catch((error: unknown) => {
      log.warn('The proxy could not be noted', { event: 'proxy_not_noted', error });
    });
  };
}

/** The proxy that a node has noted; null: none, or `TRUST_PROXY` is set by now. */
export async function readUndeclaredProxy({
  config,
  options,
}: Pick<Parts, 'config' | 'options'>): Promise<UndeclaredProxy | null> {
  if (config.trustProxy !== false) return null;
  return (await options.getTransient<UndeclaredProxy>(transient)) || null;
}
