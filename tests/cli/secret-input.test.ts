import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { createCliRegistry } from '../../host/cli/registry.ts';

describe('secrets on the command line', () => {
  let folder: string;
  let given: unknown;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-cli-'));
    await writeFile(join(folder, 'key'), 'from a file\n');
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(() => {
    given = undefined;
  });

  async function run(argv: readonly string[], input = ''): Promise<{ code: number; out: string; err: string }> {
    const registry = createCliRegistry();
    const take = async (values: unknown): Promise<null> => {
      given = values;
      return null;
    };
    registry.addCommand({
      name: 'provider set',
      description: 'Set.',
      flags: { 'api-key': { type: 'string', writeOnly: true }, model: { type: 'string' } },
      run: ({ flags }) => take(flags),
    });
    registry.addCommand({
      name: 'key set',
      description: 'Set.',
      args: [{ name: 'value', description: 'The key.', secret: true }],
      run: ({ args }) => take(args),
    });
    registry.addCommand({
      name: 'webhook add',
      description: 'Add.',
      flags: { json: { type: 'object', writeOnly: true } },
      run: ({ flags }) => take(flags['json']),
    });
    const text = { out: '', err: '' };
    const code = await registry.run(argv, {
      out: (line) => void (text.out += line),
      err: (line) => void (text.err += line),
      input: () => Promise.resolve(input),
    });
    return { code, ...text };
  }

  it('come from standard input, without the line break at the end', async () => {
    expect(await run(['provider', 'set', '--api-key-stdin', '--model=m'], 'piped secret\n')).to.include({
      code: 0,
      err: '',
    });
    expect(given).to.deep.equal({ 'api-key': 'piped secret', model: 'm' });
    expect(await run(['key', 'set', '-'], 'piped\r\n')).to.include({ code: 0, err: '' });
    expect(given).to.deep.equal(['piped']);
    expect(await run(['webhook', 'add', '--json-stdin'], '{"secret":"s"}')).to.include({ code: 0, err: '' });
    expect(given).to.deep.equal({ secret: 's' });
  });

  it('come from a file', async () => {
    expect(await run(['provider', 'set', `--api-key=@${join(folder, 'key')}`])).to.include({ code: 0, err: '' });
    expect(given).to.deep.equal({ 'api-key': 'from a file' });
    expect(await run(['key', 'set', `@${join(folder, 'key')}`])).to.include({ code: 0, err: '' });
    expect(given).to.deep.equal(['from a file']);
    const { code, err } = await run(['key', 'set', '@/nonexistent']);
    expect([code, err]).to.deep.equal([
      1,
      'Error: The file /nonexistent of <value> cannot be read. Check its path and permissions.',
    ]);
  });

  it('work as arguments, with a warning that does not repeat them', async () => {
    const flag = await run(['provider', 'set', '--api-key=typed-secret']);
    expect(flag.code).to.equal(0);
    expect(flag.err).to.include('Use --api-key-stdin or --api-key=@file').and.not.include('typed-secret');
    expect(given).to.deep.equal({ 'api-key': 'typed-secret' });
    expect((await run(['key', 'set', '@@starts-with-at'])).err).to.include('Give - to read standard input, or @file');
    expect(given).to.deep.equal(['@starts-with-at']);
    expect((await run(['webhook', 'add', '--json', '{"secret":"s"}'])).err).to.include('Warning');
    expect((await run(['webhook', 'add', '--json', '{"name":"n"}'])).err).to.equal('');
  });

  it('are asked for once', async () => {
    expect((await run(['provider', 'set', '--api-key=a', '--api-key-stdin'], 'b')).err).to.include('once');
    expect((await run(['provider', 'set', '--api-key-stdin'], '')).err).to.include('Standard input is empty');
    expect((await run(['provider', 'set', '--model=m'])).err).to.equal('');
  });
});
