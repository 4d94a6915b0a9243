/// <reference types="handlebars" />

/** What a parsed template asks for. */
export interface InspectedTemplate {
  readonly partials: ReadonlySet<string>;
}

type AnyPartial = hbs.AST.PartialStatement | hbs.AST.PartialBlockStatement;

/**
 * Collects the partials a template uses, refuses raw output and names that are only known when it runs, and rewrites
 * the calls of partials in place, so that each sees the values it was given and nothing of the page around it.
 *
 * @throws Error with the line of the fault.
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
    `line ${String(statement.loc.start.line)}: raw output is not allowed. Write {{value}}, and let the code mark vouched markup with views.safe().`,
  );
}

function partialName(statement: AnyPartial): string {
  const name = statement.name as hbs.AST.PathExpression;
  if (name.type !== 'PathExpression') {
    throw new Error(
      `line ${String(statement.loc.start.line)}: the name of a partial must be written out, for example {{> admin/field}}.`,
    );
  }
  return name.original;
}

/** The value under which a block partial carries the context of its block. */
const outerContext = '__outer';

/** `{{> field name="a"}}` must not pick up a `value` or `error` of the page around it. */
function isolate(statement: hbs.AST.PartialStatement): void {
  if (statement.params.length > 0) return;
  if (partialName(statement) === '@partial-block') statement.params = [path(outerContext, statement.loc)];
  else if (namedValues(statement).length > 0) statement.params = [nothing(statement.loc)];
}

/** `{{#> card title="a"}}{{greeting}}{{/card}}`: the card sees its title alone, the block inside sees the page. */
function isolateBlock(statement: hbs.AST.PartialBlockStatement): void {
  const { loc } = statement;
  const outer: hbs.AST.HashPair = { type: 'HashPair', key: outerContext, value: path(null, loc), loc };
  statement.hash = { type: 'Hash', pairs: [...namedValues(statement), outer], loc };
  if (statement.params.length === 0) statement.params = [nothing(loc)];
}

/** Handlebars leaves the hash out where there is none, against its own types. */
function namedValues(statement: AnyPartial): hbs.AST.HashPair[] {
  return (statement.hash as hbs.AST.Hash | undefined)?.pairs ?? [];
}

/** @param name of a value of the current context; null is the context itself. */
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

function nothing(loc: hbs.AST.SourceLocation): hbs.AST.UndefinedLiteral {
  return { type: 'UndefinedLiteral', value: undefined, original: undefined, loc } as hbs.AST.UndefinedLiteral;
}

/** Handlebars' own Visitor loads with the whole library and types badly; a tree of plain objects needs no more than this. */
function walk(node: unknown, visit: (node: hbs.AST.Node) => void): void {
  if (Array.isArray(node)) {
    for (const child of node) walk(child, visit);
    return;
  }
  if (typeof node !== 'object' || node === null) return;
  if ('type' in node && typeof node.type === 'string') visit(node as hbs.AST.Node);
  for (const [key, child] of Object.entries(node)) if (key !== 'loc' && key !== 'strip') walk(child, visit);
}
