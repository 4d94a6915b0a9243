import type { IncomingHttpHeaders } from 'node:http';
import { isRecord } from '#plugin-api';
import { forcedFault } from './fault-injection.ts';
import type { FaultSettings, Fault } from './fault-injection.ts';
import { fraction } from './random.ts';
import type { VectorStorage } from './storage/vector-storage.ts';
import { jsonResponse, Refusal } from './fake.ts';
import type { Fake, FakeResponse, FakeRequest, FakeRoute } from './fake.ts';
import { findFake, fakeStores, fakeProviders } from './fakes.ts';
import { qdrantVersion } from './fakes/stores/qdrant-reply.ts';

export interface RawRequest {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** null: longer than any fake reads. */
  readonly body: string | null;
  /** Length of the body in bytes. */
  readonly length: number;
  /** What a form with files holds, in place of the body; null: it cannot be read. */
  readonly form?: Readonly<Record<string, unknown>> | null;
}

export interface Dispatched {
  readonly reply: FakeResponse;
  /** What the server does to the connection. */
  readonly fault: Fault;
  readonly provider: string | null;
  /** With the fault `error` what a stream ends with in its middle. */
  readonly failure?: string;
}

export interface DispatchContext {
  readonly faults: FaultSettings;
  /** How many requests came before under these settings: with the seed it decides which ones a fault strikes. */
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly storage: VectorStorage;
}

/** Largest body read, in bytes, where a fake says nothing else. */
const bodyLimit = 10 * 1024 * 1024;
/** Largest body any fake reads, in bytes. */
export const largestBody = Math.max(bodyLimit, ...[...fakeProviders, ...fakeStores].map((fake) => fake.bodyLimit ?? 0));

/** Seconds a rate limit asks to wait. */
const retryAfter = 1;

/**
 * Finds the fake and answers as it would: path, key, JSON, fault, request. What it changes is in the storage alone.
 */
export async function dispatch(raw: RawRequest, context: DispatchContext): Promise<Dispatched> {
  const url = new URL(raw.target, 'http://sandbox');
  const found = findFake(url.pathname);
  if (!found) return { reply: greeting(url.pathname), fault: 'none', provider: null };
  const { fake, rest } = found;
  const { now, origin, storage } = context;
  const request: FakeRequest = {
    method: raw.method,
    path: rest,
    params: {},
    query: url.searchParams,
    headers: raw.headers,
    body: undefined,
    seed: context.faults.seed,
    now,
    origin,
    storage,
    length: raw.length,
  };
  const answered = (reply: FakeResponse, fault: Fault = 'none'): Dispatched => ({ reply, fault, provider: fake.id });
  const route = fake.routes.find((candidate) => candidate.method === raw.method && candidate.path.test(rest));
  if (!route) return answered(fake.errors.unknownPath(request));
  const refusal = fake.refuse(request);
  if (refusal) return answered(refusal);
  if (raw.body === null || raw.length > (fake.bodyLimit ?? bodyLimit))
    return answered(fake.errors.tooLarge(raw.length));
  const body = raw.form === undefined ? parseJson(raw.body) : (raw.form ?? new SyntaxError('no form'));
  if (body instanceof SyntaxError) return answered(fake.errors.badJson());
  return handle(fake, route, { request: { ...request, body, params: pathParams(route, rest) }, context });
}

async function handle(
  fake: Fake,
  route: FakeRoute,
  { request, context }: { request: FakeRequest; context: DispatchContext },
): Promise<Dispatched> {
  const name = await (fake.nameOf ?? modelOf)(request);
  const fault = forcedFault(name) ?? chooseFault(context);
  const reply = await (async (): Promise<FakeResponse> => {
    if (fault === '429') return fake.errors.rateLimited(name, retryAfter);
    if (fault === '500') return fake.errors.serverError();
    if (fault === 'garbage') return { status: 200, headers: { 'content-type': 'application/json' }, chunks: [garbage] };
    try {
      return await route.handle(request);
    } catch (error) {
      if (error instanceof Refusal) return error.reply;
      throw error;
    }
  })();
  if (fault !== 'error' || reply.status >= 400) return { reply, fault, provider: fake.id };
  // Only a stream can fail once it has begun.
  if (reply.chunks.length === 1) return { reply: fake.errors.serverError(), fault, provider: fake.id };
  return { reply, fault, provider: fake.id, failure: streamedError(fake, reply) };
}

/** The upstream server error as its streams report it, by default in a separate event. */
function streamedError({ errors }: Fake, reply: FakeResponse): string {
  const body = errors.serverError().chunks.map(String).join('');
  const type = reply.headers['content-type'] ?? '';
  if (type.includes('ndjson')) return `${body}\n`;
  if (type.includes('json')) return `,${body}]`;
  return errors.streamedError?.(body) ?? `data: ${body}\n\n`;
}

/** What a proxy in the way, or a program gone wrong, sends under a JSON content type. */
const garbage = '<html><body><h1>Bad gateway</h1>{"choices":[{"mess';

function chooseFault({ faults, sequence }: DispatchContext): Fault {
  return faults.fault !== 'none' && fraction(faults.seed, 'fault', sequence) < faults.rate ? faults.fault : 'none';
}

function modelOf({ params, body }: FakeRequest): string {
  const named = params['model'] ?? params['deployment'] ?? (isRecord(body) ? body['model'] : undefined);
  return typeof named === 'string' ? named : '';
}

function pathParams(route: FakeRoute, path: string): Record<string, string> {
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

function greeting(path: string): FakeResponse {
  const addresses = Object.fromEntries([
    ...fakeProviders.map((fake) => [fake.id, fake.settings(`/${fake.id}`, {})['base_url']]),
    ...fakeStores.map((fake) => [fake.id, fake.settings('')['url']]),
  ]);
  // Title and version are what Qdrant's client looks for at the root.
  const qdrant = { title: 'qdrant - vector search engine', version: qdrantVersion };
  if (path === '/')
    return jsonResponse(200, {
      sandbox: 'Fakes for providers and vector stores. Nothing leaves this machine.',
      key: 'sandbox',
      addresses,
      ...qdrant,
    });
  return jsonResponse(404, {
    error:
      `No fake answers here. The first segment of the path is one of ` +
      `${[...fakeProviders, ...fakeStores].map(({ id }) => id).join(', ')}.`,
  });
}
