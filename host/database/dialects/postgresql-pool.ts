// Not the global ones: the host notes who starts those.
import { clearTimeout, setTimeout } from 'node:timers';
import type { Client, ClientConfig, QueryConfig } from 'pg';
import { Pool } from 'tarn';
import { markConnectionError, statementLimit } from '../outages.ts';
import { storableBindings } from './storable-bindings.ts';

/** Connections per node, besides the one for LISTEN. */
const poolSize = 10;

export interface PostgresqlPool extends Pool<Client> {
  /** Ends all present connections, because the server does not respond: their statements fail at once. */
  endAll(): void;
}

/** The connections of knex (`connectionPool`), whose errors are known to be those of the database. */
export function createPostgresqlPool(driver: { readonly Client: typeof Client }, config: ClientConfig): PostgresqlPool {
  class StorableClient extends driver.Client {
    override query = ((statement: string | QueryConfig, ...rest: [never]) => {
      limitStatement(this, statementLimit(), () => end(this));
      return super.query(
        typeof statement === 'string' ? statement : { ...statement, values: storableBindings(statement.values ?? []) },
        ...rest,
      );
    }) as Client['query'];
  }
  const usable = new Set<Client>();
  const end = (client: Client): void => {
    usable.delete(client);
    void client.end();
  };
  const pool = new Pool<Client>({
    async create() {
      const client = new StorableClient(config);
      client.on('error', (error) => {
        usable.delete(client);
        markConnectionError(error);
      });
      client.on('end', () => usable.delete(client));
      return client.connect().then(
        () => {
          usable.add(client);
          return client;
        },
        (error: Error) => {
          markConnectionError(error);
          throw error;
        },
      );
    },
    validate: (client) => usable.has(client),
    destroy: (client) => {
      usable.delete(client);
      return client.end();
    },
    min: 0,
    max: poolSize,
    idleTimeoutMillis: 30_000,
    acquireTimeoutMillis: 15_000,
    propagateCreateError: true,
  });
  return Object.assign(pool, { endAll: () => [...usable].forEach(end) });
}

/** Calls `late` unless all statements of the client have ended within so many milliseconds. */
function limitStatement(client: Client, limit: number, late: () => void): void {
  if (limit === Infinity) return;
  // What came while this process was busy is read before the immediate runs.
  const timer = setTimeout(() => (immediate = setImmediate(late)), limit);
  let immediate: NodeJS.Immediate | undefined;
  timer.unref();
  client.once('drain', () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  });
}
