import { lookup } from 'node:dns/promises';
import type { Agent, Dispatcher } from 'undici';
import { isUrl, type Clock, type HttpApi, type OutboundInit, type OutboundResponse } from '#plugin-api';
import { Answer } from './outbound-answer.ts';
import { BulkDispatcher } from './outbound-bulk.ts';
import { checkedAddresses, createGuardedConnector, reachesInternal } from './outbound-connector.ts';
import type { OutboundPolicy, Resolve } from './outbound-connector.ts';
import { OutboundError } from './outbound-errors.ts';
import { cancel, sendHop } from './outbound-exchange.ts';
import type { Cancellation } from './outbound-exchange.ts';

export interface OutboundDependencies {
  readonly clock: Pick<Clock, 'after'>;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** Sent as User-Agent unless the caller names one. */
  readonly userAgent?: string;
}

export interface Outbound extends HttpApi {
  /** Closes idle and active connections. */
  close(): Promise<void>;
}

const defaults = { timeout: 10_000, redirects: 5, maxBytes: 5 * 1024 * 1024 } as const;
/** Connection pools kept, one per policy; each endpoint with an address of its own inside has one. */
const mostAgents = 64;

/** The guarded fetch (see HttpApi). Connections are kept and used again; undici is loaded at the first call. */
export function createOutbound({
  clock,
  resolve = systemResolve,
  userAgent = 'svc-host',
}: OutboundDependencies): Outbound {
  const agents = new Map<string, Opened>();

  function clientsFor(policy: OutboundPolicy): Opened {
    const name = policy.allowInternal ? `internal ${policy.allowHost ?? ''}` : (policy.allowHost ?? '');
    const found = agents.get(name) ?? opened(openClients(policy, { resolve, clock }));
    if (agents.size > 1 || !agents.has(name)) remember(name, found);
    return found;
  }

  function remember(name: string, clients: Opened): void {
    // Taken out and put back: the first of the map is the one unused for longest.
    agents.delete(name);
    agents.set(name, clients);
    const [oldest] = agents;
    if (agents.size <= mostAgents || !oldest) return;
    agents.delete(oldest[0]);
    void oldest[1].soon.then(({ bulk }) => bulk.close());
  }

  async function send(url: string, init: OutboundInit): Promise<OutboundResponse> {
    const target = parse(url);
    const { timeout = defaults.timeout, signal } = init;
    const cancellation: Cancellation = { reason: null, onCancel: null };
    const undo = clock.after(timeout, () =>
      cancel(
        cancellation,
        new OutboundError('outbound_timeout', `${target.host} did not answer within ${timeout} ms.`),
      ),
    );
    const undoSignal = signal && listen(signal, cancellation);
    try {
      const clients = clientsFor(policyOf(init));
      const { agent, bulk } = clients.now ?? (await clients.soon);
      return await follow({
        agent: init.bulk === true ? bulk : agent,
        target,
        headers: withUserAgent(init.headers, userAgent),
        init,
        cancellation,
      });
    } finally {
      undo();
      undoSignal?.();
    }
  }

  return {
    async check(url, init = {}) {
      const target = parse(url);
      const internal = reachesInternal(policyOf(init), target.hostname, portOf(target));
      await checkedAddresses(target.hostname, internal, resolve);
    },
    fetch: (url, init = {}) => send(url, init),
    async close() {
      const open = [...agents.values()];
      agents.clear();
      await Promise.all(open.map(async ({ soon }) => (await soon).bulk.destroy()));
    },
  };
}

/** Two ways out behind the same guard. */
interface Clients {
  readonly agent: Agent;
  /** For what there is much of. Closing it closes both. */
  readonly bulk: BulkDispatcher;
}

/** There from the first call on, and no call waits for them later. */
interface Opened {
  readonly soon: Promise<Clients>;
  now: Clients | null;
}

function opened(soon: Promise<Clients>): Opened {
  const clients: Opened = { soon, now: null };
  soon.then(
    (now) => (clients.now = now),
    () => undefined,
  );
  return clients;
}

async function openClients(
  policy: OutboundPolicy,
  { resolve, clock }: { readonly resolve: Resolve; readonly clock: Pick<Clock, 'after'> },
): Promise<Clients> {
  const { Agent, buildConnector } = await import('undici');
  const connect = createGuardedConnector({ policy, resolve, buildConnector, timeout: 10_000 });
  // One time limit over all phases is kept above; undici's own timers are off.
  const agent = new Agent({ connect, keepAliveTimeout: 10_000, connections: 64, headersTimeout: 0, bodyTimeout: 0 });
  return { agent, bulk: new BulkDispatcher({ connect, agent, clock }) };
}

interface Exchange {
  readonly agent: Pick<Dispatcher, 'dispatch'>;
  readonly target: URL;
  readonly headers: Record<string, string>;
  readonly init: OutboundInit;
  readonly cancellation: Cancellation;
}

/** Sends, and follows redirects; the connector checks each hop. */
async function follow({
  agent,
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
    const answer = await sendHop({ agent, target, method, headers, body, maxBytes, truncate, cancellation });
    const next = redirectOf(answer, target, method);
    if (next === null)
      return new Answer({ status: answer.status, headers: answer.headers, body: answer.body, url: target.href });
    if (hop >= redirects)
      throw new OutboundError('outbound_redirects', `${first.host} redirects more than ${redirects} times.`, {
        status: answer.status,
      });
    if (next.origin !== target.origin) headers = withoutCredentials(headers);
    target = next;
  }
}

function redirectOf(
  { status, headers }: Pick<OutboundResponse, 'status' | 'headers'>,
  from: URL,
  method: string,
): URL | null {
  if (status < 300 || status > 399) return null;
  const location = headers['location'];
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null;
  if (status === 303 && !['GET', 'HEAD'].includes(method))
    throw new OutboundError('outbound_redirects', `${from.host} answered 303, which would drop what was sent.`, {
      status,
    });
  if (!isUrl(location, from.href))
    throw new OutboundError('outbound_redirects', `${from.host} redirects to an address that is not valid.`, {
      status,
    });
  const next = parse(new URL(location, from.href).href);
  if (from.protocol === 'https:' && next.protocol === 'http:')
    throw new OutboundError('outbound_redirects', `${from.host} redirects from https to http.`, { status });
  return next;
}

/** Addresses parsed of late, since the same few endpoints are called over and over. */
const parsed = new Map<string, URL>();
const mostParsed = 1000;

function parse(text: string): URL {
  const known = parsed.get(text);
  if (known) return known;
  const url = checked(text);
  if (parsed.size >= mostParsed) parsed.clear();
  parsed.set(text, url);
  return url;
}

function checked(text: string): URL {
  const url = isUrl(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new OutboundError('outbound_refused', 'Only http and https addresses can be called.');
  if (url.username !== '' || url.password !== '')
    throw new OutboundError(
      'outbound_refused',
      `The address of ${url.host} holds a user name or password; send them in a header.`,
    );
  return url;
}

function policyOf({ allowInternal = false, allowHost }: OutboundInit): OutboundPolicy {
  return { allowInternal, allowHost: allowHost ?? null };
}

function portOf(url: URL): string {
  return url.port || (url.protocol === 'https:' ? '443' : '80');
}

/** Names stay as they were given: undici sends them so, and a copy with others costs as much as all the rest here. */
function withUserAgent(given: Readonly<Record<string, string>> = {}, userAgent: string): Record<string, string> {
  for (const name in given) if (name.length === 10 && name.toLowerCase() === 'user-agent') return given;
  return { 'user-agent': userAgent, ...given };
}

function withoutCredentials(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)));
}

function listen(signal: AbortSignal, cancellation: Cancellation): () => void {
  const abort = (): void => cancel(cancellation, signal.reason as Error);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

async function systemResolve(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}
