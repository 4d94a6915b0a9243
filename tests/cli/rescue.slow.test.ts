import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { fileToRestore } from '../../host/cli/rescue.ts';
import { readConfig } from '../../host/start/config.ts';
import { createHost, type Host } from '../../host/host.ts';
import { describeDialects } from '../helpers/dialects.ts';
import { failureOf } from '../helpers/failure-of.ts';
import { runCli } from '../helpers/running-site.ts';
import { pluginFiles } from '../loader/helpers/zips.ts';

const notes = `export default { register() {}, migrations: [{ id: '0001_notes', up: async (knex) => {
  await knex.schema.createTable('sample_notes', (table) => { table.increments('id'); table.string('text', 100); });
} }] };`;

describeDialects('db restore on a site that cannot start', (_open, { location }) => {
  let folder = '';
  let environment: Record<string, string> = {};
  let host: Host | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-rescue-'));
    const { databaseUrl } = location();
    environment = {
      DATA_DIR: join(folder, 'data'),
      PLUGIN_DIRS: join(folder, 'plugins'),
      PORT: '0',
      LOG_LEVEL: 'silent',
      SECRET_KEY: 'a key for tests alone',
      ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }),
    };
    await mkdir(join(folder, 'plugins', 'sample'), { recursive: true });
    for (const [name, content] of Object.entries(pluginFiles({}, notes)))
      await writeFile(join(folder, 'plugins', 'sample', name), content);
  });
  afterEach(async () => {
    await host?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const open = async (): Promise<Host> => (host = await createHost({ config: readConfig(environment) }));
  const cli = (...argv: string[]): Promise<string> => runCli(argv, { PATH: process.env.PATH ?? '', ...environment });
  const refusal = async (...argv: string[]): Promise<string> => ((await failureOf(cli(...argv))) as Error).message;
  /** A site with data of its own and of a plugin, backed up, then changed and taken over by a version from the future. */
  async function strand(): Promise<string> {
    const backup = join(folder, 'backup.jsonl.gz');
    const site = await open();
    await site.plugins.activate('sample');
    await site.options.update('blogname', 'As it was');
    await site.database.knex('sample_notes').insert({ text: 'kept' });
    await site.database.backup(backup);
    await site.options.update('blogname', 'Too late');
    await site.database.knex('sample_notes').delete();
    await site.database.knex('migrations').insert({ owner: 'host', id: '9999_from_the_future', applied_at: 1 });
    await site.stop();
    host = undefined;
    return backup;
  }

  it('brings everything back, plugins’ tables included, and the site starts again', async function () {
    this.timeout(60_000);
    const backup = await strand();
    expect(((await failureOf(open())) as Error).message).to.contain('The database is newer than this code');
    expect(await cli('db', 'restore', backup)).to.match(
      /^The site could not start, so the backup was restored without it: \d+ tables, \d+ rows, then 0 migrations\.\n$/,
    );
    const site = await open();
    expect(await site.options.get('blogname')).to.equal('As it was');
    expect(await site.database.knex('sample_notes').pluck('text')).to.deep.equal(['kept']);
    expect(site.plugins.list()[0]).to.include({ slug: 'sample', state: 'active' });
  });

  it('is the only command that runs there, and says when there is no such backup', async function () {
    this.timeout(60_000);
    await strand();
    expect(await refusal('option', 'get', 'blogname')).to.match(
      /^Error: The site was not started\. The database is newer than this code/,
    );
    expect(await refusal('db', 'restore', join(folder, 'absent.jsonl.gz'))).to.match(
      /^Error: The backup .* cannot be read \(ENOENT\)/,
    );
    await writeFile(join(folder, 'broken.jsonl.gz'), 'no backup');
    expect(await refusal('db', 'restore', join(folder, 'broken.jsonl.gz'))).to.match(/^Error: /);
    expect(((await failureOf(open())) as Error).message).to.contain('The database is newer than this code');
  });
});

describe('the command that must work where the site does not start', () => {
  it('is db restore with one file', () => {
    expect(fileToRestore(['db', 'restore', 'a.jsonl.gz'])).to.equal('a.jsonl.gz');
    expect(fileToRestore(['db', '--json', 'restore', 'a.jsonl.gz'])).to.equal('a.jsonl.gz');
    for (const other of [['db', 'restore'], ['db', 'backup', 'a'], ['db', 'restore', 'a', 'b'], []])
      expect(fileToRestore(other)).to.equal(null);
  });
});
