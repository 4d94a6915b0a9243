import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Logger } from '#plugin-api';
import type { FaultSettings } from './fault-injection.ts';
import { dispatch, largestBody, type RawRequest } from './dispatch.ts';
import { createLocalServer } from './local-server.ts';
import { parseMultipart } from './multipart.ts';
import { createRecent } from './recent.ts';
import type { SeenRequest } from './recent.ts';
import { createMemoryStorage } from './storage/memory-storage.ts';
import type { VectorStorage } from './storage/vector-storage.ts';
import { writeReply } from './write-reply.ts';

export interface SandboxServerDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  /** Asked at each request, so that a change applies from the next one on. */
  readonly faults: () => Promise<FaultSettings>;
  /** What the vector stores remember; left out: in memory, for the life of the server. */
  readonly storage?: VectorStorage;
}

export interface SandboxServer {
  /** Listens on a free loopback port; a second call answers the same address. */
  start(): Promise<{ readonly url: string }>;
  /** Destroys what is open and frees the port. The server can be started again, on another port. */
  stop(): Promise<void>;
  /** `http://127.0.0.1:<port>`, or null while it does not listen. */
  url(): string | null;
  /** The last requests, newest first. Paths without their query, so no key is among them. */
  recent(): readonly SeenRequest[];
}

/**
 * The fakes of all providers behind one `node:http` server. It listens on 127.0.0.1 alone, calls no other host,
 * and stores what is given to its vector stores.
 * A separate server because some faults (a connection cut in mid-body) need the socket. Each process has its own.
 */
export function createSandboxServer({
  clock,
  log,
  faults,
  storage = createMemoryStorage(),
}: SandboxServerDependencies): SandboxServer {
  const recent = createRecent(20);
  let address: string | null = null;
  let series = { faults: '', sequence: 0 };

  const context = async () => {
    const current = await faults();
    const name = JSON.stringify(current);
    series = series.faults === name ? { ...series, sequence: series.sequence + 1 } : { faults: name, sequence: 0 };
    return { faults: current, sequence: series.sequence, now: clock.now(), origin: address ?? '', storage };
  };

  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const seen = { at: clock.now(), method: request.method ?? 'GET', target: request.url ?? '/' };
    const body = await readBody(request);
    const around = await context();
    const dispatched = await dispatch(
      { method: seen.method, target: seen.target, headers: request.headers, ...body },
      around,
    );
    recent.add({ ...seen, provider: dispatched.provider, status: dispatched.reply.status, fault: dispatched.fault });
    await writeReply(response, dispatched, { clock, faults: around.faults });
  };

  const server = createLocalServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      if (!response.destroyed)
        log.error('Sandbox request failed', { event: 'sandbox_request_failed', error: String(error) });
      response.destroy();
    });
  });

  return {
    start: async () => {
      const url = await server.start();
      if (address !== url) log.info('Sandbox listening', { event: 'sandbox_listening', url });
      address = url;
      return { url };
    },
    stop: async () => {
      await server.stop();
      address = null;
    },
    url: () => address,
    recent: () => recent.list(),
  };
}

async function readBody(request: IncomingMessage): Promise<Pick<RawRequest, 'body' | 'length' | 'form'>> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length <= largestBody) parts.push(part);
  }
  if (length > largestBody) return { body: null, length };
  const type = request.headers['content-type'] ?? '';
  // Files would not survive being read as text.
  if (type.startsWith('multipart/form-data'))
    return { body: '', length, form: await parseMultipart(Buffer.concat(parts), type) };
  return { body: Buffer.concat(parts).toString('utf8'), length };
}
