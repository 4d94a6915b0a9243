// @ts-expect-error Knex has no types for it.
import KnexPostgresql from 'knex/lib/dialects/postgres/index.js';
import type { ClientBase } from 'pg';
import type { Knex } from '#plugin-api';
import { fromConnecting, fromConnection } from '../outages.ts';
import { storableBindings } from './storable-bindings.ts';

interface Connecting {
  acquireRawConnection(): Promise<ClientBase>;
  _query(connection: ClientBase, query: { sql: string }): Promise<unknown>;
  prepBindings(bindings: unknown): unknown;
}

const KnexClient = KnexPostgresql as new (config: Knex.Config) => InstanceType<typeof Knex.Client> & Connecting;

/** Knex's client for PostgreSQL, whose errors of the system are known to be those of its connections. */
class PostgresqlClient extends KnexClient {
  override acquireRawConnection(): Promise<ClientBase> {
    return fromConnecting(super.acquireRawConnection());
  }

  override prepBindings(bindings: unknown): unknown {
    return super.prepBindings(storableBindings(bindings));
  }

  override _query(connection: ClientBase, query: { sql: string }): Promise<unknown> {
    return fromConnection(super._query(connection, query));
  }
}

export const postgresqlClient = PostgresqlClient as unknown as typeof Knex.Client;
