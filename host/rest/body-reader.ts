import type { IncomingMessage } from 'node:http';

const empty = Buffer.alloc(0);

/** Thrown when the caller hangs up before the body is complete. No response can be sent. */
export class HungUpError extends Error {
  override readonly name = 'HungUpError';
  constructor() {
    super('The caller hung up before the body was complete.');
  }
}

/**
 * Collects a request's body.
 *
 * @param limit bytes. Returns null for a longer body, at once if `Content-Length` says so, else when the limit is passed.
 *   The rest of the body is then not read.
 * @throws HungUpError
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | null> {
  const announced = request.headers['content-length'];
  if (announced === undefined && request.headers['transfer-encoding'] === undefined) return Promise.resolve(empty);
  if (announced !== undefined && Number(announced) > limit) return Promise.resolve(null);
  if (announced === '0') return Promise.resolve(empty);
  return collect(request, limit);
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= limit) return void chunks.push(chunk);
      stop();
      request.pause();
      resolve(null);
    };
    const onEnd = (): void => {
      stop();
      const [only] = chunks;
      resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length));
    };
    const onClose = (): void => {
      stop();
      reject(new HungUpError());
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** Most bytes read of a body that is discarded. */
const drainLimit = 16 * 1_048_576;

/**
 * Reads and discards the rest of the body, so that the caller sees the response instead of a connection reset. A body
 * beyond the limit is cut.
 */
export function drain(request: IncomingMessage, done: (isComplete: boolean) => void): void {
  if (request.readableEnded || request.complete) {
    request.resume();
    return done(true);
  }
  let length = 0;
  const finish = (isComplete: boolean): void => {
    request.removeAllListeners('data');
    done(isComplete);
  };
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > drainLimit) finish(false);
  });
  request.once('end', () => finish(true)).once('close', () => finish(true));
  request.resume();
}
