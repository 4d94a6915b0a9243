import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Names of keys and headers, and reasons that the script itself catches. */
const notShown =
  /^(Escape|Enter|Tab|Home|End|Arrow(Up|Down|Left|Right)|Content-[A-Z]\w+|Accept|X-[\w-]+|[A-Z]\w+Error|The part is missing\.|The response contains no rows\.)$/;

/** Texts of the scripts of the admin's pages that bypass `__`, with their files. */
export function untranslatedTexts(): string[] {
  const files = execFileSync(
    'git',
    ['ls-files', 'host/*/assets/*.js', 'host/*/browser/client/*.ts', 'plugins/*/assets/*.js'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return files
    .trim()
    .split('\n')
    .flatMap((file) => textsWithoutCall(readFileSync(`${root}/${file}`, 'utf8')).map((text) => `${file}: ${text}`));
}

/** The literals of a script that look like texts and are not translated. */
export function textsWithoutCall(source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isLiteralTypeNode(node)) return;
    if (ts.isCallExpression(node) && node.expression.getText() === '__') return node.arguments.slice(1).forEach(visit);
    const text = ts.isStringLiteralLike(node) ? node.text : ts.isTemplateExpression(node) ? pieces(node) : '';
    // A word with a capital letter, or words that are no names of CSS classes.
    if (/^\P{L}*[A-Z][a-z]+/u.test(text) && !notShown.test(text)) found.push(text);
    else if (ts.isTemplateExpression(node) && /(^| )[a-z]{2,}( [a-z]{2,})+( |$|\.)/.test(text) && !/[="]/.test(text))
      found.push(text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('script.ts', source, ts.ScriptTarget.Latest, true));
  return found;
}

function pieces({ head, templateSpans }: ts.TemplateExpression): string {
  return head.text + templateSpans.map(({ literal }) => `…${literal.text}`).join('');
}
