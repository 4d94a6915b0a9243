import { lookup } from 'node:dns/promises';
import type { Agent, Dispatcher } from 'undici';
import type { Clock, HttpApi, OutboundInit, OutboundResponse } from '#plugin-api';
import { checkedAddresses, createGuardedConnector, reachesInternal } from './outbound-connector.ts';
import type { OutboundPolicy, Resolve } from './outbound-connector.ts';
import { OutboundError, asOutboundError } from './outbound-errors.ts';

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
export function createOutbound({ clock, resolve = systemResolve, userAgent = 'svc-host' }: OutboundDependencies): Outbound {
  const agents = new Map<string, Promise<{ readonly agent: Agent; readonly request: typeof Dispatcher.prototype.request }>>();

  function agentFor(policy: OutboundPolicy) {
    const name = `${policy.allowInternal} ${policy.allowHost}`;
    const found = agents.get(name) ?? openAgent(policy, resolve);
    // Taken out and put back: the first of the map is the one unused for longest.
    agents.delete(name);
    agents.set(name, found);
    const [oldest] = agents;
    if (agents.size > mostAgents && oldest) {
      agents.delete(oldest[0]);
      void oldest[1].then(({ agent }) => agent.close());
    }
    return found;
  }

  return {
    async check(url, init = {}) {
      const target = parse(url);
      const internal = reachesInternal(policyOf(init), target.hostname, portOf(target));
      await checkedAddresses(target.hostname, internal, resolve);
    },
    async fetch(url, init = {}) {
      const target = parse(url);
      const { timeout = defaults.timeout, signal } = init;
      const limit = new AbortController();
      const undo = clock.after(timeout, () => limit.abort(new OutboundError('outbound_timeout', `${target.host} did not answer within ${timeout} ms.`)));
      const cancelled = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
      try {
        const { request } = await agentFor(policyOf(init));
        const headers = { 'user-agent': userAgent, ...lowerCase(init.headers ?? {}) };
        return await unlessAborted(follow({ request, target, headers, init, signal: cancelled }), cancelled);
      } finally {
        undo();
      }
    },
    async close() {
      const open = [...agents.values()];
      agents.clear();
      await Promise.all(open.map(async (opened) => (await opened).agent.destroy()));
    },
  };
}

async function openAgent(policy: OutboundPolicy, resolve: Resolve) {
  const { Agent, buildConnector } = await import('undici');
  const agent = new Agent({ connect: createGuardedConnector({ policy, resolve, buildConnector, timeout: 10_000 }), keepAliveTimeout: 10_000, connections: 128 });
  return { agent, request: agent.request.bind(agent) as typeof Dispatcher.prototype.request };
}

interface Exchange {
  readonly request: typeof Dispatcher.prototype.request;
  readonly target: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly init: OutboundInit;
  readonly signal: AbortSignal;
}

/** Sends, and follows redirects; the connector checks each hop. */
async function follow({ request, target: first, headers: given, init, signal }: Exchange): Promise<OutboundResponse> {
  const { method = 'GET', body = null, redirects = defaults.redirects, maxBytes = defaults.maxBytes } = init;
  let target = first;
  let headers = given;
  for (let hop = 0; ; hop += 1) {
    signal.throwIfAborted();
    const answer = await send(request, target, { method: method as Dispatcher.HttpMethod, headers, body, signal });
    const next = redirectOf(answer, target, method);
    if (next === null) return await read(answer, target, maxBytes).catch((error: unknown) => { throw asOutboundError(error, target.host); });
    answer.body.on('error', ignore).destroy();
    if (hop >= redirects) throw new OutboundError('outbound_redirects', `${first.host} redirects more than ${redirects} times.`);
    if (next.origin !== target.origin) headers = withoutCredentials(headers);
    target = next;
  }
}

async function send(request: Exchange['request'], target: URL, options: Omit<Dispatcher.RequestOptions, 'path' | 'origin'>): Promise<Dispatcher.ResponseData> {
  try {
    return await request({ ...options, origin: target.origin, path: `${target.pathname}${target.search}` });
  } catch (error) {
    throw asOutboundError(error, target.host);
  }
}

function redirectOf({ statusCode, headers }: Dispatcher.ResponseData, from: URL, method: string): URL | null {
  const location = headers['location'];
  if (![301, 302, 303, 307, 308].includes(statusCode) || typeof location !== 'string') return null;
  if (statusCode === 303 && !['GET', 'HEAD'].includes(method)) throw new OutboundError('outbound_redirects', `${from.host} answered 303, which would drop what was sent.`);
  if (!URL.canParse(location, from.href)) throw new OutboundError('outbound_redirects', `${from.host} redirects to an address that is not valid.`);
  const next = parse(new URL(location, from.href).href);
  if (from.protocol === 'https:' && next.protocol === 'http:') throw new OutboundError('outbound_redirects', `${from.host} redirects from https to http.`);
  return next;
}

async function read(answer: Dispatcher.ResponseData, url: URL, maxBytes: number): Promise<OutboundResponse> {
  const tooLarge = (): OutboundError => new OutboundError('outbound_too_large', `The answer of ${url.host} is larger than ${maxBytes} bytes.`);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    size += part.length;
    // Leaving the loop destroys the stream and with it the connection.
    if (size > maxBytes) throw tooLarge();
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : (value ?? '')]));
  return { status: answer.statusCode, headers, body, url: url.href, text: () => body.toString('utf8'), json: () => JSON.parse(body.toString('utf8')) as unknown };
}

/** Rejects at once when the signal fires, also while undici waits for a connection, when it does not listen yet. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, (error: unknown) => reject((signal.aborted ? signal.reason : error) as Error)).finally(() => signal.removeEventListener('abort', abort));
  });
}

function parse(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw new OutboundError('outbound_refused', 'Only http and https addresses can be called.');
  if (url.username !== '' || url.password !== '') throw new OutboundError('outbound_refused', `The address of ${url.host} holds a user name or password; send them in a header.`);
  return url;
}

function policyOf({ allowInternal = false, allowHost }: OutboundInit): OutboundPolicy {
  return { allowInternal, allowHost: allowHost ?? null };
}

function portOf(url: URL): string {
  return url.port || (url.protocol === 'https:' ? '443' : '80');
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function withoutCredentials({ authorization: _authorization, cookie: _cookie, ...rest }: Readonly<Record<string, string>>): Record<string, string> {
  return rest;
}

async function systemResolve(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

function ignore(): void {
  // A body nobody reads may end in an error.
}
