import type TypeScript from 'typescript';
import { isNear } from '#plugin-api';
import type { ReferencedHook } from './hook-reference.ts';

export interface RulesInit {
  readonly compiler: typeof TypeScript;
  readonly source: TypeScript.SourceFile;
  readonly hooks: ReadonlyMap<string, ReferencedHook>;
  /** Whether the plugin has a file in its folder `assets`. */
  readonly hasAsset: (file: string) => boolean;
  readonly add: (node: TypeScript.Node, rule: string, message: string) => void;
}

/** Methods of knex and of `host.database.direct` whose first argument is SQL. */
const sqlMethods = /^(?:raw|(?:where|orWhere|having|orderBy|groupBy|join|select|from)Raw|rows|run)$/;

const globals: Readonly<Record<string, readonly [rule: string, message: string]>> = {
  eval: ['eval', 'eval runs text as code. Parse the text instead.'],
  Function: ['eval', 'Function runs text as code. Parse the text instead.'],
  fetch: ['fetch', 'Use host.http.fetch: it refuses addresses inside of the network, and has a time limit.'],
  setInterval: [
    'timer',
    'Start timers with host.clock.every, or a job with host.jobs.every: they end with the plugin.',
  ],
};

/**
 * Returns a check of one node: SQL that is put together, text that runs as code, what goes past the host, hooks with a typing
 * error, callbacks of filters that return nothing or a promise too many, and files that are missing.
 */
export function createRules(init: RulesInit): (node: TypeScript.Node) => void {
  const { compiler, source, add } = init;
  const names = declaredNames(compiler, source);
  const checkHook = createHookRule(init);
  return (node) => {
    if (compiler.isCallExpression(node) || compiler.isNewExpression(node)) {
      const { expression } = node;
      const found =
        compiler.isIdentifier(expression) && !names.has(expression.text) ? globals[expression.text] : undefined;
      if (found && Object.hasOwn(globals, expression.getText(source))) add(node, ...found);
    }
    if (!compiler.isCallExpression(node)) {
      checkAsset(init, node);
      return;
    }
    const { expression, arguments: given } = node;
    const [first, second] = given;
    if (!compiler.isPropertyAccessExpression(expression) || first === undefined) return;
    const method = expression.name.text;
    if (sqlMethods.test(method) && isPutTogether(compiler, first, names))
      add(first, 'sql', 'SQL is put together with a value. Pass values as bindings: raw("... = ?", [value]).');
    if (/^process$/.test(expression.expression.getText(source)) && ['on', 'once', 'exit'].includes(method))
      add(node, 'process', `process.${method} concerns the whole site. Use host.onStop, or throw an error.`);
    if (/^add(?:Filter|Action)$/.test(method))
      for (const name of valuesOf(compiler, first))
        if (compiler.isStringLiteralLike(name))
          for (const callback of second === undefined ? [undefined] : valuesOf(compiler, second))
            checkHook(name, method === 'addFilter' ? 'filter' : 'action', callback);
    if (
      method === 'url' &&
      /\bassets$/.test(expression.expression.getText(source)) &&
      compiler.isStringLiteralLike(first)
    )
      requireAsset(init, first);
  };
}

/** Names that the module declares or imports anywhere: they hide globals, and their values are the program's. */
function declaredNames(compiler: typeof TypeScript, source: TypeScript.SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: TypeScript.Node): void => {
    const isDeclared =
      compiler.isImportSpecifier(node) ||
      compiler.isImportClause(node) ||
      compiler.isNamespaceImport(node) ||
      compiler.isParameter(node) ||
      compiler.isBindingElement(node) ||
      compiler.isFunctionDeclaration(node) ||
      compiler.isVariableDeclaration(node);
    if (isDeclared && node.name && compiler.isIdentifier(node.name)) names.add(node.name.text);
    compiler.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

/** Whether a text has values other than constants: names in capitals or of tables and columns, and numbers. */
function isPutTogether(compiler: typeof TypeScript, node: TypeScript.Expression, names: ReadonlySet<string>): boolean {
  const isConstant = (part: TypeScript.Expression): boolean => {
    if (compiler.isLiteralExpression(part)) return true;
    if (compiler.isCallExpression(part))
      return /^\w*(?:bindings|placeholders|marks|join)$/i.test(lastName(part.expression));
    const text = lastName(part);
    return (
      (compiler.isIdentifier(part) || compiler.isPropertyAccessExpression(part)) &&
      (/^[A-Z_0-9]+$/.test(text) ||
        /(?:table|column|sql|direction)s?$/i.test(part.getText()) ||
        /tables?\./i.test(part.getText()))
    );
  };
  const lastName = (part: TypeScript.Expression): string =>
    compiler.isPropertyAccessExpression(part) ? part.name.text : compiler.isIdentifier(part) ? part.text : '';
  if (compiler.isTemplateExpression(node)) return node.templateSpans.some(({ expression }) => !isConstant(expression));
  if (compiler.isBinaryExpression(node) && node.operatorToken.kind === compiler.SyntaxKind.PlusToken)
    return [node.left, node.right].some((side) =>
      compiler.isBinaryExpression(side) ? isPutTogether(compiler, side, names) : !isConstant(side),
    );
  return false;
}

/**
 * What an expression can be, as far as the module shows it: itself, or the value that its name has. Names of a loop over a list,
 * `for (const name of [...])` and `[...].forEach((name) => ...)`, have each of its elements.
 */
function valuesOf(compiler: typeof TypeScript, node: TypeScript.Expression): readonly TypeScript.Node[] {
  const value = unwrap(compiler, node);
  if (!compiler.isIdentifier(value)) return [value];
  const declared = findDeclared(compiler, value);
  if (declared === null) return [value];
  if (!('listOf' in declared)) return [declared];
  const lists = valuesOf(compiler, declared.listOf);
  return lists.flatMap((list) =>
    compiler.isArrayLiteralExpression(list)
      ? list.elements.flatMap((element) => (element === value ? [] : valuesOf(compiler, element)))
      : [],
  );
}

/** What a name is declared as, in the nearest block around it. `listOf`: the list whose elements it is. */
function findDeclared(
  compiler: typeof TypeScript,
  { text, parent }: TypeScript.Identifier,
): TypeScript.Expression | TypeScript.FunctionDeclaration | { readonly listOf: TypeScript.Expression } | null {
  const isNamed = (name: TypeScript.Node | undefined): boolean =>
    name !== undefined && compiler.isIdentifier(name) && name.text === text;
  for (let at: TypeScript.Node = parent; ; at = at.parent) {
    if (compiler.isForOfStatement(at) && compiler.isVariableDeclarationList(at.initializer))
      if (at.initializer.declarations.some(({ name }) => isNamed(name))) return { listOf: at.expression };
    if (compiler.isFunctionLike(at) && at.parameters.some(({ name }) => isNamed(name))) {
      const { parent: call } = at;
      const isFirst = isNamed(at.parameters[0]?.name);
      const isLoop = compiler.isCallExpression(call) && compiler.isPropertyAccessExpression(call.expression);
      if (!isFirst || !isLoop || !compiler.isPropertyAccessExpression(call.expression)) return null;
      return ['forEach', 'map', 'flatMap'].includes(call.expression.name.text)
        ? { listOf: call.expression.expression }
        : null;
    }
    if (compiler.isBlock(at) || compiler.isSourceFile(at))
      for (const statement of at.statements) {
        if (compiler.isFunctionDeclaration(statement) && isNamed(statement.name)) return statement;
        const found = compiler.isVariableStatement(statement)
          ? statement.declarationList.declarations.find(({ name }) => isNamed(name))
          : undefined;
        if (found) return found.initializer === undefined ? null : unwrap(compiler, found.initializer);
      }
    if (compiler.isSourceFile(at)) return null;
  }
}

function createHookRule({ compiler, hooks, add }: RulesInit) {
  return (name: TypeScript.StringLiteralLike, kind: ReferencedHook['kind'], callback?: TypeScript.Node): void => {
    const hook = hooks.get(name.text);
    if (hook === undefined) {
      const near = [...hooks.keys()].find((each) => isNear(each, name.text));
      if (near !== undefined) add(name, 'hook', `There is no hook '${name.text}'. Did you mean '${near}'?`);
      return;
    }
    if (hook.kind !== kind)
      add(
        name,
        'hook',
        `The hook '${name.text}' is of the other kind. Use addFilter for filters and addAction for actions.`,
      );
    const run = callback;
    if (kind !== 'filter' || !run) return;
    if (!compiler.isArrowFunction(run) && !compiler.isFunctionExpression(run) && !compiler.isFunctionDeclaration(run))
      return;
    if (run.body === undefined) return;
    const isAsync = run.modifiers?.some(({ kind: each }) => each === compiler.SyntaxKind.AsyncKeyword) === true;
    if (isAsync && hook.isSynchronous)
      add(run, 'filter', `The filter '${name.text}' runs synchronously. Write the callback without async and await.`);
    if (returnsNothing(compiler, run.body))
      add(
        run,
        'filter',
        `The callback of the filter '${name.text}' returns nothing. Return the value, changed or not.`,
      );
  };
}

/** Without parentheses and `as`. */
function unwrap(compiler: typeof TypeScript, node: TypeScript.Expression): TypeScript.Expression {
  return compiler.isParenthesizedExpression(node) || compiler.isAsExpression(node)
    ? unwrap(compiler, node.expression)
    : node;
}

function returnsNothing(compiler: typeof TypeScript, body: TypeScript.ConciseBody): boolean {
  if (!compiler.isBlock(body)) {
    const value = unwrap(compiler, body);
    return (compiler.isIdentifier(value) && value.text === 'undefined') || compiler.isVoidExpression(value);
  }
  let isReturned = false;
  const visit = (node: TypeScript.Node): void => {
    if ((compiler.isReturnStatement(node) && node.expression) || compiler.isThrowStatement(node)) isReturned = true;
    if (!compiler.isFunctionLike(node)) compiler.forEachChild(node, visit);
  };
  compiler.forEachChild(body, visit);
  return !isReturned;
}

/** `script: 'page.js'` and `style: 'page.css'` of a page. */
function checkAsset(init: RulesInit, node: TypeScript.Node): void {
  const { compiler } = init;
  if (!compiler.isPropertyAssignment(node) || !compiler.isIdentifier(node.name)) return;
  const ending = { script: '.js', style: '.css' }[node.name.text];
  if (ending !== undefined && compiler.isStringLiteralLike(node.initializer) && node.initializer.text.endsWith(ending))
    requireAsset(init, node.initializer);
}

function requireAsset({ hasAsset, add }: RulesInit, node: TypeScript.StringLiteralLike): void {
  if (!hasAsset(node.text)) add(node, 'asset', `The folder assets has no file '${node.text}'.`);
}
