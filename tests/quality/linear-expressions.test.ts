import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Linter } from 'eslint';
import { builtExpressions } from './lint/built-expressions.js';
import rule from './lint/linear-expressions.js';

const project = { rules: { linear: rule } };

function reported(code: string, filename = 'host/a.js'): string[] {
  const config: Linter.Config = { plugins: { project }, rules: { 'project/linear': ['error', builtExpressions] } };
  const found = new Linter({ cwd: process.cwd() }).verify(code, [config], `${process.cwd()}/${filename}`);
  return found.map(({ messageId, message }) => messageId ?? message);
}

describe('The lint of expressions', () => {
  it('reports what looks over a repetition from every position', () => {
    for (const code of [
      '/<script(?![^>]*nonce=)/g',
      '/<img(?=[^>]*alt)/',
      '/(?<!<[^>]*)style/',
      String.raw`/^a(?=\s+b)/m`,
      'new RegExp("<table(?=[^>]*>)")',
      'const tag = "table"; new RegExp(`<${tag}(?=[^>]*>)`, "g")',
    ])
      expect(reported(code), code).to.deep.equal(['lookaround']);
    for (const code of ['/<a(?=[\\s>])[^>]*/', '/^(?=.*x).{3,}$/', '/a(?=b{1,9})/', '/(?<=.{3})e$/', '/(?=.*x)/y'])
      expect(reported(code), code).to.deep.equal([]);
  });

  it('reports what is built while the program runs, outside of the listed files', () => {
    for (const code of [
      'new RegExp(name)',
      'RegExp(`<${name}>`)',
      'export const at = (tag) => new RegExp(tag + "x", "g")',
    ])
      expect(reported(code), code).to.deep.equal(['built']);
    expect(reported('new RegExp("a+b")')).to.deep.equal([]);
    expect(reported('new RegExp(slug)', 'host/watchdog-worker.js')).to.deep.equal([]);
  });

  it('lists only files that build expressions', () => {
    for (const file of Object.keys(builtExpressions)) expect(readFileSync(file, 'utf8'), file).to.include('RegExp(');
  });
});
