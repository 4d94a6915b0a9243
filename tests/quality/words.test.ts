import { expect } from 'chai';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { inName, inText } from './lint/banned-words.js';
import { breachesOfName, breachesOfText, findBannedWords } from './words.ts';

// The rules of the project need no types. With types the whole project would be read first: a minute where other steps run too.
const lint = new ESLint({ overrideConfig: [tseslint.configs.disableTypeChecked] });

describe('the words of the project', () => {
  it('uses no banned word in templates, style sheets, documents and file names', () => {
    expect(
      findBannedWords().map(({ file, line, found, say }) => `${file}:${line} "${found}": say ${say}`),
    ).to.deep.equal([]);
  });

  it('finds a banned word in a document and in a file name', () => {
    expect(breachesOfText('views/a.hbs', '<p>Fine.</p>\n<p>The far end said no.</p>')).to.deep.equal([
      { file: 'views/a.hbs', line: 2, found: 'far end', say: 'upstream, provider or endpoint' },
    ]);
    expect(breachesOfName('plugins/svc/ai/far-end-errors.ts').map(({ line }) => line)).to.deep.equal([1]);
  });

  it('reads camel case, snake case and constants as words', () => {
    expect(['farEndAnswer', 'far_end', 'FAR_END', 'whenFarEndFails'].map((name) => inName(name).length)).to.deep.equal([
      1, 1, 1, 1,
    ]);
    expect(['heartbeat', 'placeholder', 'confused', 'marketplace'].map((name) => inName(name).length)).to.deep.equal([
      0, 0, 0, 0,
    ]);
  });

  it('lets the fault injection of the sandbox name its faults', () => {
    expect(inText('The fault is injected.', 'plugins/sandbox/dispatch.ts')).to.deep.equal([]);
    expect(inText('The fault is injected.', 'plugins/svc/index.ts')).to.have.length(1);
  });

  it('fails the lint for a seeded breach in a name, a comment, a string and a log line', async () => {
    const code = [
      '// The far end is away.',
      'export const farEndAnswer = "Left empty, nothing happens.";',
      "export const warn = (log: { warn(text: string, fields: object): void }): void => log.warn('it failed.', { request: 1 });",
      '',
    ].join('\n');
    const [result] = await lint.lintText(code, { filePath: 'host/start/config.ts' });
    const rules = (result?.messages ?? []).map(({ ruleId, line }) => `${String(line)} ${String(ruleId)}`);
    expect(rules).to.include.members(['1 project/banned-words', '2 project/banned-words', '3 project/log-style']);
    expect(rules.filter((rule) => rule === '2 project/banned-words')).to.have.length(2);
    expect(rules.filter((rule) => rule === '3 project/log-style')).to.have.length(3);
  });

  it('fails the lint for a function of more than 60 lines of its own, but not for short functions inside it', async () => {
    const lines = (count: number): string => '  Math.random();\n'.repeat(count);
    const rulesOf = async (code: string): Promise<(string | null)[]> => {
      const [result] = await lint.lintText(code, { filePath: 'host/start/config.ts' });
      return (result?.messages ?? []).map(({ ruleId }) => ruleId);
    };
    const long = `export function long(): void {\n${lines(61)}}\n`;
    const inner = (name: string): string => `  const ${name} = () => {\n${lines(40)}  };\n`;
    const factory = `export function make(): unknown {\n${inner('first')}${inner('second')}  return [first, second];\n}\n`;
    expect(await rulesOf(long)).to.include('project/own-function-lines');
    expect(await rulesOf(factory)).not.to.include('project/own-function-lines');
  });
});
