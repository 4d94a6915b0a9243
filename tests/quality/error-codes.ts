import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { createEvaluator, unwrap, type Bindings, type Evaluator } from './evaluate.ts';

/** One error code, with every status and message that the sources give it. */
export interface ErrorCode {
  readonly code: string;
  readonly statuses: readonly number[];
  readonly messages: readonly string[];
}

export interface ErrorCodes {
  /** Codes of responses: `code` of the body. */
  readonly responses: readonly ErrorCode[];
  /** Codes of single parameters: `data.details.<parameter>.code` of `rest_invalid_param`. */
  readonly details: readonly ErrorCode[];
}

interface ErrorParts {
  readonly code: ts.Expression;
  readonly message: ts.Expression | undefined;
  readonly status: ts.Expression | undefined;
  readonly bindings: Bindings;
}

/** A function that creates an error with a code it receives: each of its calls is an error too. */
interface Maker {
  readonly declaration: ts.SignatureDeclaration;
  readonly name: string;
  readonly parts: ErrorParts;
}

/** Parses the TypeScript files of the folders. Packages are not followed: errors are written in the product's own files. */
export function createErrorProgram(folders: readonly string[]): ts.Program {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], { encoding: 'utf8' });
  const files = [...new Set(listed.split('\n'))].filter((file) => file.endsWith('.ts') && existsSync(file)).sort();
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) => {
      const file = text === '#plugin-api' ? 'host/plugin-api/index.ts' : join(from, '..', text);
      const isOwn = (text.startsWith('.') || text === '#plugin-api') && file.endsWith('.ts') && existsSync(file);
      return { resolvedModule: isOwn ? { resolvedFileName: file, extension: ts.Extension.Ts } : undefined };
    });
  return ts.createProgram(files, options, host);
}

/** Every error code that the files below a folder can return, sorted by code. */
export function collectErrorCodes(program: ts.Program, folder: string): ErrorCodes {
  const evaluator = createEvaluator(program.getTypeChecker());
  const sources = program.getSourceFiles().filter(({ fileName }) => relative('.', fileName).startsWith(folder));
  const responses: ErrorCode[] = [];
  const details: ErrorCode[] = [];
  const makers: Maker[] = [];
  const add = (parts: ErrorParts): void => {
    responses.push(...errorsFrom(parts, evaluator));
    const declaration = undecidedBy(parts, evaluator);
    const isKnown = makers.some((maker) => maker.declaration === declaration && maker.parts.code === parts.code);
    if (declaration !== null && !isKnown) makers.push({ declaration, name: functionName(declaration), parts });
  };
  for (const source of sources) {
    const isSchema = source.fileName.includes('host/rest/schema/');
    walk(source, (node) => {
      if (ts.isNewExpression(node)) restErrorParts(node).forEach(add);
      else if (isCallOf(node, 'restError')) callParts(node).forEach(add);
      else if (isCallOf(node, 'requireFound')) errorParts(node.arguments[1]).forEach(add);
      else if (isCallOf(node, 'defineErrors')) responses.push(...catalogEntries(node, evaluator));
      else if (ts.isObjectLiteralExpression(node)) details.push(...detailLiterals(node, evaluator));
      if (isSchema) details.push(...parameterErrors(node, evaluator));
    });
  }
  // A maker may be called by another maker: the list grows while it is read.
  for (const maker of makers) {
    for (const source of sources) walk(source, (node) => madeBy(maker, node, evaluator).forEach(add));
  }
  return { responses: merge(responses), details: merge(details) };
}

/** Texts that begin like an error code, other than names of hooks and event codes of log lines. */
export function literalCodes(program: ts.Program, folders: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const source of program.getSourceFiles()) {
    if (!folders.some((folder) => relative('.', source.fileName).startsWith(folder))) continue;
    walk(source, (node) => {
      if (ts.isStringLiteral(node) && /^rest_[a-z_]+$/.test(node.text) && !isOtherName(node)) found.add(node.text);
    });
  }
  return [...found].sort();
}

/** The first argument of a call that runs or adds a hook, a constant list of hooks, a literal type, or a log's event. */
function isOtherName(node: ts.StringLiteral): boolean {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent)) return parent.name.getText() === 'event';
  if (ts.isLiteralTypeNode(parent)) return true;
  if (ts.isArrayLiteralExpression(parent)) return /filters|hooks/i.test(parent.parent.getText().slice(0, 40));
  return (
    ts.isCallExpression(parent) && /^(run|runNow|\w+(Filters?|Actions?)(Async)?)$/.test(lastName(parent.expression))
  );
}

function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => {
    walk(child, visit);
  });
}

function isCallOf(node: ts.Node, name: string): node is ts.CallExpression {
  return ts.isCallExpression(node) && lastName(node.expression) === name;
}

function lastName(callee: ts.Expression): string {
  if (ts.isPropertyAccessExpression(callee)) return callee.name.text;
  return ts.isIdentifier(callee) ? callee.text : '';
}

/** `new RestError({code, message, status})`. */
function restErrorParts(node: ts.NewExpression): readonly ErrorParts[] {
  return lastName(node.expression) === 'RestError' ? errorParts(node.arguments?.[0]) : [];
}

/** `restError(status, code, message)`. */
function callParts({ arguments: [status, code, message] }: ts.CallExpression): readonly ErrorParts[] {
  return code === undefined ? [] : [{ code, message, status, bindings: new Map() }];
}

/** `{code, message, status}`, also of `requireFound(value, {...})`. */
function errorParts(init: ts.Expression | undefined): readonly ErrorParts[] {
  if (init === undefined || !ts.isObjectLiteralExpression(init)) return [];
  const code = member(init, 'code');
  if (code === undefined) return [];
  return [{ code, message: member(init, 'message'), status: member(init, 'status'), bindings: new Map() }];
}

function member(init: ts.ObjectLiteralExpression, name: string): ts.Expression | undefined {
  const property = init.properties.find((candidate) => candidate.name?.getText() === name);
  if (property !== undefined && ts.isPropertyAssignment(property)) return property.initializer;
  return property !== undefined && ts.isShorthandPropertyAssignment(property) ? property.name : undefined;
}

function errorsFrom({ code, message, status, bindings }: ErrorParts, evaluator: Evaluator): readonly ErrorCode[] {
  return evaluator.choices(code, bindings).flatMap((chosen) =>
    (evaluator.texts(code, chosen) ?? []).map((text) => ({
      code: text,
      statuses: status === undefined ? [500] : evaluator.numbers(status, chosen),
      messages: message === undefined ? [] : evaluator.messages(message, chosen),
    })),
  );
}

/** The function whose calls decide the code, the status or the whole message; null where all are written out. */
function undecidedBy(
  { code, message, status, bindings }: ErrorParts,
  { texts, numbers, parameterOwner }: Evaluator,
): ts.SignatureDeclaration | null {
  if (texts(code, bindings) === null) return parameterOwner(code, bindings);
  if (status !== undefined && numbers(status, bindings).length === 0) return parameterOwner(status, bindings);
  return message !== undefined && ts.isIdentifier(message) ? parameterOwner(message, bindings) : null;
}

function functionName({ name, parent }: ts.SignatureDeclaration): string {
  if (name !== undefined) return name.getText();
  const isNamed = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent);
  return isNamed ? parent.name.getText() : '';
}

function madeBy({ declaration, name, parts }: Maker, node: ts.Node, evaluator: Evaluator): readonly ErrorParts[] {
  const bound = name !== '' && isCallOf(node, name) ? evaluator.bind(node, declaration) : null;
  return bound === null ? [] : [{ ...parts, bindings: new Map([...parts.bindings, ...bound]) }];
}

/** `defineErrors('prefix_', {name: [404, 'Sentence.']})`. */
function catalogEntries(node: ts.CallExpression, evaluator: Evaluator): readonly ErrorCode[] {
  const [prefix, entries] = node.arguments;
  if (prefix === undefined || entries === undefined || !ts.isObjectLiteralExpression(entries)) return [];
  const [start = ''] = evaluator.texts(prefix, new Map()) ?? [];
  return entries.properties.flatMap((property) => {
    const entry = ts.isPropertyAssignment(property) ? unwrap(property.initializer) : undefined;
    if (entry === undefined || !ts.isArrayLiteralExpression(entry)) return [];
    const [status, message] = entry.elements;
    if (status === undefined || message === undefined) return [];
    return [
      {
        code: start + (property.name?.getText() ?? '').replace(/^['"]|['"]$/g, ''),
        statuses: evaluator.numbers(status, new Map()),
        messages: evaluator.messages(message, new Map()),
      },
    ];
  });
}

/** `create('rest_too_long', 'Sentence.')` or `['rest_invalid_ip', 'Sentence.']` in the checks of parameters. */
function parameterErrors(node: ts.Node, evaluator: Evaluator): readonly ErrorCode[] {
  const isList = ts.isCallExpression(node) || ts.isArrayLiteralExpression(node);
  const [code, message] = !isList ? [] : ts.isCallExpression(node) ? node.arguments : node.elements;
  if (code === undefined || message === undefined || !ts.isStringLiteral(code) || !code.text.startsWith('rest_')) {
    return [];
  }
  return [{ code: code.text, statuses: [400], messages: evaluator.messages(message, new Map()) }];
}

/** `{code: 'rest_invalid_form_value', message, data}`: what `data.details` holds for one parameter. */
function detailLiterals(node: ts.ObjectLiteralExpression, evaluator: Evaluator): readonly ErrorCode[] {
  const [code, message] = [member(node, 'code'), member(node, 'message')];
  const isDetail = code !== undefined && message !== undefined && member(node, 'data') !== undefined;
  if (!isDetail || member(node, 'status') !== undefined || !ts.isStringLiteral(code)) return [];
  return [{ code: code.text, statuses: [400], messages: evaluator.messages(message, new Map()) }];
}

function merge(errors: readonly ErrorCode[]): readonly ErrorCode[] {
  const codes = [...new Set(errors.map(({ code }) => code))].sort();
  return codes.map((code) => {
    const same = errors.filter((error) => error.code === code);
    const messages = [...new Set(same.flatMap((error) => error.messages))].sort();
    const written = messages.filter((message) => !/^\{\w+\}$/.test(message));
    return {
      code,
      statuses: [...new Set(same.flatMap(({ statuses }) => statuses))].sort((left, right) => left - right),
      messages: written.length > 0 ? written : messages,
    };
  });
}

/** A Markdown table of error codes. */
export function renderErrorTable(errors: readonly ErrorCode[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const rows = errors.map(
    ({ code, statuses, messages }) =>
      `| ${statuses.join(', ') || '–'} | \`${code}\` | ${messages.map(cell).join('<br>')} |`,
  );
  return ['| status | code | message |', '| --- | --- | --- |', ...rows].join('\n');
}
