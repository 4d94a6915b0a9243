import type { Socket } from 'node:net';
import { expect } from 'chai';
import type { ClientBase } from 'pg';
import type { Knex } from '#plugin-api';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';

interface Connection extends ClientBase {
  readonly connection: { readonly stream: Socket };
}

describeDialects('a database whose connection breaks', (open, { dialect }) => {
  it('is unreachable, which no error of a statement means', async () => {
    const { knex, isUnavailable } = await open();
    for (const wrong of ['SELEKT', 'SELECT * FROM "Connection terminated"'])
      expect(isUnavailable(await failureOf(knex.raw(wrong))), wrong).to.equal(false);
    if (dialect === 'sqlite') return;
    const client = knex.client as Knex.Client;
    const broken = async (query: (connection: Connection) => PromiseLike<unknown>): Promise<unknown> => {
      const connection = (await client.acquireConnection()) as Connection;
      const failed = failureOf(Promise.resolve(query(connection)));
      connection.connection.stream.destroy();
      try {
        return await failed;
      } finally {
        await client.releaseConnection(connection);
      }
    };
    const failures = [
      await broken((connection) => connection.query('SELECT pg_sleep(60)')),
      await broken((connection) => knex.raw('SELECT pg_sleep(60)').connection(connection)),
    ];
    // Messages of the driver, and of knex with the statement in front.
    expect(failures.map((failure) => (failure as Error).message.startsWith('SELECT pg_sleep(60) - '))).to.deep.equal([
      false,
      true,
    ]);
    for (const failure of failures) expect(isUnavailable(failure), String(failure)).to.equal(true);
  });
});
