import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { Http1ResponseParser, UnreadableResponseError, type AnswerSink } from './http1-response-parser.ts';

/** One request on its way, and what undici's handlers expect to steer it by. */
export class Exchange implements Dispatcher.DispatchController {
  readonly head: string;
  readonly body: Uint8Array;
  private readonly handler: Dispatcher.DispatchHandler;
  /** Is notified when the exchange is abandoned. */
  holder: { drop(exchange: Exchange): void } | null = null;
  reason: Error | null = null;
  /** It had a connection that was lost before anything was sent over it. */
  isSecondTry = false;
  /** The reader bounds how much of a response is stored. */
  readonly paused = false;
  private isOver = false;

  constructor({
    head,
    body,
    handler,
  }: {
    readonly head: string;
    readonly body: Uint8Array;
    readonly handler: Dispatcher.DispatchHandler;
  }) {
    this.head = head;
    this.body = body;
    this.handler = handler;
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  begin(): void {
    this.handler.onRequestStart?.(this, null);
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    this.reason = reason;
    this.holder?.drop(this);
    this.fail(reason);
  }

  pause(): void {}

  resume(): void {}

  start(status: number, headers: Readonly<Record<string, string>>): void {
    if (!this.isOver) this.handler.onResponseStart?.(this, status, headers);
  }

  data(bytes: Buffer): void {
    if (!this.isOver) this.handler.onResponseData?.(this, bytes);
  }

  complete(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.handler.onResponseEnd?.(this, {});
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.handler.onResponseError?.(this, error);
  }
}

/**
 * Writes what connections have to send at the end of the turn of the loop, all of it in one go: a receiver is woken once for many
 * requests and answers the first while the others are written. One by one each costs three times as much, most of it for waking.
 */
export class Outbox {
  private waiting: BulkConnection[] = [];

  add(connection: BulkConnection): void {
    if (this.waiting.push(connection) === 1) setImmediate(this.empty);
  }

  private readonly empty = (): void => {
    const { waiting } = this;
    this.waiting = [];
    for (const connection of waiting) connection.write();
  };
}

/** What a connection reports to its pool. */
export interface ConnectionOwner {
  readonly outbox: Outbox;
  /** Sends it over another connection. */
  take(exchange: Exchange): void;
  /** It is free for the next request. */
  released(connection: BulkConnection): void;
  /** It is closed. */
  lost(connection: BulkConnection): void;
}

/** Milliseconds an idle connection is kept, unless the server names a time, of which a part is left for the way there. */
const idleTime = 10_000;
const margin = 2_000;
const longestIdle = 600_000;

/** A connection that sends one request after the other. */
export class BulkConnection implements AnswerSink {
  private readonly socket: Socket;
  private readonly owner: ConnectionOwner;
  private readonly parser = new Http1ResponseParser(this);
  private exchange: Exchange | null = null;
  private isLost = false;
  private isWritten = false;
  /** Milliseconds it may be idle now. */
  idleTime = idleTime;
  /** When it became idle, on a clock that never jumps. */
  idleSince = 0;

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket;
    this.owner = owner;
    socket.on('data', (bytes: Buffer) => {
      this.read(bytes);
    });
    socket.on('end', () => {
      this.ended();
    });
    socket.on('error', (error: Error) => {
      this.broke(error);
    });
    socket.on('close', () => {
      this.broke(brokenOff());
    });
  }

  send(exchange: Exchange): void {
    this.exchange = exchange;
    this.isWritten = false;
    exchange.holder = this;
    this.parser.begin();
    this.socket.ref();
    this.owner.outbox.add(this);
  }

  write(): void {
    const { exchange, socket } = this;
    if (exchange === null) return;
    this.isWritten = true;
    // Head and body in one packet.
    socket.cork();
    socket.write(exchange.head, 'latin1');
    if (exchange.body.length > 0) socket.write(exchange.body);
    socket.uncork();
  }

  /** Waits for the next request, and keeps no process alive for it. @param now milliseconds. */
  rest(now: number): void {
    this.idleSince = now;
    this.socket.unref();
  }

  drop(exchange: Exchange): void {
    if (this.exchange !== exchange) return;
    this.exchange = null;
    this.close(null);
  }

  /** Ends what is under way with the error; null: nothing is. */
  close(error: Error | null): void {
    const { exchange } = this;
    this.shut();
    if (error !== null) exchange?.fail(error);
  }

  /** The peer closed it. Unsent requests are retried elsewhere once; a server that always closes would cause endless retries. */
  private broke(error: Error): void {
    const { exchange, isWritten } = this;
    if (exchange === null || isWritten || exchange.isSecondTry) return this.close(error);
    this.exchange = null;
    exchange.isSecondTry = true;
    // First: an owner that loses its last connection while nothing waits is given up.
    this.owner.take(exchange);
    this.shut();
  }

  private shut(): void {
    this.exchange = null;
    this.socket.destroy();
    if (!this.isLost) {
      this.isLost = true;
      this.owner.lost(this);
    }
  }

  onHead(status: number, headers: Readonly<Record<string, string>>): void {
    const seconds = /(?:^|[,; \t])timeout=(\d{1,6})/i.exec(headers['keep-alive'] ?? '')?.[1];
    this.idleTime = seconds === undefined ? idleTime : Math.min(longestIdle, Number(seconds) * 1000 - margin);
    this.exchange?.start(status, headers);
  }

  onBody(bytes: Buffer): void {
    this.exchange?.data(bytes);
  }

  private read(bytes: Buffer): void {
    // Unsolicited: it is not a response to the next request.
    if (this.exchange === null || !this.isWritten) return this.broke(brokenOff());
    try {
      if (this.parser.read(bytes)) this.complete();
    } catch (error) {
      this.close(error instanceof UnreadableResponseError ? error : brokenOff(error));
    }
  }

  private ended(): void {
    if (this.exchange !== null && this.isWritten && this.parser.end()) this.complete();
    this.broke(brokenOff());
  }

  private complete(): void {
    const { exchange } = this;
    this.exchange = null;
    // Answered before all was sent: what is still on its way would stand before the next request.
    if (!this.isLost && this.parser.keepsConnection && this.idleTime > 0 && this.socket.writableLength === 0) {
      this.owner.released(this);
    } else this.close(null);
    exchange?.complete();
  }
}

function brokenOff(cause?: unknown): Error {
  return Object.assign(new Error('the other side closed the connection', { cause }), { code: 'ECONNRESET' });
}
