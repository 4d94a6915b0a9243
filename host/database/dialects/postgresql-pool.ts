import type { Client, ClientConfig, QueryConfig } from 'pg';
import { Pool } from 'tarn';
import { markConnectionError } from '../outages.ts';
import { storableBindings } from './storable-bindings.ts';

/** Connections per node, besides the one for LISTEN. */
const poolSize = 10;

/** The connections of knex (`connectionPool`), whose errors are known to be those of the database. */
export function createPostgresqlPool(driver: { readonly Client: typeof Client }, config: ClientConfig): Pool<Client> {
  class StorableClient extends driver.Client {
    override query = ((statement: string | QueryConfig, ...rest: [never]) =>
      super.query(
        typeof statement === 'string' ? statement : { ...statement, values: storableBindings(statement.values ?? []) },
        ...rest,
      )) as Client['query'];
  }
  const broken = new WeakSet<Client>();
  return new Pool<Client>({
    async create() {
      const client = new StorableClient(config);
      client.on('error', (error) => {
        broken.add(client);
        markConnectionError(error);
      });
      client.on('end', () => broken.add(client));
      return client.connect().then(
        () => client,
        (error: Error) => {
          markConnectionError(error);
          throw error;
        },
      );
    },
    validate: (client) => !broken.has(client),
    destroy: (client) => client.end(),
    min: 0,
    max: poolSize,
    idleTimeoutMillis: 30_000,
    acquireTimeoutMillis: 15_000,
    propagateCreateError: true,
  });
}
