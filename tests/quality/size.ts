import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import ts from 'typescript';

/** What a part of the tree holds: files of any kind, lines of its TypeScript as Prettier formats it, and statements. */
export interface Size {
  readonly files: number;
  readonly lines: number;
  readonly statements: number;
}

/** Counts what git tracks below the folders, as the files are now. The tree must be formatted: `npm run format`. */
export function sizeOf(folders: readonly string[]): Size {
  const tracked = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' }).split('\n');
  const files = tracked.filter((file) => file !== '' && existsSync(file));
  const sources = files.filter((file) => file.endsWith('.ts')).map((file) => readFileSync(file, 'utf8'));
  return {
    files: files.length,
    lines: sum(sources.map((text) => text.split('\n').length - 1)),
    statements: sum(sources.map(statementsIn)),
  };
}

/** Statements, members of types and classes, and properties of object literals: what a formatter puts on lines of their own. */
function statementsIn(text: string): number {
  let count = 0;
  const visit = (node: ts.Node): void => {
    if (ts.isStatement(node) && !ts.isBlock(node)) count++;
    else if (ts.isTypeElement(node) || ts.isClassElement(node) || ts.isObjectLiteralElement(node)) count++;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, false));
  return count;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

if (process.argv[1] === import.meta.filename) {
  for (const folders of [['host'], ['plugins'], ['host', 'plugins'], ['tests']]) {
    const { files, lines, statements } = sizeOf(folders);
    process.stdout.write(
      `${folders.join(' + ')}: ${files} files, ${lines} formatted lines, ${statements} statements\n`,
    );
  }
}
