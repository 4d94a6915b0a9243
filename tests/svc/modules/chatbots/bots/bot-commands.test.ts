import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { TestHost } from '#testing';
import { createMigratedHost } from '../../../../helpers/migrated.ts';

describe('the commands of bots', () => {
  let host: TestHost;
  let directory: string;
  before(async () => {
    host = await createMigratedHost({ plugins: ['svc', 'sandbox'] });
    directory = await mkdtemp(join(tmpdir(), 'svc-bots-'));
  });
  after(async () => {
    await host.stop();
    await rm(directory, { recursive: true, force: true });
  });

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what commands print is compared, not typed.
  async function run(...argv: string[]): Promise<any> {
    const { code, out, err } = await host.cli('svc', 'bot', ...argv);
    expect(code, err).to.equal(0);
    return JSON.parse(out);
  }
  async function refusal(...argv: string[]): Promise<string> {
    const { code, out, err } = await host.cli('svc', 'bot', ...argv);
    expect([code, out]).to.deep.equal([1, '']);
    expect(err.trim()).to.match(/^Error: .+$/);
    return err;
  }

  it('create prints the bot with its id, get prints it again, update changes the given settings', async () => {
    const bot = await run(
      'create',
      '--json',
      JSON.stringify({ name: 'Shop assistant', embed: { enabled: true, allowed_domains: ['shop.example.com'] } }),
    );
    expect(bot).to.deep.include({
      id: 1,
      name: 'Shop assistant',
      status: 'active',
      max_completion_tokens: 4000,
      embed: { enabled: true, allowed_domains: ['shop.example.com'], any_site: false },
    });
    expect(bot.created_at).to.match(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(await run('get', '1', '--json')).to.deep.equal(bot);
    const changed = await run('update', '--json', JSON.stringify({ ...bot, texts: { title: 'Ask us' } }));
    expect(changed.texts).to.deep.equal({ ...bot.texts, title: 'Ask us' });
    expect(await run('list', '--json')).to.deep.equal([
      {
        id: 1,
        name: 'Shop assistant',
        status: 'active',
        provider: bot.provider,
        model: bot.model,
        embed: 'shop.example.com',
      },
    ]);
  });

  it('a new bot answers with the sandbox when that is on', async () => {
    await host.cli('svc', 'sandbox', 'on');
    const { provider, model } = await run('create', '--json', '{}');
    await host.cli('svc', 'sandbox', 'off');
    expect(provider).to.equal('openai');
    expect(model).to.be.a('string').and.not.equal('');
  });

  it('duplicate, export and import create bots with the same settings; delete removes one', async () => {
    const bot = await run(
      'create',
      '--json',
      JSON.stringify({
        name: 'Original',
        starters: ['Hello?'],
        rules: [{ id: 'r', event: 'error', action: { type: 'reply', text: 'Sorry.' } }],
      }),
    );
    const copy = await run('duplicate', String(bot.id), '--json');
    expect(copy).to.deep.include({
      name: 'Original (copy)',
      status: 'inactive',
      starters: bot.starters,
      rules: bot.rules,
    });
    const transfer = await run('export', String(bot.id), String(copy.id));
    expect(transfer).to.deep.include({ format: 'svc-chatbots', version: 1 });
    expect(await run('export', String(bot.id), String(copy.id), '--json')).to.deep.equal(transfer);
    expect(JSON.stringify(transfer)).not.to.match(/"(id|created_at|updated_at)":\s*\d/);
    const file = join(directory, 'bots.json');
    await writeFile(file, `\ufeff${JSON.stringify(transfer)}`);
    const made = await run('import', file, '--json');
    expect(made.map(({ name }: { name: string }) => name)).to.deep.equal(['Original', 'Original (copy)']);
    const arrived = await run('get', String(made[0].id), '--json');
    const { id: _id, created_at: _created, updated_at: _updated, ...settings } = bot;
    expect(arrived).to.deep.include(settings);
    expect(await run('delete', String(copy.id), '--json')).to.deep.equal({ id: copy.id, deleted: true });
    expect(await refusal('get', String(copy.id))).to.contain(`Chatbot ${copy.id} does not exist`);
    expect((await run('export')).bots).to.have.length((await run('list', '--json')).length);
  });

  it('import creates no bot if one is invalid, and reports every error by its path', async () => {
    const before = await run('list', '--json');
    const file = join(directory, 'wrong.json');
    await writeFile(
      file,
      JSON.stringify({ format: 'svc-chatbots', version: 1, bots: [{ name: 'Good' }, { name: '', max_messages: 0 }] }),
    );
    expect(await refusal('import', file))
      .to.contain('bots[1].name must')
      .and.contain('bots[1].max_messages must be from 1 to 200');
    expect(await run('list', '--json')).to.deep.equal(before);
  });

  const files: Record<string, [string, string]> = {
    'is not JSON': ['{', 'The file is not JSON. Choose a file from an export.'],
    'is something else': ['{"posts": []}', 'The file is not an export of chatbots'],
    'is of a later version': [
      '{"format": "svc-chatbots", "version": 2, "bots": [{}]}',
      'The file has version 2. Only version 1 can be imported.',
    ],
    'holds no bots': ['{"format": "svc-chatbots", "version": 1, "bots": []}', 'bots must contain 1 to 200 chatbots.'],
  };
  for (const [name, [content, sentence]] of Object.entries(files)) {
    it(`import refuses a file that ${name}`, async () => {
      const file = join(directory, 'file.json');
      await writeFile(file, content);
      expect(await refusal('import', file)).to.contain(sentence);
    });
  }

  it('report errors in one line', async () => {
    expect(await refusal('create')).to.contain('Write the chatbot as JSON, for example');
    expect(await refusal('create', '--json', '{"id": 4}')).to.contain('gets its id automatically');
    expect(await refusal('create', '--json', '{"name": "", "status": "on"}'))
      .to.contain('name must')
      .and.contain('status must be one of active, inactive.');
    expect(await refusal('update', '--json', '{"name": "x"}')).to.contain('Add the "id" of the chatbot');
    for (const id of ['999', '0', 'abc', '1.5', '99999999999999'])
      expect(await refusal('delete', id)).to.contain(`Chatbot ${id} does not exist.`);
    expect(await refusal('update', '--json', '{"id": "x", "name": "y"}')).to.contain('Chatbot x does not exist.');
    expect(await refusal('import', join(directory, 'nowhere.json'))).to.contain('cannot be read');
  });
});
