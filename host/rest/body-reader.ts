import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Logger, RestError } from '#plugin-api';
import { freeBytes, type BodyAccount, type BodyBudget } from './body-budget.ts';
import { hostErrors } from './host-errors.ts';

const empty = Buffer.alloc(0);

/** Thrown when the caller hangs up before the body is complete. No response can be sent. */
export class HungUpError extends Error {
  override readonly name = 'HungUpError';
  constructor() {
    super('The caller hung up before the body was complete.');
  }
}

export interface BodyLimits {
  /** Bytes. */
  readonly limit: number;
  /** Whether the caller has neither signed in nor sent a valid key: the body counts against the anonymous share. */
  readonly isAnonymous: boolean;
}

export interface BodyReader {
  /**
   * Collects a request's body. Its memory is counted until the response closes.
   *
   * @returns null for a body above the limit, at once if `Content-Length` says so, else when the limit is passed. The rest
   *   is then not read.
   * @throws HungUpError, or RestError 503 `rest_server_busy` when the memory for bodies is used up, or 408
   *   `rest_body_too_slow` below the minimum rate.
   */
  read(request: IncomingMessage, response: ServerResponse, limits: BodyLimits): Promise<Buffer | null>;
  /**
   * Reads and discards the rest of the body, so that the caller sees the response instead of a connection reset. A body that
   * is too large or too slow is cut.
   */
  drain(request: IncomingMessage, done: (isComplete: boolean) => void): void;
}

export interface BodyReaderDependencies {
  readonly budget: BodyBudget;
  readonly clock: Pick<Clock, 'now' | 'after'>;
  readonly log: Logger;
}

/** A body must bring `minimumBytes` in every `rateWindow` (milliseconds) that it is read: 1,000 bytes a second. */
const rateWindow = 10_000;
const minimumBytes = 10_000;

/** Most bytes read of a body that is discarded, and the milliseconds it may take. */
const drainLimit = 16 * 1_048_576;
const drainTime = 10_000;

/** Milliseconds between two log lines about refused bodies. */
const reportInterval = 60_000;

export function createBodyReader({ budget, clock, log }: BodyReaderDependencies): BodyReader {
  const report = createReport(log, clock);
  return {
    async read(request, response, { limit, isAnonymous }) {
      const announced = request.headers['content-length'];
      if (announced === undefined && request.headers['transfer-encoding'] === undefined) return empty;
      if (announced !== undefined && Number(announced) > limit) return null;
      if (announced === '0') return empty;
      const received = receivedBody(request, announced);
      if (received !== null) return received;
      const account = budget.open({ isAnonymous, ip: addressOf(request) });
      try {
        const body = await collect(request, { limit, account, clock });
        if (body === null || response.destroyed || response.closed) account.release();
        else response.once('close', () => account.release());
        return body;
      } catch (error) {
        account.release();
        report(error);
        throw error;
      }
    },
    drain: (request, done) => drain(request, clock, done),
  };
}

/** Behind a proxy, express has set the address that was forwarded. */
function addressOf(request: IncomingMessage & { readonly ip?: string | undefined }): string {
  return request.ip ?? request.socket.remoteAddress ?? '';
}

/** A body that came with the head, and is too small to be counted; null for any other. */
function receivedBody(request: IncomingMessage, announced: string | undefined): Buffer | null {
  const { readableLength } = request;
  if (readableLength > freeBytes || readableLength !== Number(announced)) return null;
  const body = request.read() as Buffer | null;
  // To its end, which has not come yet.
  request.resume();
  return body;
}

/** Whether a request has no body, or one so small that it costs less to read than to refuse. */
export function hasSmallBody(headers: Readonly<Record<string, unknown>>): boolean {
  if (headers['transfer-encoding'] !== undefined) return false;
  return Number(headers['content-length'] ?? 0) <= freeBytes;
}

interface Collecting {
  readonly limit: number;
  readonly account: BodyAccount;
  readonly clock: Pick<Clock, 'after'>;
}

function collect(request: IncomingMessage, { limit, account, clock }: Collecting): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const collected = createCollector(account, Math.min(limit, Number(request.headers['content-length'] ?? limit)));
    const stop = (): void => {
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      stopWatching();
    };
    const refuse = (error: RestError | null): void => {
      stop();
      request.pause();
      if (error === null) resolve(null);
      else reject(error);
    };
    const stopWatching = watchRate(clock, collected, () => refuse(hostErrors.bodyTooSlow()));
    const onData = (chunk: Buffer): void => {
      if (collected.length() + chunk.length > limit) refuse(null);
      else if (!collected.add(chunk)) refuse(hostErrors.busy());
    };
    const onEnd = (): void => {
      stop();
      resolve(collected.bytes());
    };
    const onClose = (): void => {
      stop();
      reject(new HungUpError());
    };
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

interface Collector {
  length(): number;
  /** False when the budget is used up. */
  add(chunk: Buffer): boolean;
  bytes(): Promise<Buffer>;
}

/** Bytes of the blocks that a body is copied into. */
const blockSize = 65_536;

/** Blocks that are joined without a pause: 4 MB, some milliseconds (D46). */
const blocksAtOnce = 64;

/**
 * Copies chunks into blocks: a list of chunks of one byte each would occupy a hundred times the body.
 *
 * @param most length that the body can have.
 */
function createCollector(account: BodyAccount, most: number): Collector {
  const blocks: Buffer[] = [];
  let block: Buffer = empty;
  let used = 0;
  let capacity = 0;
  let length = 0;

  function addBlock(): boolean {
    const size = Math.min(blockSize, most - capacity);
    if (!account.reserve(capacity + size)) return false;
    capacity += size;
    used = 0;
    block = Buffer.allocUnsafeSlow(size);
    blocks.push(block);
    return true;
  }

  return {
    length: () => length,
    add(chunk) {
      if (length === 0 && chunk.length === most) {
        if (!account.reserve(most)) return false;
        blocks.push(chunk);
      } else {
        for (let start = 0; start < chunk.length;) {
          if (used === block.length && !addBlock()) return false;
          const copied = chunk.copy(block, used, start);
          used += copied;
          start += copied;
        }
      }
      length += chunk.length;
      return true;
    },
    async bytes() {
      if (blocks.length === 1) return (blocks[0] ?? empty).subarray(0, length);
      if (blocks.length <= blocksAtOnce) return Buffer.concat(blocks, length);
      const joined = Buffer.allocUnsafeSlow(capacity);
      for (let from = 0; from < blocks.length; from += blocksAtOnce) {
        const some = blocks.slice(from, from + blocksAtOnce);
        for (const [index, each] of some.entries()) joined.set(each, (from + index) * blockSize);
        await nextTurn();
      }
      return joined.subarray(0, length);
    },
  };
}

/** Calls back once the body brings too few bytes in a window. */
function watchRate(clock: Pick<Clock, 'after'>, body: Pick<Collector, 'length'>, onSlow: () => void): () => void {
  let before = 0;
  let undo: () => void;
  const check = (): void => {
    if (body.length() - before < minimumBytes) return onSlow();
    before = body.length();
    undo = clock.after(rateWindow, check);
  };
  undo = clock.after(rateWindow, check);
  return () => undo();
}

function drain(request: IncomingMessage, clock: Pick<Clock, 'after'>, done: (isComplete: boolean) => void): void {
  if (request.readableEnded || request.complete) {
    request.resume();
    return done(true);
  }
  let length = 0;
  let isDone = false;
  const finish = (isComplete: boolean): void => {
    if (isDone) return;
    isDone = true;
    undo();
    request.removeAllListeners('data');
    done(isComplete);
  };
  const undo = clock.after(drainTime, () => finish(false));
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > drainLimit) finish(false);
  });
  request.once('end', () => finish(true)).once('close', () => finish(true));
  request.resume();
}

/** Logs refused bodies at most once a minute: a flood of them must not fill the log. */
function createReport(log: Logger, clock: Pick<Clock, 'now'>): (error: unknown) => void {
  let refused = 0;
  let reportedAt = -Infinity;
  return (error) => {
    if (error instanceof HungUpError) return;
    refused += 1;
    if (clock.now() - reportedAt < reportInterval) return;
    log.warn('Request bodies refused', {
      event: 'request_bodies_refused',
      refused,
      code: (error as Partial<RestError>).code,
    });
    reportedAt = clock.now();
    refused = 0;
  };
}
