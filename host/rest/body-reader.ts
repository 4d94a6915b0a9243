import type { IncomingMessage } from 'node:http';

const empty = Buffer.alloc(0);

/** Thrown when the caller hangs up before the body is complete: there is nobody left to answer. */
export class HungUpError extends Error {
  override readonly name = 'HungUpError';
  constructor() {
    super('The caller hung up before the body was complete.');
  }
}

/**
 * Collects a request's body.
 *
 * @param limit bytes. A longer one answers null: at once when `Content-Length` says so, else when the limit is passed. What
 * is still to come is then neither kept nor waited for.
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

/** Most that is read of a body nobody wants, so that its sender gets to see the answer. */
const drainLimit = 16 * 1_048_576;

/**
 * Reads on and throws away until the caller is done, so that it sees the answer instead of a reset connection. One that
 * never ends is cut.
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
