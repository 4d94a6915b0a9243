import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { Clock, OutboundResponse } from '#plugin-api';
import { OutboundError } from './outbound-errors.ts';
import { packRequests, unpackAnswers, type Batch, type BulkRequest } from './outbound-thread-messages.ts';

/** Requests under way from which on others are handed over: below it, this thread has time, and the way there and back only costs some. */
const crowd = 8;
/** Requests begun in a crowd, before it is worth a thread. */
const worthIt = 400;
/** Without a crowd for so long, the next one is counted from the beginning; in milliseconds. */
const forgotten = 1_000;
/** A thread that had nothing to do for so long ends; one that ended by itself is not begun again for as long. In milliseconds. */
const idleTime = 30_000;

/** What a request needs is soon forgotten: with more room, forgetting is put off until it is tens of megabytes. */
const youngSpace = 6;

/**
 * A thread that sends requests, for those who send thousands a second (`bulk`): with it a second processor takes part.
 * It is begun when there is that much to do and ends when there is not, so that an idle process does not pay for it.
 * When it breaks, what it was sending fails as a connection does that broke.
 */
export interface OutboundThread {
  /** To be told of each such request that is sent here. */
  begun(): void;
  readonly ended: () => void;
  /** Whether requests are to be handed over now. */
  takes(): boolean;
  fetch(request: BulkRequest): Promise<OutboundResponse>;
  close(): Promise<void>;
}

export interface OutboundThreadParts {
  readonly clock: Pick<Clock, 'after'>;
  /** The module that the thread runs. */
  readonly module: URL;
}

interface Waiting {
  readonly resolve: (answer: OutboundResponse) => void;
  readonly reject: (error: Error) => void;
}

export function createOutboundThread(parts: OutboundThreadParts): OutboundThread {
  return new SendingThread(parts);
}

class SendingThread implements OutboundThread {
  private readonly parts: OutboundThreadParts;
  private worker: Worker | null = null;
  private isReady = false;
  /** Begun already, or not to be begun (again): a single processor is not shared to anybody's advantage. */
  private isBegun = availableParallelism() < 2;
  private isClosed = false;
  private here = 0;
  private crowded = 0;
  private crowdedAt = 0;
  private lastId = 0;
  private used = false;
  private readonly waiting = new Map<number, Waiting>();
  private outgoing: (BulkRequest & { readonly id: number })[] = [];

  constructor(parts: OutboundThreadParts) {
    this.parts = parts;
  }

  begun(): void {
    this.here += 1;
    if (this.here <= crowd || this.isBegun) return;
    const now = performance.now();
    if (now - this.crowdedAt > forgotten) this.crowded = 0;
    this.crowdedAt = now;
    this.crowded += 1;
    if (this.crowded < worthIt) return;
    this.isBegun = true;
    this.begin().catch(() => { this.broke(null); });
  }

  /** Handed on by itself. */
  readonly ended = (): void => {
    this.here -= 1;
  };

  takes(): boolean {
    return this.isReady && this.here + this.waiting.size >= crowd;
  }

  fetch(request: BulkRequest): Promise<OutboundResponse> {
    return new Promise((resolve, reject) => {
      this.lastId += 1;
      this.used = true;
      // Requests under way keep the process alive, as they do when they are sent here.
      if (this.waiting.size === 0) this.worker?.ref();
      this.waiting.set(this.lastId, { resolve, reject });
      if (this.outgoing.push({ ...request, id: this.lastId }) === 1) setImmediate(() => { this.hand(); });
    });
  }

  async close(): Promise<void> {
    this.isBegun = true;
    this.isClosed = true;
    const { worker } = this;
    this.gone();
    await worker?.terminate();
  }

  private async begin(): Promise<void> {
    const { Worker } = await import('node:worker_threads');
    if (this.isClosed) return;
    const worker = new Worker(this.parts.module, { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: youngSpace } });
    this.worker = worker;
    worker.unref();
    worker.on('message', (message: Batch | null) => {
      if (message === null) this.isReady = true;
      else this.take(message);
    });
    worker.on('error', () => { this.broke(worker); });
    worker.on('exit', () => { this.broke(worker); });
    this.watch(worker);
  }

  private watch(worker: Worker): void {
    this.parts.clock.after(idleTime, () => {
      if (worker !== this.worker) return;
      if (this.used || this.waiting.size > 0) {
        this.used = false;
        this.watch(worker);
      } else {
        this.gone();
        this.isBegun = false;
        void worker.terminate();
      }
    });
  }

  private broke(worker: Worker | null): void {
    if (worker !== this.worker) return;
    this.gone();
    this.parts.clock.after(idleTime, () => { this.isBegun = this.isClosed; });
  }

  private hand(): void {
    const { outgoing, worker } = this;
    this.outgoing = [];
    if (worker === null) return;
    const batch = packRequests(outgoing);
    worker.postMessage(batch, [batch.bytes.buffer as ArrayBuffer]);
  }

  private take(batch: Batch): void {
    for (const given of unpackAnswers(batch)) {
      const waiting = this.waiting.get(given.id);
      this.waiting.delete(given.id);
      if ('answer' in given) waiting?.resolve(given.answer);
      else waiting?.reject(given.error as Error);
    }
    if (this.waiting.size === 0) this.worker?.unref();
  }

  /** It is over: what it had is answered for. */
  private gone(): void {
    const lost = [...this.waiting.values()];
    this.worker = null;
    this.isReady = false;
    this.waiting.clear();
    this.outgoing = [];
    for (const { reject } of lost) reject(new OutboundError('outbound_connect', 'The connection was lost with the thread that held it.'));
  }
}
