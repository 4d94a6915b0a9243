import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** Longest line of a source file, in characters. Prettier breaks at 120 where it can. */
export const longestLine = 140;

const sources = /\.(ts|js|css|hbs)$/;
const sqlStart =
  /(^[`'"]|\n)[^\S\n]*(select|insert|update|delete|create|alter|drop|with|from|where|and|or|on|set|values|case)\b/i;

/** Lines over the limit in host, plugins and views, as `file:line (length)`. SQL and regular expressions are exempt. */
export function findLongLines(): string[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'host', 'plugins', 'views'], {
    encoding: 'utf8',
  }).split('\n');
  return [...new Set(listed)]
    .filter((file) => sources.test(file) && existsSync(file))
    .flatMap((file) => longLinesIn(file, readFileSync(file, 'utf8')));
}

export function longLinesIn(file: string, text: string): string[] {
  const long = text
    .split('\n')
    .flatMap((line, index) => (line.length > longestLine ? [{ index, length: line.length }] : []));
  if (long.length === 0) return [];
  const exempt = /\.[tj]s$/.test(file) ? exemptLines(text) : new Set<number>();
  return long
    .filter(({ index }) => !exempt.has(index))
    .map(({ index, length }) => `${file}:${String(index + 1)} (${String(length)})`);
}

/** Lines that a string or template literal with SQL, or a regular expression, covers. */
function exemptLines(text: string): Set<number> {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    const isText = ts.isTemplateExpression(node) || ts.isStringLiteralLike(node);
    if ((isText && sqlStart.test(node.getText(file))) || ts.isRegularExpressionLiteral(node)) {
      const last = file.getLineAndCharacterOfPosition(node.end).line;
      for (let line = file.getLineAndCharacterOfPosition(node.getStart(file)).line; line <= last; line++)
        lines.add(line);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return lines;
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${findLongLines().join('\n')}\n`);
