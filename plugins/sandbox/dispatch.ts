import type { IncomingHttpHeaders } from 'node:http';
import { forcedFault } from './dial.ts';
import type { Dial, Fault } from './dial.ts';
import { fraction } from './random.ts';
import { isObject, jsonReply, Refusal } from './wire.ts';
import type { Wire, WireReply, WireRequest, WireRoute } from './wire.ts';
import { findWire, wires } from './wires.ts';

export interface RawRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** null: longer than is read. */
  readonly body: string | null;
}

export interface Dispatched {
  readonly reply: WireReply;
  /** What the server does to the connection. */
  readonly fault: Fault;
  readonly provider: string | null;
}

export interface Circumstances {
  readonly dial: Dial;
  /** How many requests came before under this dial: with the seed it decides which ones a fault strikes. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Seconds a rate limit asks to wait. */
const retryAfter = 1;

/**
 * Finds the stand-in and answers as it would: path, key, JSON, fault, request. A pure function but for the wires' own errors.
 */
export function dispatch(raw: RawRequest, circumstances: Circumstances): Dispatched {
  const url = new URL(raw.target, 'http://sandbox');
  const [, id = '', rest = ''] = /^\/([^/]*)(\/.*)?$/.exec(url.pathname) ?? [];
  const wire = findWire(id);
  if (!wire) return { reply: greeting(url.pathname), fault: 'none', provider: null };
  const request: WireRequest = {
    method: raw.method, path: rest, params: {}, query: url.searchParams, headers: raw.headers, body: undefined,
    seed: circumstances.dial.seed, now: circumstances.now,
  };
  const answered = (reply: WireReply, fault: Fault = 'none'): Dispatched => ({ reply, fault, provider: wire.id });
  const route = wire.routes.find((candidate) => candidate.method === raw.method && candidate.path.test(rest));
  if (!route) return answered(wire.errors.unknownPath(request));
  const refusal = wire.refuse(request);
  if (refusal) return answered(refusal);
  if (raw.body === null) return answered(wire.errors.tooLarge());
  const body = parseJson(raw.body);
  if (body instanceof SyntaxError) return answered(wire.errors.badJson());
  return handle(wire, route, { request: { ...request, body, params: pathParams(route, rest) }, circumstances });
}

function handle(wire: Wire, route: WireRoute, { request, circumstances }: { request: WireRequest; circumstances: Circumstances }): Dispatched {
  const model = modelOf(request);
  const fault = forcedFault(model) ?? dialled(circumstances);
  const reply = ((): WireReply => {
    if (fault === '429') return wire.errors.rateLimited(model, retryAfter);
    if (fault === '500') return wire.errors.serverError();
    if (fault === 'garbage') return { status: 200, headers: { 'content-type': 'application/json' }, chunks: [garbage] };
    try {
      return route.handle(request);
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  })();
  return { reply, fault, provider: wire.id };
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
  const addresses = Object.fromEntries(wires.map((wire) => [wire.id, wire.settings(`/${wire.id}`, {})['base_url']]));
  if (path === '/') return jsonReply(200, { sandbox: 'Stand-ins for text providers. Nothing leaves this machine.', key: 'sandbox', addresses });
  return jsonReply(404, { error: `No stand-in answers here. The first segment of the path is one of ${wires.map(({ id }) => id).join(', ')}.` });
}
