import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

export interface HookRun {
  readonly hook: string;
  /** `awaits`: callbacks may be async. */
  readonly mode: 'synchronous' | 'awaits';
  readonly file: string;
}

const modes: Readonly<Record<string, HookRun['mode']>> = {
  applyFilters: 'synchronous',
  runNow: 'synchronous',
  doAction: 'synchronous',
  applyFiltersAsync: 'awaits',
  doActionAsync: 'awaits',
  // Of the filters of REST, which are awaited.
  run: 'awaits',
};

/** Where the sources below the folders run a hook by its name. */
export function findHookRuns(folders: readonly string[], names: ReadonlySet<string>): HookRun[] {
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], { encoding: 'utf8' })
    .split('\n')
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
  return files.flatMap((file) => {
    const found: HookRun[] = [];
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      const mode = ts.isCallExpression(node) ? modes[nameOf(node.expression)] : undefined;
      if (ts.isCallExpression(node) && mode !== undefined)
        for (const argument of node.arguments.flatMap(branchesOf))
          if (ts.isStringLiteralLike(argument) && names.has(argument.text))
            found.push({ hook: argument.text, mode, file });
      ts.forEachChild(node, visit);
    };
    visit(source);
    return found;
  });
}

/** `a ? 'one' : 'two'` has two. */
function branchesOf(node: ts.Expression): readonly ts.Expression[] {
  return ts.isConditionalExpression(node)
    ? [...branchesOf(node.whenTrue), ...branchesOf(node.whenFalse)]
    : ts.isParenthesizedExpression(node)
      ? branchesOf(node.expression)
      : [node];
}

function nameOf(callee: ts.Expression): string {
  return ts.isPropertyAccessExpression(callee) ? callee.name.text : ts.isIdentifier(callee) ? callee.text : '';
}
