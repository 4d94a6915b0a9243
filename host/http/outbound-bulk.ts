import type { Dispatcher, buildConnector } from 'undici';
import type { Clock } from '#plugin-api';
import { BulkConnection, Exchange, Outbox, type ConnectionOwner } from './outbound-bulk-connection.ts';

export interface BulkDependencies {
  /** The guarded connector. */
  readonly connect: buildConnector.connector;
  /** Sends what is not of the plain form. */
  readonly agent: Dispatcher;
  readonly clock: Pick<Clock, 'after'>;
  /** Milliseconds of a clock that never jumps. Default: the process's. */
  readonly elapsed?: () => number;
}

/** Connections to one server, as undici's agent has them. */
const mostConnections = 64;
/** Milliseconds between two looks for connections that were idle for too long. */
const sweep = 1_000;

/** Header names that need no special treatment. */
const plainNames = new Set<string>();
const mostNames = 500;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Headers that decide how a request is framed, or what becomes of the connection. */
const framing =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|proxy-connection|upgrade|expect|te|trailer|http2-settings)$/i;
/** What no value may hold: above all the end of a line. */
const unfitValue = /[^\t\x20-\x7e\x80-\xff]/;
const plainPath = /^\/[\x21-\x7e]*$/;

/**
 * Sends POSTs of which there are thousands a second, over HTTP/1.1 on Node's own sockets: it takes a third of the time that undici takes
 * for one, most of which goes into what no webhook needs. The connector, its guard and its TLS are the same. Whatever is not plain (other
 * methods, headers that concern the connection, text that is not Latin-1) goes to undici.
 *
 * Connections are kept, up to 64 for each server; what finds none free waits for its turn.
 */
export class BulkDispatcher implements Pick<Dispatcher, 'dispatch'> {
  private readonly parts: BulkDependencies;
  private readonly pools = new Map<string, Pool>();
  private readonly outbox = new Outbox();
  private isClosing = false;

  constructor(parts: BulkDependencies) {
    this.parts = parts;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { body, origin } = options;
    const head = typeof origin === 'string' && body instanceof Uint8Array ? headOf(options, body.length) : null;
    if (head === null) return this.parts.agent.dispatch(options, handler);
    const exchange = new Exchange({ head, body: body as Uint8Array, handler });
    exchange.begin();
    if (!exchange.aborted) this.poolOf(origin as string).take(exchange);
    return true;
  }

  /** Closes idle connections, and busy ones after their response. */
  async close(): Promise<void> {
    this.isClosing = true;
    for (const pool of this.pools.values()) pool.closeIdle(true);
    await this.parts.agent.close();
  }

  /** Ends all connections; what is under way fails. */
  async destroy(): Promise<void> {
    this.isClosing = true;
    for (const pool of this.pools.values()) pool.destroy(new Error('the client was closed'));
    await this.parts.agent.destroy();
  }

  private poolOf(origin: string): Pool {
    const found = this.pools.get(origin);
    if (found) return found;
    const pool = new Pool({
      ...this.parts,
      outbox: this.outbox,
      origin: new URL(origin),
      isClosing: () => this.isClosing,
      emptied: () => this.pools.delete(origin),
    });
    this.pools.set(origin, pool);
    return pool;
  }
}

/** Null: undici has to send it, or to say why it cannot. */
function headOf({ origin, path, method, headers }: Dispatcher.DispatchOptions, length: number): string | null {
  if (method !== 'POST' || !plainPath.test(path)) return null;
  const host = (origin as string).slice((origin as string).indexOf('//') + 2);
  let text = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
  let values = '';
  const given = headers as Readonly<Record<string, string>>;
  for (const name in given) {
    const value = given[name];
    if (typeof value !== 'string' || !isPlain(name)) return null;
    text += `${name}: ${value}\r\n`;
    values += value;
  }
  if (unfitValue.test(values)) return null;
  return `${text}content-length: ${String(length)}\r\n\r\n`;
}

function isPlain(name: string): boolean {
  if (plainNames.has(name)) return true;
  if (!token.test(name) || framing.test(name)) return false;
  if (plainNames.size >= mostNames) plainNames.clear();
  plainNames.add(name);
  return true;
}

interface PoolParts extends BulkDependencies {
  readonly outbox: Outbox;
  readonly origin: URL;
  readonly isClosing: () => boolean;
  /** It has no connection left, and nothing waits for one. */
  readonly emptied: () => void;
}

/** The connections to one server. */
class Pool implements ConnectionOwner {
  private readonly parts: PoolParts;
  private readonly open = new Set<BulkConnection>();
  /** The most recently used one is last and is reused first. */
  private idle: BulkConnection[] = [];
  private waiting: Exchange[] = [];
  private connecting = 0;
  private isSweeping = false;
  readonly outbox: Outbox;
  private readonly elapsed: () => number;

  constructor(parts: PoolParts) {
    this.parts = parts;
    this.outbox = parts.outbox;
    this.elapsed = parts.elapsed ?? (() => performance.now());
  }

  take(exchange: Exchange): void {
    const connection = this.idle.pop();
    if (connection !== undefined) return connection.send(exchange);
    exchange.holder = this;
    this.waiting.push(exchange);
    this.connect();
  }

  drop(exchange: Exchange): void {
    this.waiting = this.waiting.filter((other) => other !== exchange);
  }

  released(connection: BulkConnection): void {
    const next = this.waiting.shift();
    if (next !== undefined) return connection.send(next);
    if (this.parts.isClosing()) return connection.close(null);
    connection.rest(this.elapsed());
    this.idle.push(connection);
    this.watch();
  }

  lost(connection: BulkConnection): void {
    this.open.delete(connection);
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    this.connect();
    this.look();
  }

  /** @param all also those whose time is not over. */
  closeIdle(all: boolean): void {
    const now = this.elapsed();
    for (const connection of [...this.idle])
      if (all || now - connection.idleSince >= connection.idleTime) connection.close(null);
  }

  destroy(reason: Error): void {
    const waiting = this.waiting.splice(0);
    for (const connection of [...this.open]) connection.close(reason);
    for (const exchange of waiting) exchange.fail(reason);
  }

  /** One more connection where one is wanted and allowed. */
  private connect(): void {
    if (this.connecting >= this.waiting.length || this.open.size + this.connecting >= mostConnections) return;
    this.connecting += 1;
    const {
      origin: { protocol, hostname, host, port },
      connect,
    } = this.parts;
    connect({ protocol, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), host, port }, (error, socket) => {
      this.connecting -= 1;
      if (error !== null) {
        this.waiting.shift()?.fail(error);
        this.connect();
        return this.look();
      }
      const connection = new BulkConnection(socket, this);
      this.open.add(connection);
      this.released(connection);
    });
  }

  private watch(): void {
    if (this.isSweeping) return;
    this.isSweeping = true;
    this.parts.clock.after(sweep, () => {
      this.isSweeping = false;
      this.closeIdle(false);
      if (this.idle.length > 0) this.watch();
    });
  }

  private look(): void {
    if (this.open.size + this.connecting + this.waiting.length === 0) this.parts.emptied();
  }
}
