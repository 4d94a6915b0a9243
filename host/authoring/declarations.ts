import { posix } from 'node:path';
import type TypeScript from 'typescript';

type Compiler = typeof TypeScript;
type Statement = TypeScript.Statement;

export interface DeclarationsInit {
  readonly compiler: Compiler;
  /** The declarations of a module; null if the path is no module of the host. Paths are relative to the checkout: `host/cron/cron`. */
  readonly read: (path: string) => string | null;
  /** Modules whose exports are all part of the result. */
  readonly entries: readonly string[];
  /** Modules of which only the additions to `#plugin-api` are part of the result: the maps of hooks. */
  readonly additions: readonly string[];
  /** The module that `#plugin-api` means. */
  readonly pluginApi: string;
  /** What a package is imported as instead, seen from the module. */
  readonly packageName: (name: string, from: string) => string;
}

interface Import {
  readonly module: string;
  /** The imported name, or `*`. */
  readonly name: string;
}

interface Module {
  readonly path: string;
  readonly source: TypeScript.SourceFile;
  readonly declared: ReadonlyMap<string, readonly Statement[]>;
  readonly imports: ReadonlyMap<string, Import>;
  /** `export { a as b } from './c.ts'` by the exported name. */
  readonly forwarded: ReadonlyMap<string, Import>;
  /** Targets of `export * from`. */
  readonly stars: readonly string[];
  readonly picked: Set<Statement>;
  readonly usedImports: Set<string>;
  readonly usedForwards: Set<string>;
  readonly usedStars: Set<string>;
}

/**
 * Picks from the declarations of the host what plugins can see: everything that the entries export, the maps of hooks, and the
 * types that these name. Without it, the types of the whole host would be part of the package. dts-bundle-generator 9 takes 97 s of
 * processor time where this takes 18, and merges what modules add to `#plugin-api` into numbered copies of its interfaces.
 *
 * @returns declarations by the paths of their modules.
 * @throws Error for a type that is not found.
 */
export function pickDeclarations(init: DeclarationsInit): Map<string, string> {
  const picker = createPicker(init);
  for (const entry of init.entries) picker.keepAll(entry);
  for (const path of init.additions) picker.keepAdditions(path);
  return new Map([...picker.modules.values()].map((module) => [module.path, print(module, init)]));
}

interface Picker {
  readonly modules: ReadonlyMap<string, Module>;
  keepAll(path: string): void;
  keepAdditions(path: string): void;
}

function createPicker(init: DeclarationsInit): Picker {
  const { compiler } = init;
  const modules = new Map<string, Module>();
  const open = (path: string): Module => {
    const known = modules.get(path);
    if (known) return known;
    const text = init.read(path);
    if (text === null) throw new Error(`The module ${path} has no declarations.`);
    const module = readModule(
      path,
      compiler.createSourceFile(`${path}.d.ts`, text, compiler.ScriptTarget.Latest),
      init,
    );
    modules.set(path, module);
    return module;
  };
  const isOpened = (target: Import): boolean => !target.module.startsWith('package:');
  const keep = (module: Module, statement: Statement): void => {
    if (module.picked.has(statement)) return;
    module.picked.add(statement);
    const visit = (node: TypeScript.Node): void => {
      if (compiler.isIdentifier(node)) keepName(module, node.text);
      if (compiler.isImportTypeNode(node)) keepImportType(module, node);
      compiler.forEachChild(node, visit);
    };
    visit(statement);
  };
  const keepName = (module: Module, name: string): void => {
    for (const statement of module.declared.get(name) ?? []) keep(module, statement);
    const target = module.imports.get(name);
    if (!target || module.usedImports.has(name)) return;
    module.usedImports.add(name);
    if (isOpened(target)) keepTarget(target);
  };
  const keepImportType = (module: Module, { argument, qualifier }: TypeScript.ImportTypeNode): void => {
    if (!compiler.isLiteralTypeNode(argument) || !compiler.isStringLiteral(argument.literal)) return;
    const target = resolveModule(module.path, argument.literal.text, init);
    let first = qualifier;
    while (first && compiler.isQualifiedName(first)) first = first.left;
    if (!target.startsWith('package:')) keepTarget({ module: target, name: first?.text ?? '*' });
  };
  const keepTarget = ({ module, name }: Import): void => {
    if (name === '*') keepAll(module);
    else if (!keepExport(open(module), name)) throw new Error(`The module ${module} does not export '${name}'.`);
  };
  /** Whether the module exports the name, which is part of the result then. */
  const keepExport = (module: Module, name: string): boolean => {
    const forward = module.forwarded.get(name);
    if (forward) {
      module.usedForwards.add(name);
      if (isOpened(forward)) keepTarget(forward);
      return true;
    }
    if (module.declared.has(name) || module.imports.has(name)) {
      keepName(module, name);
      return true;
    }
    return module.stars.some((star) => {
      if (star.startsWith('package:') || !keepExport(open(star), name)) return false;
      module.usedStars.add(star);
      return true;
    });
  };
  const keepAll = (path: string): void => {
    const module = open(path);
    for (const statements of module.declared.values()) for (const statement of statements) keep(module, statement);
    for (const name of module.forwarded.keys()) keepExport(module, name);
    for (const star of module.stars) {
      if (module.usedStars.has(star)) continue;
      module.usedStars.add(star);
      if (!star.startsWith('package:')) keepAll(star);
    }
  };
  return {
    modules,
    keepAll,
    keepAdditions(path) {
      const module = open(path);
      for (const statement of module.source.statements)
        if (compiler.isModuleDeclaration(statement) && compiler.isStringLiteral(statement.name))
          keep(module, statement);
    },
  };
}

/** `package:knex` for a package. */
function resolveModule(from: string, specifier: string, { pluginApi }: Pick<DeclarationsInit, 'pluginApi'>): string {
  if (specifier === '#plugin-api') return pluginApi;
  if (!specifier.startsWith('.')) return `package:${specifier}`;
  return posix.join(posix.dirname(from), specifier).replace(/\.(?:d\.)?[mc]?[jt]s$/, '');
}

function readModule(path: string, source: TypeScript.SourceFile, init: DeclarationsInit): Module {
  const { compiler } = init;
  const declared = new Map<string, Statement[]>();
  const imports = new Map<string, Import>();
  const forwarded = new Map<string, Import>();
  const stars: string[] = [];
  const moduleOf = (specifier: TypeScript.Expression): string =>
    resolveModule(path, (specifier as TypeScript.StringLiteral).text, init);
  for (const statement of source.statements) {
    if (compiler.isImportDeclaration(statement)) {
      for (const [local, name] of importedNames(statement, compiler))
        imports.set(local, { module: moduleOf(statement.moduleSpecifier), name });
    } else if (compiler.isExportDeclaration(statement)) {
      const { exportClause, moduleSpecifier } = statement;
      if (!exportClause && moduleSpecifier) stars.push(moduleOf(moduleSpecifier));
      if (!exportClause || !compiler.isNamedExports(exportClause)) continue;
      for (const { name, propertyName } of exportClause.elements) {
        const own = (propertyName ?? name).text;
        const target = moduleSpecifier ? { module: moduleOf(moduleSpecifier), name: own } : imports.get(own);
        if (target) forwarded.set(name.text, target);
      }
    } else
      for (const name of declaredNames(statement, compiler))
        declared.set(name, [...(declared.get(name) ?? []), statement]);
  }
  return {
    ...{ path, source, declared, imports, forwarded, stars },
    ...{ picked: new Set(), usedImports: new Set(), usedForwards: new Set(), usedStars: new Set() },
  };
}

function importedNames({ importClause }: TypeScript.ImportDeclaration, compiler: Compiler): [string, string][] {
  const names: [string, string][] = importClause?.name ? [[importClause.name.text, 'default']] : [];
  const bindings = importClause?.namedBindings;
  if (!bindings) return names;
  if (compiler.isNamespaceImport(bindings)) return [...names, [bindings.name.text, '*']];
  return [
    ...names,
    ...bindings.elements.map(({ name, propertyName }): [string, string] => [name.text, (propertyName ?? name).text]),
  ];
}

function declaredNames(statement: Statement, compiler: Compiler): string[] {
  if (compiler.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      compiler.isIdentifier(name) ? [name.text] : [],
    );
  if (compiler.isModuleDeclaration(statement) && compiler.isStringLiteral(statement.name)) return [];
  const { name } = statement as TypeScript.DeclarationStatement;
  return name && compiler.isIdentifier(name) ? [name.text] : [];
}

function print(module: Module, init: DeclarationsInit): string {
  const { path, source, imports, forwarded } = module;
  const specifier = (target: string): string => {
    if (target.startsWith('package:')) return init.packageName(target.slice('package:'.length), path);
    const found = posix.relative(posix.dirname(path), target);
    return `${found.startsWith('.') ? '' : './'}${found}.js`;
  };
  const named = (word: 'import type' | 'export', { module: target, name }: Import, local: string): string => {
    const from = `from '${specifier(target)}';`;
    if (name === '*') return `${word} * as ${local} ${from}`;
    return `${word} { ${name === local ? name : `${name} as ${local}`} } ${from}`;
  };
  const lines = [
    ...[...module.usedImports].sort().map((local) => named('import type', imports.get(local) as Import, local)),
    ...[...module.usedForwards].sort().map((local) => named('export', forwarded.get(local) as Import, local)),
    ...[...module.usedStars].map((star) => `export * from '${specifier(star)}';`),
    ...source.statements
      .filter((statement) => module.picked.has(statement))
      .map((statement) =>
        source.text
          .slice(statement.getFullStart(), statement.end)
          .trim()
          .replace(/^\/\*\* [^]*?\*\/\s*(?=\/\*\*)/, '')
          // `declare module '#plugin-api'` stays, as plugins write it: the compiler merges additions to one name of a module only.
          .replace(/(?<=import\(['"])[^'"]+/g, (text) => specifier(resolveModule(path, text, init))),
      ),
    'export {};',
  ];
  return `${lines.join('\n')}\n`;
}
