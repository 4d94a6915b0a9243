import type { buildConnector } from 'undici';
import {
  currentRequest,
  isUrl,
  lazyValue,
  readBytes,
  type Clock,
  type HttpApi,
  type Logger,
  type OutboundInit,
  type OutboundResponse,
} from '#plugin-api';
import { OutboundClients } from './outbound-clients.ts';
import { withoutBrackets } from './outbound-addresses.ts';
import {
  createGuardedConnector,
  findRoute,
  reachesInternal,
  systemResolve,
  type ConnectorDependencies,
  type OutboundPolicy,
  type Resolve,
} from './outbound-connector.ts';
import type { FindProxy } from './egress-proxy.ts';
import { OutboundError } from './outbound-errors.ts';
import { cancel, sendHop, type Cancellation } from './outbound-exchange.ts';

export interface OutboundDependencies {
  readonly clock: Pick<Clock, 'after'>;
  /** Default: the system resolver. */
  readonly resolve?: Resolve;
  /** Which connections go through a proxy. Default: none. */
  readonly findProxy?: FindProxy | null;
  /** User-Agent unless the caller sets one. */
  readonly userAgent?: string;
  /** Gets the reason of a failure within a request, whose caller only learns that the address could not be fetched. */
  readonly log?: Pick<Logger, 'info'>;
}

export interface Outbound extends HttpApi {
  /** Closes idle and active connections. */
  close(): Promise<void>;
}

const defaults = { timeout: 10_000, redirects: 5, maxBytes: 5 * 1024 * 1024 } as const;
/** Maximum number of policies that keep their connections; each allowed private endpoint has its own. */
const maxPolicies = 64;

/** The guarded fetch (see HttpApi). Connections are reused; undici loads at the first call. */
export function createOutbound({
  clock,
  resolve = systemResolve,
  findProxy = null,
  userAgent = 'svc-host',
  log,
}: OutboundDependencies): Outbound {
  const pools = new Map<string, LazyClients>();

  function clientsFor(policy: OutboundPolicy): LazyClients {
    const name = policy.allowInternal ? `internal ${policy.allowHost ?? ''}` : (policy.allowHost ?? '');
    const found = pools.get(name) ?? openLazily(openClients({ policy, resolve, findProxy }));
    if (pools.size > 1 || !pools.has(name)) remember(name, found);
    return found;
  }

  function remember(name: string, clients: LazyClients): void {
    // Reinserted as newest: the first entry of the map is the least recently used.
    pools.delete(name);
    pools.set(name, clients);
    const [oldest] = pools;
    if (pools.size <= maxPolicies || !oldest) return;
    pools.delete(oldest[0]);
    void oldest[1].opening.then((opened) => opened.close());
  }

  async function send(url: string, init: OutboundInit): Promise<OutboundResponse> {
    const target = parse(url);
    const { timeout = defaults.timeout, signal } = init;
    const cancellation: Cancellation = { reason: null, onCancel: null };
    const undo = clock.after(timeout, () =>
      cancel(
        cancellation,
        new OutboundError('outbound_timeout', `${target.host} did not respond within ${timeout} ms.`),
      ),
    );
    const undoSignal = signal && listen(signal, cancellation);
    try {
      const { opened, opening } = clientsFor(policyFrom(init));
      return await follow({
        clients: opened ?? (await opening),
        target,
        headers: withUserAgent(init.headers, userAgent),
        init,
        cancellation,
      });
    } catch (error) {
      logFailure(error, log);
      throw error;
    } finally {
      undo();
      undoSignal?.();
    }
  }

  return {
    async check(url, init = {}) {
      const target = parse(url);
      const { protocol, hostname } = target;
      const port = effectivePort(target);
      const internal = reachesInternal(policyFrom(init), hostname, port);
      await findRoute(withoutBrackets(hostname), { protocol, port, internal, resolve, findProxy });
    },
    fetch: (url, init = {}) => send(url, init),
    connector: ({ timeout = defaults.timeout, ...init } = {}) =>
      openConnector({ policy: policyFrom(init), resolve, findProxy, timeout }, log),
    async close() {
      const open = [...pools.values()];
      pools.clear();
      await Promise.all(open.map(async ({ opening }) => (await opening).destroy()));
    },
  };
}

/** A guarded connector that loads undici with its first connection. */
function openConnector(
  parts: Omit<ConnectorDependencies, 'buildConnector'>,
  log: OutboundDependencies['log'],
): buildConnector.connector {
  const opening = lazyValue(async () => {
    const { buildConnector: build } = await import('undici');
    return createGuardedConnector({ ...parts, buildConnector: build });
  });
  return (options, callback) => {
    opening().then(
      (connect) =>
        connect(options, (...[error, socket]) => {
          if (error === null) return callback(null, socket);
          logFailure(error, log);
          callback(error, null);
        }),
      (error: unknown) => callback(error as Error, null),
    );
  };
}

function logFailure(error: unknown, log: OutboundDependencies['log']): void {
  const id = currentRequest()?.requestId ?? '';
  if (id === '' || !(error instanceof OutboundError)) return;
  const { code, reason } = error;
  log?.info('Outbound request failed', { event: 'outbound_failed', request_id: id, code, reason });
}

/** Clients that open on first use. Later calls need not await them. */
interface LazyClients {
  readonly opening: Promise<OutboundClients>;
  opened: OutboundClients | null;
}

function openLazily(opening: Promise<OutboundClients>): LazyClients {
  const clients: LazyClients = { opening, opened: null };
  opening.then(
    (now) => (clients.opened = now),
    () => undefined,
  );
  return clients;
}

async function openClients(
  parts: Pick<ConnectorDependencies, 'policy' | 'resolve' | 'findProxy'>,
): Promise<OutboundClients> {
  const { Client, buildConnector } = await import('undici');
  return new OutboundClients({
    connect: createGuardedConnector({ ...parts, buildConnector, timeout: 10_000 }),
    Client,
  });
}

interface Exchange {
  readonly clients: OutboundClients;
  readonly target: URL;
  readonly headers: Record<string, string>;
  readonly init: OutboundInit;
  readonly cancellation: Cancellation;
}

/** Sends the request and follows redirects; the connector checks each hop. */
async function follow({
  clients,
  target: first,
  headers: given,
  init,
  cancellation,
}: Exchange): Promise<OutboundResponse> {
  const {
    method = 'GET',
    body = null,
    redirects = defaults.redirects,
    maxBytes = defaults.maxBytes,
    truncate = false,
  } = init;
  let target = first;
  let headers = given;
  for (let hop = 0; ; hop += 1) {
    const response = await sendHop({ clients, target, method, headers, body, maxBytes, truncate, cancellation });
    const next = redirectTarget(response, target, method);
    if (next === null) return response;
    if (hop >= redirects)
      throw new OutboundError('outbound_redirects', `${first.host} redirects more than ${redirects} times.`, {
        status: response.status,
      });
    if (next.origin !== target.origin) {
      if (init.sameOriginOnly) throw leavesOrigin(target, next, response.status);
      headers = withoutCustom(headers);
    }
    target = next;
  }
}

function leavesOrigin(from: URL, to: URL, status: number): OutboundError {
  return new OutboundError('outbound_redirects', `${from.host} redirects to another origin, ${to.origin}.`, { status });
}

function redirectTarget(
  { status, headers }: Pick<OutboundResponse, 'status' | 'headers'>,
  from: URL,
  method: string,
): URL | null {
  if (status < 300 || status > 399) return null;
  const sent = headers['location'];
  if (![301, 302, 303, 307, 308].includes(status) || sent === undefined) return null;
  // Many servers send UTF-8 unencoded. Other bytes are escaped.
  const location = readBytes(Buffer.from(sent, 'latin1'));
  if (status === 303 && !['GET', 'HEAD'].includes(method))
    throw new OutboundError(
      'outbound_redirects',
      `${from.host} responded with 303, which would drop the request body.`,
      {
        status,
      },
    );
  if (!isUrl(location, from.href))
    throw new OutboundError('outbound_redirects', `${from.host} redirects to an invalid URL.`, {
      status,
    });
  const next = parse(new URL(location, from.href).href);
  if (from.protocol === 'https:' && next.protocol === 'http:')
    throw new OutboundError('outbound_redirects', `${from.host} redirects from https to http.`, { status });
  return next;
}

/** Recently parsed URLs: the same few endpoints are called repeatedly. */
const parsedUrls = new Map<string, URL>();
const maxParsed = 1000;

function parse(text: string): URL {
  const known = parsedUrls.get(text);
  if (known) return known;
  const url = validateUrl(text);
  if (parsedUrls.size >= maxParsed) parsedUrls.clear();
  parsedUrls.set(text, url);
  return url;
}

function validateUrl(text: string): URL {
  const url = isUrl(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw refusedText('Only http and https URLs can be called.');
  if (url.username !== '' || url.password !== '')
    throw refusedText('The URL contains a user name or password; send them in a header.');
  return url;
}

const refusedText = (message: string): OutboundError => new OutboundError('outbound_refused', message, { message });

function policyFrom({ allowInternal = false, allowHost }: OutboundInit): OutboundPolicy {
  return { allowInternal, allowHost: allowHost ?? null };
}

function effectivePort(url: URL): string {
  return url.port || (url.protocol === 'https:' ? '443' : '80');
}

/** Header names are not changed: undici sends them as they are, and a copy costs as much as the rest of this function. */
function withUserAgent(given: Readonly<Record<string, string>> = {}, userAgent: string): Record<string, string> {
  for (const name in given) if (name.length === 10 && name.toLowerCase() === 'user-agent') return given;
  return { 'user-agent': userAgent, ...given };
}

const commonHeaders = ['accept', 'accept-language', 'content-type', 'user-agent'];

/** Any other header may hold a secret that was entered for the first origin (D35). */
function withoutCustom(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => commonHeaders.includes(name.toLowerCase())));
}

function listen(signal: AbortSignal, cancellation: Cancellation): () => void {
  const abort = (): void => cancel(cancellation, signal.reason as Error);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}
