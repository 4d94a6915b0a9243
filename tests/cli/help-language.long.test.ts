import { expect } from 'chai';
import { createTestHost, type TestHost } from '#testing';

describe('the help of the command line in another language', () => {
  let host: TestHost;
  let commands: (readonly string[])[] = [];
  before(async () => {
    host = await createTestHost({ plugins: 'found', env: { LANG: 'en_XA.UTF-8' } });
  });
  after(() => host.stop());

  /** Words of a help outside of the brackets of the pseudo-language, without flags, arguments and names of commands. */
  function englishWords(help: string, path: readonly string[]): string[] {
    const rest = help.replace(/⟦[^⟦⟧]*⟧/g, '').replace(/^Usage.*$/m, '');
    const names = new Set(['cli', ...path, ...subcommandsOf(help), ...argumentsOf(help)]);
    return rest.split(/\s+/).filter((word) => /^[A-Za-z]{2,}/.test(word) && !names.has(word.replace(/\|.*/, '')));
  }

  it('prints the help of every command in it', async function () {
    this.timeout(60_000);
    const found: Record<string, string[]> = {};
    commands = [];
    const visit = async (path: readonly string[]): Promise<void> => {
      const { code, out } = await host.cli(...path, '--help');
      expect(code, path.join(' ')).to.equal(0);
      const words = englishWords(out, path);
      if (words.length > 0) found[path.join(' ')] = words;
      commands.push(path);
      for (const name of subcommandsOf(out)) await visit([...path, name]);
    };
    await visit([]);
    expect(found).to.deep.equal({});
    expect(commands.length).to.be.above(150);
  });

  it('has German for all of it', async function () {
    this.timeout(60_000);
    const helpsIn = async (LANG: string): Promise<Set<string>> => {
      const site = await createTestHost({ plugins: 'found', env: { LANG } });
      try {
        const helps: string[] = [];
        for (const path of commands) helps.push((await site.cli(...path, '--help')).out);
        return new Set(helps.flatMap((help) => help.split('\n')).map((line) => line.trim()));
      } finally {
        await site.stop();
      }
    };
    const [english, german] = [await helpsIn('C'), await helpsIn('de_DE')];
    expect([...german].filter((line) => english.has(line) && / [a-z]+ [a-z]+ [a-z]+/.test(line))).to.deep.equal([]);
  });
});

/** Their names are the first word of a line that two spaces begin; arguments and flags are not of this kind. */
function subcommandsOf(help: string): string[] {
  const commands = help.split(/^⟦Çòmmàñds:⟧$/m)[1] ?? '';
  return [...commands.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name);
}

function argumentsOf(help: string): string[] {
  const lines = /^⟦Àrgùmèñts:⟧$([\s\S]*?)\n\n/m.exec(help)?.[1] ?? '';
  return [...lines.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name);
}
