import { createUploadFolder } from '../../host/content/media/upload-folder.ts';
import { join } from 'node:path';
import { expect } from 'chai';
import { databaseCommands } from '../../host/cli/database-commands.ts';
import { createCliRegistry } from '../../host/cli/registry.ts';
import { describeDialects } from '../helpers/dialects.ts';

describeDialects('the db commands', (open, { dialect, directory }) => {
  async function start() {
    const database = await open();
    await database.migrate('host', [
      { id: '0001_notes', up: async (knex) => knex.schema.createTable('notes', (table) => table.string('text')) },
    ]);
    const registry = createCliRegistry();
    for (const command of databaseCommands({
      database,
      mail: { describeHeld: async () => null },
      secrets: { unreadable: async () => [] },
      content: { parts: { uploads: createUploadFolder(null) } },
    }))
      registry.addCommand(command);
    const run = async (...argv: string[]): Promise<string> => {
      let said = '';
      const code = await registry.run(argv, { out: (text) => (said += text), err: (text) => (said += text) });
      return `${code} ${said}`;
    };
    return { database, run };
  }

  it('show the database and what its tables lack', async () => {
    const { database, run } = await start();
    expect(JSON.parse((await run('db', 'status', '--json')).slice(2))).to.deep.equal({
      dialect,
      database: database.label,
      migrations: 1,
      pending: [],
    });
    expect(await run('db', 'migrate')).to.equal('0 The tables are up to date.');
  });

  it('apply what is missing', async () => {
    const { database, run } = await start();
    await database.knex('migrations').delete();
    await database.knex.schema.dropTable('notes');
    expect(await run('db', 'status')).to.include('host/0001_notes');
    expect(await run('db', 'migrate')).to.equal('0 1 migration applied.');
  });

  it('write a backup and bring it back', async () => {
    const { database, run } = await start();
    const file = join(directory(), 'backup.jsonl.gz');
    await database.knex('notes').insert({ text: 'kept' });
    expect(await run('db', 'backup', file)).to.match(/^0 [^]*rows: 2/);
    await database.knex('notes').delete();
    expect(await run('db', 'restore', file)).to.match(/^0 [^]*rows: 2/);
    expect(await database.knex('notes').pluck('text')).to.deep.equal(['kept']);
    expect(await run('db', 'restore', `${file}.absent`)).to.match(/^1 Error: The backup .* cannot be read \(ENOENT\)/);
  });
});
