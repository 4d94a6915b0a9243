import type { IncomingHttpHeaders } from 'node:http';
import { forcedFault } from './dial.ts';
import type { Dial, Fault } from './dial.ts';
import { fraction } from './random.ts';
import type { VectorStorage } from './storage/vector-storage.ts';
import { isObject, jsonReply, Refusal } from './wire.ts';
import type { StandIn, WireReply, WireRequest, WireRoute } from './wire.ts';
import { standInAt, storeWires, wires } from './wires.ts';
import { qdrantVersion } from './wires/stores/qdrant-reply.ts';

export interface RawRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** null: longer than any stand-in reads. */
  readonly body: string | null;
  /** Length of the body in bytes. */
  readonly length: number;
  /** What a form with files holds, in place of the body; null: it cannot be read. */
  readonly form?: Readonly<Record<string, unknown>> | null;
}

export interface Dispatched {
  readonly reply: WireReply;
  /** What the server does to the connection. */
  readonly fault: Fault;
  readonly provider: string | null;
  /** With the fault `error` what a stream ends with in its middle. */
  readonly failure?: string;
}

export interface Circumstances {
  readonly dial: Dial;
  /** How many requests came before under this dial: with the seed it decides which ones a fault strikes. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly storage: VectorStorage;
}

/** Largest body read, in bytes, where a stand-in says nothing else. */
const bodyLimit = 10 * 1024 * 1024;
/** Largest body any stand-in reads, in bytes. */
export const largestBody = Math.max(bodyLimit, ...[...wires, ...storeWires].map((standIn) => standIn.bodyLimit ?? 0));

/** Seconds a rate limit asks to wait. */
const retryAfter = 1;

/**
 * Finds the stand-in and answers as it would: path, key, JSON, fault, request. What it changes is in the storage alone.
 */
export async function dispatch(raw: RawRequest, circumstances: Circumstances): Promise<Dispatched> {
  const url = new URL(raw.target, 'http://sandbox');
  const found = standInAt(url.pathname);
  if (!found) return { reply: greeting(url.pathname), fault: 'none', provider: null };
  const { standIn, rest } = found;
  const { now, origin, storage } = circumstances;
  const request: WireRequest = {
    method: raw.method,
    path: rest,
    params: {},
    query: url.searchParams,
    headers: raw.headers,
    body: undefined,
    seed: circumstances.dial.seed,
    now,
    origin,
    storage,
    length: raw.length,
  };
  const answered = (reply: WireReply, fault: Fault = 'none'): Dispatched => ({ reply, fault, provider: standIn.id });
  const route = standIn.routes.find((candidate) => candidate.method === raw.method && candidate.path.test(rest));
  if (!route) return answered(standIn.errors.unknownPath(request));
  const refusal = standIn.refuse(request);
  if (refusal) return answered(refusal);
  if (raw.body === null || raw.length > (standIn.bodyLimit ?? bodyLimit))
    return answered(standIn.errors.tooLarge(raw.length));
  const body = raw.form === undefined ? parseJson(raw.body) : (raw.form ?? new SyntaxError('no form'));
  if (body instanceof SyntaxError) return answered(standIn.errors.badJson());
  return handle(standIn, route, { request: { ...request, body, params: pathParams(route, rest) }, circumstances });
}

async function handle(
  standIn: StandIn,
  route: WireRoute,
  { request, circumstances }: { request: WireRequest; circumstances: Circumstances },
): Promise<Dispatched> {
  const name = await (standIn.nameOf ?? modelOf)(request);
  const fault = forcedFault(name) ?? dialled(circumstances);
  const reply = await (async (): Promise<WireReply> => {
    if (fault === '429') return standIn.errors.rateLimited(name, retryAfter);
    if (fault === '500') return standIn.errors.serverError();
    if (fault === 'garbage') return { status: 200, headers: { 'content-type': 'application/json' }, chunks: [garbage] };
    try {
      return await route.handle(request);
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  })();
  if (fault !== 'error' || reply.status >= 400) return { reply, fault, provider: standIn.id };
  // Only a stream can fail once it has begun.
  if (reply.chunks.length === 1) return { reply: standIn.errors.serverError(), fault, provider: standIn.id };
  return { reply, fault, provider: standIn.id, failure: streamedError(standIn, reply) };
}

/** The far end's server error as its streams tell it, by default in an event of its own. */
function streamedError({ errors }: StandIn, reply: WireReply): string {
  const body = errors.serverError().chunks.map(String).join('');
  const type = reply.headers['content-type'] ?? '';
  if (type.includes('ndjson')) return `${body}\n`;
  if (type.includes('json')) return `,${body}]`;
  return errors.streamedError?.(body) ?? `data: ${body}\n\n`;
}

/** What a proxy in the way, or a program gone wrong, sends under a JSON content type. */
const garbage = '<html><body><h1>Bad gateway</h1>{"choices":[{"mess';

function dialled({ dial, sequence }: Circumstances): Fault {
  return dial.fault !== 'none' && fraction(dial.seed, 'fault', sequence) < dial.rate ? dial.fault : 'none';
}

function modelOf({ params, body }: WireRequest): string {
  const named = params['model'] ?? params['deployment'] ?? (isObject(body) ? body['model'] : undefined);
  return typeof named === 'string' ? named : '';
}

function pathParams(route: WireRoute, path: string): Record<string, string> {
  const groups = route.path.exec(path)?.groups ?? {};
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decode(value)]));
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    return error;
  }
}

function greeting(path: string): WireReply {
  const addresses = Object.fromEntries([
    ...wires.map((wire) => [wire.id, wire.settings(`/${wire.id}`, {})['base_url']]),
    ...storeWires.map((wire) => [wire.id, wire.settings('')['url']]),
  ]);
  // Title and version are what Qdrant's client looks for at the root.
  const qdrant = { title: 'qdrant - vector search engine', version: qdrantVersion };
  if (path === '/')
    return jsonReply(200, {
      sandbox: 'Stand-ins for providers and vector stores. Nothing leaves this machine.',
      key: 'sandbox',
      addresses,
      ...qdrant,
    });
  return jsonReply(404, {
    error: `No stand-in answers here. The first segment of the path is one of ${[...wires, ...storeWires].map(({ id }) => id).join(', ')}.`,
  });
}
