import type { Client, Dispatcher, buildConnector } from 'undici';

export interface ClientsDependencies {
  /** The guarded connector. */
  readonly connect: buildConnector.connector;
  /** undici's; a parameter because undici loads on first use. */
  readonly Client: typeof Client;
}

/** Milliseconds after which an idle connection is closed, unless the server announces a shorter time. */
const keepAliveTimeout = 10_000;

interface PooledClient {
  readonly client: Client;
  readonly origin: string;
  /** Whether it waits for the next request in the list of its origin. */
  isIdle: boolean;
  isConnected: boolean;
}

/**
 * undici clients with one connection each. A request takes one that is idle, or a new one: no request waits for another,
 * and the callers limit how many are in flight (D28). An undici Pool without a limit searches all its clients for each
 * request, and an Agent with a Pool costs a quarter more.
 */
export class OutboundClients {
  private readonly parts: ClientsDependencies;
  private readonly open = new Set<PooledClient>();
  /** By origin. The most recently used one is last and is taken first. */
  private readonly idle = new Map<string, PooledClient[]>();
  private isClosing = false;

  constructor(parts: ClientsDependencies) {
    this.parts = parts;
  }

  /** Like that of an undici Dispatcher. Errors, of options too, go to the handler. */
  dispatch(
    options: Dispatcher.DispatchOptions & { readonly origin: string },
    handler: Dispatcher.DispatchHandler,
  ): void {
    const pooled = this.idle.get(options.origin)?.pop() ?? this.create(options.origin);
    pooled.isIdle = false;
    // A refused request leaves the client as it was and emits no `drain`.
    if (pooled.client.dispatch(options, handler) || pooled.client.stats.size === 0) this.release(pooled);
  }

  /** Closes idle connections now and the others after their response. */
  close(): void {
    this.isClosing = true;
    for (const pooled of this.open) if (pooled.isIdle) this.remove(pooled);
  }

  /** Closes all connections. Requests on them fail. */
  async destroy(): Promise<void> {
    this.isClosing = true;
    this.idle.clear();
    await Promise.all([...this.open].map(({ client }) => client.destroy()));
    this.open.clear();
  }

  private create(origin: string): PooledClient {
    const { Client, connect } = this.parts;
    // The caller applies one timeout over all phases, so undici's own timers are off.
    const client = new Client(origin, { connect, keepAliveTimeout, headersTimeout: 0, bodyTimeout: 0 });
    const pooled: PooledClient = { client, origin, isIdle: false, isConnected: false };
    this.open.add(pooled);
    client.on('connect', () => (pooled.isConnected = true));
    client.on('disconnect', () => {
      pooled.isConnected = false;
      // A request that is not written yet connects again.
      if (pooled.isIdle) this.remove(pooled);
    });
    client.on('drain', () => {
      this.release(pooled);
    });
    return pooled;
  }

  private release(pooled: PooledClient): void {
    if (pooled.isIdle) return;
    if (!pooled.isConnected || this.isClosing) return this.remove(pooled);
    pooled.isIdle = true;
    const others = this.idle.get(pooled.origin);
    if (others === undefined) this.idle.set(pooled.origin, [pooled]);
    else others.push(pooled);
  }

  private remove(pooled: PooledClient): void {
    if (!this.open.delete(pooled)) return;
    const others = this.idle.get(pooled.origin) ?? [];
    const index = others.indexOf(pooled);
    if (index >= 0) others.splice(index, 1);
    if (others.length === 0) this.idle.delete(pooled.origin);
    void pooled.client.destroy();
  }
}
