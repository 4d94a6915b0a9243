import driver, { type Client } from 'pg';
import { createTypeParser } from './postgresql-types.ts';
import { createReducer, resultOf, type ReductionTask } from './row-reducer.ts';

export interface PostgresqlTask extends ReductionTask {
  readonly databaseUrl: string;
}

/** Milliseconds. */
const connectTimeout = 5_000;
/** Milliseconds that the next rows may take. */
const statementTimeout = 60_000;
/** Rows in memory. */
const batchSize = 200;

/** Of this thread, which runs one SELECT at a time. */
let connection: Client | undefined;

/** Called in a worker thread. A cursor gives its rows in batches. */
export async function reduceRows({ databaseUrl, sql, values, ...task }: PostgresqlTask): Promise<unknown> {
  let isConnecting = false;
  return resultOf(
    async () => {
      const reducer = await createReducer(task);
      isConnecting = true;
      const client = (connection ??= await connect(databaseUrl));
      isConnecting = false;
      try {
        await client.query('BEGIN READ ONLY');
        await client.query(`DECLARE found NO SCROLL CURSOR FOR ${sql}`, [...values]);
        for (let isLast = false; !isLast;) {
          const { rows } = await client.query<unknown[]>({
            text: `FETCH ${String(batchSize)} FROM found`,
            rowMode: 'array',
          });
          for (const row of rows) reducer.add(row);
          isLast = rows.length < batchSize;
        }
        await client.query('COMMIT');
        return reducer.end();
      } catch (error) {
        forget(client);
        throw error;
      }
    },
    () => isConnecting,
  );
}

async function connect(databaseUrl: string): Promise<Client> {
  const client = new driver.Client({
    connectionString: databaseUrl,
    application_name: 'svc',
    connectionTimeoutMillis: connectTimeout,
    statement_timeout: statementTimeout,
    keepAlive: true,
    types: { getTypeParser: createTypeParser(driver.types) },
  });
  client.on('error', () => forget(client));
  await client.connect();
  return client;
}

/** The next SELECT gets another connection: the state of this one is unknown. */
function forget(client: Client): void {
  if (connection === client) connection = undefined;
  void client.end().catch(() => undefined);
}
