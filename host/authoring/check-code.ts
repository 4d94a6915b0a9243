import type TypeScript from 'typescript';
import type { Finding } from './check.ts';
import { createRules, type RulesInit } from './check-rules.ts';
import { loadCompiler } from './types-package.ts';

/** Names whose results are safe in HTML, or mark it on purpose. */
const escapes = /escape|encodeURIComponent|sanitize|safe|render|url$/i;

export interface CheckCodeInit extends Pick<RulesInit, 'hooks' | 'hasAsset'> {
  readonly slug: string;
}

/**
 * Checks a module: routes without permission, values that are put into HTML unescaped, own hooks without the plugin's name, and
 * the rules of `check-rules.ts`. A line with the comment `checked:` and a reason, or the one below it, is not reported.
 */
export async function checkCode(name: string, text: string, { slug, ...init }: CheckCodeInit): Promise<Finding[]> {
  const compiler = await loadCompiler();
  const source = compiler.createSourceFile(name, text, compiler.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const prefix = slug.replaceAll('-', '_');
  const findings: Finding[] = [];
  const add = (node: TypeScript.Node, rule: string, message: string): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
    if ([lines[line], lines[line - 1]].some((each) => each?.includes('checked:'))) return;
    findings.push({ level: 'error', rule, at: `${name}:${line + 1}`, message });
  };
  const checkRules = createRules({ compiler, source, add, ...init });
  const visit = (node: TypeScript.Node): void => {
    checkRules(node);
    if (compiler.isCallExpression(node)) checkCall(node);
    if (compiler.isTemplateExpression(node)) checkHtml(node);
    compiler.forEachChild(node, visit);
  };
  const checkCall = ({ expression, arguments: given }: TypeScript.CallExpression): void => {
    const method = compiler.isPropertyAccessExpression(expression) ? expression.name.text : '';
    const [first] = given;
    if (method === 'registerRoute') {
      const definition = given[2];
      const definitions =
        definition && compiler.isArrayLiteralExpression(definition) ? definition.elements : [definition];
      for (const each of definitions)
        if (each && compiler.isObjectLiteralExpression(each) && !hasPermission(each))
          add(
            each,
            'permission',
            'The route is open to everyone. Add permission, with () => true if that is what you want.',
          );
    }
    if (/^(?:applyFilters|doAction)(?:Async)?$/.test(method) && first && compiler.isStringLiteralLike(first)) {
      const isOwn = first.text.startsWith(`${prefix}_`) || first.text.startsWith(`${slug}_`);
      if (!isOwn && !first.text.startsWith('svc_'))
        add(
          first,
          'prefix',
          `Start the name of the hook '${first.text}' with '${prefix}_', so that no other plugin has it.`,
        );
    }
  };
  const hasPermission = ({ properties }: TypeScript.ObjectLiteralExpression): boolean =>
    properties.some(
      (property) =>
        compiler.isSpreadAssignment(property) ||
        (property.name !== undefined &&
          compiler.isIdentifier(property.name) &&
          ['permission', 'authenticate'].includes(property.name.text)),
    );
  const checkHtml = ({ head, templateSpans }: TypeScript.TemplateExpression): void => {
    if (
      ![head.text, ...templateSpans.map(({ literal }) => literal.text)].some((part) => /<\/?[a-z][^<]*>?/i.test(part))
    )
      return;
    for (const { expression } of templateSpans)
      if (!isEscaped(expression))
        add(
          expression,
          'escaping',
          `Escape '${expression.getText(source).slice(0, 40)}', or render a template: host.views.render.`,
        );
  };
  const isEscaped = (node: TypeScript.Expression): boolean => {
    if (compiler.isLiteralExpression(node)) return true;
    if (compiler.isConditionalExpression(node)) return isEscaped(node.whenTrue) && isEscaped(node.whenFalse);
    if (compiler.isAwaitExpression(node)) return isEscaped(node.expression);
    return compiler.isCallExpression(node) && escapes.test(node.expression.getText(source));
  };
  visit(source);
  return findings;
}
