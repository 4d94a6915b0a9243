import knex from 'knex';

/** What `option get` is compared with: a program that opens the same database and reads the row. */
const [, , filename, name] = process.argv;
const database = knex({ client: 'better-sqlite3', useNullAsDefault: true, connection: { filename } });
const { value } = await database('options').where({ name }).first('value');
process.stdout.write(`${JSON.parse(value)}\n`);
await database.destroy();
