import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { CliCommand } from '#plugin-api';
import { createCliRegistry } from '../../host/cli/registry.ts';

const command = (name: string, flags: CliCommand['flags'] = {}): CliCommand => ({
  name,
  description: 'Does something',
  flags,
  run: () => Promise.resolve(),
});

async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const registry = createCliRegistry();
  for (const each of [
    command('option get'),
    command('option set', { 'base-url': { type: 'string' } }),
    command('plugin list'),
    command('$(touch broken)'),
  ])
    registry.addCommand(each);
  const printed = { out: '', err: '' };
  const code = await registry.run(argv, {
    out: (text) => (printed.out += `${text}\n`),
    err: (text) => (printed.err += `${text}\n`),
  });
  return { code, ...printed };
}

/** What bash offers after these words. */
async function complete(...words: string[]): Promise<string[]> {
  const { out } = await run('completion', 'bash', '--name=site-cli');
  const script = `${out}
COMP_WORDS=(site-cli "$@"); COMP_CWORD=$#; _site_cli_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', ...words]);
  return stdout.split('\n').filter((word) => word !== '');
}

describe('completion in a shell', () => {
  it('offers groups, commands and flags in bash', async () => {
    expect(await complete('')).to.deep.equal(['option', 'plugin']);
    expect(await complete('op')).to.deep.equal(['option']);
    expect(await complete('option', '')).to.deep.equal(['get', 'set']);
    expect(await complete('option', 'set', '--b')).to.deep.equal(['--base-url']);
    expect(await complete('option', 'get', 'blogname', '--')).to.deep.equal(['--help', '--json']);
  });

  it('prints the same words for zsh and fish', async () => {
    expect((await run('completion', 'zsh')).out).to.match(/^autoload -U \+X bashcompinit[^]*\ncomplete .* cli\n$/);
    const { out } = await run('completion', 'fish');
    expect(out).to.contain("case 'option'\n      printf '%s\\n' get set\n");
    expect(out).to.match(/\ncomplete -c cli -f -a '\(__cli_complete\)'\n$/);
  });

  it('leaves out names that a shell would run', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) expect((await run('completion', shell)).out).not.to.contain('touch');
  });

  it('refuses an unknown shell and a name that is none', async () => {
    expect(await run('completion', 'tcsh')).to.deep.include({
      code: 1,
      err: "Error: The shell 'tcsh' is unknown; choose one of bash, zsh, fish.\n",
    });
    expect((await run('completion', 'bash', '--name=a b')).err).to.contain("--name is 'a b'");
  });
});
