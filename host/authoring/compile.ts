import { sep } from 'node:path';
import type TypeScript from 'typescript';
import { loadCompiler } from './types-package.ts';

// Checks the types of a plugin by a configuration, beside the command, and prints what `tsc` would.
//   node compile.ts <configuration> [--watch] [--javascript=<folder of a plugin in plain JavaScript>]

/**
 * Errors about what the author of plain JavaScript cannot write: the kind of an unknown value, and that it is not null. They
 * hide those about what callbacks get.
 */
const aboutUnknown: readonly number[] = [2531, 2532, 2533, 2571, 18046, 18047, 18048, 18049];
const missingMember = 2339;

const [config = '', ...flags] = process.argv.slice(2);
const folder = flags.find((flag) => flag.startsWith('--javascript='))?.slice('--javascript='.length);
const compiler = await loadCompiler();
const system: TypeScript.System = {
  ...compiler.sys,
  readFile(path, encoding) {
    const text = compiler.sys.readFile(path, encoding);
    return text !== undefined && isPlain(path) ? withHostTypes(path, text) : text;
  },
};
let errors = 0;
const report = (diagnostic: TypeScript.Diagnostic): void => {
  if (folder !== undefined && isAboutUnknown(diagnostic)) return;
  errors += 1;
  const format = { ...system, getCanonicalFileName: (name: string) => name, getNewLine: () => '\n' };
  process.stdout.write(compiler.formatDiagnostic(diagnostic, { ...format, getCurrentDirectory: () => process.cwd() }));
};

if (flags.includes('--watch')) watch();
else {
  const parsed = compiler.getParsedCommandLineOfConfigFile(
    config,
    {},
    { ...system, onUnRecoverableConfigFileDiagnostic: report },
  );
  const options = parsed?.options ?? {};
  const host = Object.assign(compiler.createCompilerHost(options), {
    readFile: (path: string) => system.readFile(path),
  });
  const program = compiler.createProgram({ rootNames: parsed?.fileNames ?? [], options, host });
  for (const diagnostic of [...(parsed?.errors ?? []), ...compiler.getPreEmitDiagnostics(program)]) report(diagnostic);
  reportExtraParameters(program);
}

function watch(): void {
  const onStatus = ({ code }: TypeScript.Diagnostic): void => {
    // "Found 1 error" and "Found {0} errors".
    if (code === 6193 || code === 6194) process.stdout.write(`Found ${errors} errors.\n`);
    errors = 0;
  };
  const host = compiler.createWatchCompilerHost(
    ...([config, {}, system, compiler.createSemanticDiagnosticsBuilderProgram, report, onStatus] as const),
  );
  const { afterProgramCreate } = host;
  host.afterProgramCreate = (program) => {
    reportExtraParameters(program.getProgram());
    afterProgramCreate?.(program);
  };
  compiler.createWatchProgram(host);
}

/** In JavaScript every parameter may be left out, so the compiler accepts a callback that expects more than it gets. */
function reportExtraParameters(program: TypeScript.Program): void {
  const checker = program.getTypeChecker();
  const visit = (file: TypeScript.SourceFile, node: TypeScript.Node): void => {
    if (compiler.isArrowFunction(node) || compiler.isFunctionExpression(node) || compiler.isMethodDeclaration(node)) {
      const expected = compiler.isMethodDeclaration(node)
        ? contextOfMethod(checker, node)
        : checker.getContextualType(node)?.getNonNullableType();
      const [signature, ...others] = expected?.getCallSignatures() ?? [];
      const extra = signature && others.length === 0 ? node.parameters[signature.parameters.length] : undefined;
      if (extra && !takesRest(signature?.declaration))
        report({
          ...{ category: compiler.DiagnosticCategory.Error, code: 2554, file, start: extra.getStart(file), length: 1 },
          messageText:
            `The host passes nothing for '${extra.getText(file)}': ` +
            `the callback gets ${countText(signature?.parameters.length ?? 0)}.`,
        });
    }
    compiler.forEachChild(node, (child) => visit(file, child));
  };
  for (const file of program.getSourceFiles()) if (isPlain(file.fileName)) visit(file, file);
}

function takesRest(declaration: TypeScript.Signature['declaration']): boolean {
  return (declaration?.parameters ?? []).some(
    (each) => compiler.isParameter(each) && each.dotDotDotToken !== undefined,
  );
}

function contextOfMethod(
  checker: TypeScript.TypeChecker,
  method: TypeScript.MethodDeclaration,
): TypeScript.Type | undefined {
  if (!compiler.isObjectLiteralExpression(method.parent)) return undefined;
  const type = checker.getContextualType(method.parent);
  // A route takes one definition or an array of them.
  for (const each of type?.isUnion() ? type.types : [type]) {
    const member = each?.getProperty(method.name.getText());
    if (member) return checker.getTypeOfSymbolAtLocation(member, method).getNonNullableType();
  }
  return undefined;
}

function countText(count: number): string {
  return count === 1 ? '1 argument' : `${count} arguments`;
}

function isPlain(path: string): boolean {
  return (
    folder !== undefined &&
    /\.[mc]?js$/.test(path) &&
    path.startsWith(folder.split(sep).join('/') + '/') &&
    !path.includes('/node_modules/')
  );
}

function isAboutUnknown({ code, messageText }: TypeScript.Diagnostic): boolean {
  const text = compiler.flattenDiagnosticMessageText(messageText, '\n').split('\n', 1)[0] ?? '';
  return aboutUnknown.includes(code) || (code === missingMember ? text.endsWith("'{}'.") : text.includes("'unknown'"));
}

/**
 * Gives the parameters that hold the host their type, so that what a plugin passes to it is checked: those named `host`, and the
 * default export as a whole. Lines stay the same.
 */
function withHostTypes(path: string, text: string): string {
  const source = compiler.createSourceFile(path, text, compiler.ScriptTarget.Latest, true);
  const type = (name: string): string => `import('#plugin-api').${name}`;
  const insertions: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: TypeScript.Node): void => {
    if (
      compiler.isParameter(node) &&
      compiler.isIdentifier(node.name) &&
      node.name.text === 'host' &&
      compiler.getJSDocType(node) === undefined
    ) {
      // A parameter without parentheses cannot have a comment.
      const isBare =
        compiler.isArrowFunction(node.parent) &&
        !text.slice(node.parent.getStart(source), node.getStart(source)).includes('(');
      insertions.push({ at: node.getStart(source), text: `${isBare ? '(' : ''}/** @type {${type('HostApi')}} */ ` });
      if (isBare) insertions.push({ at: node.getEnd(), text: ')' });
    }
    if (compiler.isExportAssignment(node) && compiler.isObjectLiteralExpression(node.expression)) {
      insertions.push({
        at: node.expression.getStart(source),
        text: `/** @satisfies {${type('PluginDefinition')}} */ (`,
      });
      insertions.push({ at: node.expression.getEnd(), text: ')' });
    }
    compiler.forEachChild(node, visit);
  };
  visit(source);
  return insertions
    .sort((left, right) => right.at - left.at)
    .reduce((typed, { at, text: inserted }) => typed.slice(0, at) + inserted + typed.slice(at), text);
}
