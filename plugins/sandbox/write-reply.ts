import type { ServerResponse } from 'node:http';
import type { Clock } from '#plugin-api';
import type { FaultSettings } from './fault-injection.ts';
import type { Dispatched } from './dispatch.ts';

/** Writes a reply, with what its fault does to it: whole, or a stream piece by piece as a model would write it. */
export async function writeReply(
  response: ServerResponse,
  dispatched: Dispatched,
  init: { readonly clock: Clock; readonly faults: FaultSettings },
): Promise<void> {
  const { reply } = dispatched;
  await (reply.chunks.length === 1 ? writeWhole(response, dispatched, init) : writeStream(response, dispatched, init));
}

async function writeWhole(
  response: ServerResponse,
  { reply, fault }: Dispatched,
  { clock, faults }: { readonly clock: Clock; readonly faults: FaultSettings },
): Promise<void> {
  if (fault === 'slow') await clock.sleep(faults.delay_ms, hangUp(response));
  const bytes = Buffer.concat(reply.chunks.map((chunk) => Buffer.from(chunk)));
  response.writeHead(reply.status, { ...reply.headers, 'content-length': bytes.length });
  if (fault === 'cut') await cut(response, bytes.subarray(0, Math.floor(bytes.length / 2)));
  else response.end(bytes);
}

/** A fault in the middle of a stream: it stalls, breaks off within a piece, or ends with the provider's error. */
async function writeStream(
  response: ServerResponse,
  { reply, fault, failure }: Dispatched,
  { clock, faults }: { readonly clock: Clock; readonly faults: FaultSettings },
): Promise<void> {
  const signal = hangUp(response);
  const middle = Math.floor(reply.chunks.length / 2);
  response.writeHead(reply.status, reply.headers);
  for (const [index, chunk] of reply.chunks.entries()) {
    if (index === middle && fault === 'slow') await clock.sleep(faults.delay_ms, signal);
    if (index === middle && fault === 'cut')
      return cut(response, Buffer.from(chunk).subarray(0, Math.floor(chunk.length / 2)));
    if (index === middle && fault === 'error' && failure !== undefined) return void response.end(failure);
    if (index > 0 && faults.pace_ms > 0) await clock.sleep(faults.pace_ms, signal);
    if (response.destroyed) return;
    response.write(chunk);
  }
  response.end();
}

/** Takes the connection away once the bytes have gone out. */
async function cut(response: ServerResponse, bytes: Uint8Array): Promise<void> {
  await new Promise<void>((resolve) => {
    response.write(bytes, () => {
      resolve();
    });
  });
  response.destroy();
}

/** A signal that fires when the caller goes away, so that a slow answer does not outlive its request. */
function hangUp(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    controller.abort(new Error('The caller hung up.'));
  });
  return controller.signal;
}
