/// <reference types="handlebars" />

/** The result of inspecting a template. */
export interface InspectedTemplate {
  readonly partials: ReadonlySet<string>;
}

type AnyPartial = hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement;

/**
 * Collects the partials of a template, refuses raw output and dynamic partial names, and rewrites partial calls in place,
 * so that a partial sees only the values passed to it, not the page's.
 *
 * @throws Error with the line number.
 */
export function inspectTemplate(program: hbs.AST.Program): InspectedTemplate {
  const partials = new Set<string>();
  const inlined = new Set<string>();
  walk(program, (node) => {
    if (node.type === 'MustacheStatement') refuseRaw(node as hbs.AST.MustacheStatement);
    if (node.type === 'DecoratorBlock')
      inlined.add(String(((node as unknown as hbs.AST.DecoratorBlock).params[0] as hbs.AST.StringLiteral).value));
    if (node.type === 'PartialStatement' || node.type === 'PartialBlockStatement') {
      const name = partialName(node as AnyPartial);
      if (name !== '@partial-block') partials.add(name);
    }
    if (node.type === 'PartialStatement') isolate(node as hbs.AST.PartialStatement);
    if (node.type === 'PartialBlockStatement') isolateBlock(node as hbs.AST.PartialBlockStatement);
  });
  return { partials: new Set([...partials].filter((name) => !inlined.has(name))) };
}

function refuseRaw(statement: hbs.AST.MustacheStatement): void {
  if (statement.escaped) return;
  throw new Error(
    `line ${String(statement.loc.start.line)}: raw output is not allowed. Use {{value}}, and mark trusted HTML in code with views.safe().`,
  );
}

function partialName(statement: AnyPartial): string {
  const name = statement.name as hbs.AST.PathExpression;
  if (name.type !== 'PathExpression') {
    throw new Error(
      `line ${String(statement.loc.start.line)}: the name of a partial must be literal, for example {{> admin/field}}.`,
    );
  }
  return name.original;
}

/** Name of the value that passes the outer context to a block partial. */
const outerContext = '__outer';

/** `{{> field name="a"}}` must not inherit a `value` or `error` from the page. */
function isolate(statement: hbs.AST.PartialStatement): void {
  if (statement.params.length > 0) return;
  if (partialName(statement) === '@partial-block') statement.params = [path(outerContext, statement.loc)];
  else if (namedValues(statement).length > 0) statement.params = [undefinedLiteral(statement.loc)];
}

/** `{{#> card title="a"}}{{greeting}}{{/card}}`: the card sees only its title, the block sees the page. */
function isolateBlock(statement: hbs.AST.PartialBlockStatement): void {
  const { loc } = statement;
  const outer: hbs.AST.HashPair = { type: 'HashPair', key: outerContext, value: path(null, loc), loc };
  statement.hash = { type: 'Hash', pairs: [...namedValues(statement), outer], loc };
  if (statement.params.length === 0) statement.params = [undefinedLiteral(loc)];
}

/** Contrary to its types, Handlebars omits an empty hash. */
function namedValues(statement: AnyPartial): hbs.AST.HashPair[] {
  return (statement.hash as hbs.AST.Hash | undefined)?.pairs ?? [];
}

/** @param name of a value in the current context; null is the context itself. */
function path(name: string | null, loc: hbs.AST.SourceLocation): hbs.AST.PathExpression {
  return {
    type: 'PathExpression',
    data: false,
    depth: 0,
    parts: name === null ? [] : [name],
    original: name ?? 'this',
    loc,
  };
}

function undefinedLiteral(loc: hbs.AST.SourceLocation): hbs.AST.UndefinedLiteral {
  return { type: 'UndefinedLiteral', value: undefined, original: undefined, loc } as hbs.AST.UndefinedLiteral;
}

/** Handlebars' Visitor would load the whole library and has poor types; this suffices for plain objects. */
function walk(node: unknown, visit: (node: hbs.AST.Node) => void): void {
  if (Array.isArray(node)) {
    for (const child of node) walk(child, visit);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && typeof node.type === 'string') visit(node as hbs.AST.Node);
  for (const [key, child] of Object.entries(node)) if (key !== 'loc' && key !== 'strip') walk(child, visit);
}
