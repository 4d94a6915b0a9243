/// <reference types="handlebars" />
import { splitHtml, type HtmlState, type Part, type Piece } from './html-pieces.ts';

/** Finds the translation of a text; undefined leaves it in English. */
export type FindText = (text: string) => string | undefined;

/** Values of these names are texts of the program in every template. Others that are, are written `{{__ title}}`. */
const textNames: ReadonlySet<string> = new Set(
  (
    'advice bodyNote busy buttonLabel caption changeText confirm dateLabel description_list empty error failureTitle heading ' +
    'help hint label meaning message note placeholder sentence singular stateText statusText submit summary viewLabel'
  ).split(' '),
);

function isTextName(name: string): boolean {
  return textNames.has(name) || /[a-z](Label|Text|Note|Question|Sentence|Title)$/.test(name);
}

/** Values of these names are texts when they are passed to a partial as they are written. */
const partialTexts: ReadonlySet<string> = new Set([
  ...[
    'label',
    'title',
    'help',
    'text',
    'placeholder',
    'description',
    'busy',
    'confirm',
    'heading',
    'promptLabel',
    'note',
  ],
  ...['good', 'empty'],
]);

/**
 * Replaces the texts of a parsed template in place: text between tags, attributes that people read, literal texts that are
 * passed to partials and helpers, and values of `textNames`, which are looked up when the template runs. A text is one
 * sentence with its links and emphasized words: `Set <1>a secret</1> for {name}.`
 */
export function translateTemplate(program: hbs.AST.Program, find: FindText): void {
  const source = contentOf(program);
  // A partial of attributes alone is used within a tag.
  translateProgram(program, source.includes('="') && !/<[a-z]/i.test(source) ? 'tag' : 'text', find);
}

function contentOf(node: unknown): string {
  if (typeof node !== 'object' || node === null) return '';
  const { type, value } = node as hbs.AST.ContentStatement;
  return type === 'ContentStatement' ? value : Object.values(node).map(contentOf).join('');
}

function translateProgram(program: hbs.AST.Program | undefined, state: HtmlState, find: FindText): void {
  if (!program) return;
  const translate = (pieces: readonly Piece[]): Part[] => translateRun(pieces, find);
  const asPieces = (parts: readonly Part[]): Piece[] =>
    parts.map((part) => (typeof part === 'string' ? { kind: 'text', text: part } : { kind: 'value', node: part }));
  const { pieces, states } =
    state === 'message'
      ? { pieces: asPieces(statementsAsParts(program.body)), states: new Map<hbs.AST.Statement, HtmlState>() }
      : splitHtml(program.body, state, (parts) => translate(asPieces(parts)));
  const original = program.body;
  const output: Part[] = [];
  let run: Piece[] = [];
  for (const piece of pieces) {
    if (piece.kind !== 'other') run.push(piece);
    else {
      output.push(...translate(run), ...piece.parts);
      run = [];
    }
  }
  output.push(...translate(run));
  program.body = toStatements(output, program.loc);
  // Of a program with one statement, Handlebars runs the indent of a partial and not the partial.
  if (program.body.length === 1 && program.body[0]?.type === 'PartialStatement')
    program.body.unshift(contentStatement('', program.loc));
  for (const node of original) translateStatement(node, states.get(node) ?? (state === 'text' ? 'text' : state), find);
}

function statementsAsParts(body: readonly hbs.AST.Statement[]): Part[] {
  return body.map((node) => (node.type === 'ContentStatement' ? (node as hbs.AST.ContentStatement).value : node));
}

function toStatements(parts: readonly Part[], loc: hbs.AST.SourceLocation): hbs.AST.Statement[] {
  return parts
    .filter((part) => part !== '')
    .map((part) => (typeof part === 'string' ? contentStatement(part, loc) : part));
}

function contentStatement(value: string, loc: hbs.AST.SourceLocation): hbs.AST.Statement {
  return { type: 'ContentStatement', value, original: value, loc } as unknown as hbs.AST.Statement;
}

/** A sequence of texts, values and inline elements: one sentence if it has text, else each of its elements has one. */
function translateRun(pieces: readonly Piece[], find: FindText): Part[] {
  const groups = groupElements(pieces);
  const isSentence = groups.some(
    ([piece, ...rest]) => rest.length === 0 && piece?.kind === 'text' && hasLetters(piece.text),
  );
  if (!isSentence) return groups.flatMap((group) => translateInside(group, find));
  const first = groups.findIndex((group) => !isMargin(group));
  const last = groups.findLastIndex((group) => !isMargin(group));
  return [
    ...groups.slice(0, first).flatMap((group) => translateInside(group, find)),
    ...translateSentence(groups.slice(first, last + 1).flat(), find),
    ...groups.slice(last + 1).flatMap((group) => translateInside(group, find)),
  ];
}

/** Each element with its content, each other piece alone. Elements that are not closed in the run stay alone. */
function groupElements(pieces: readonly Piece[]): Piece[][] {
  const groups: Piece[][] = [];
  for (let index = 0; index < pieces.length; index += 1) {
    const end = closeOf(pieces, index);
    groups.push(pieces.slice(index, end + 1));
    index = end;
  }
  return groups;
}

function closeOf(pieces: readonly Piece[], start: number): number {
  const opened = pieces[start];
  if (opened?.kind !== 'open' || opened.name === '') return start;
  let depth = 0;
  for (let index = start; index < pieces.length; index += 1) {
    const piece = pieces[index];
    if (piece?.kind === 'open' && piece.name === opened.name) depth += 1;
    if (piece?.kind === 'close' && piece.name === opened.name) depth -= 1;
    if (depth === 0) return index;
  }
  return start;
}

function translateInside(group: readonly Piece[], find: FindText): Part[] {
  if (group.length < 2) return group.flatMap(partsOf);
  return [...partsOf(group[0]), ...translateRun(group.slice(1, -1), find), ...partsOf(group.at(-1))];
}

function partsOf(piece: Piece | undefined): Part[] {
  if (!piece) return [];
  if (piece.kind === 'text') return [piece.text];
  return piece.kind === 'value' ? [piece.node] : [...piece.parts];
}

/** What does not belong to the sentence at its edges: icons, blocks, spaces, badges. */
function isMargin(group: readonly Piece[]): boolean {
  return group.every((piece) => {
    if (piece.kind === 'text') return piece.text.trim() === '';
    if (piece.kind !== 'value') return piece.kind !== 'open' || piece.name !== '';
    return piece.node.type !== 'MustacheStatement' || valueName(piece.node) === 'icon';
  });
}

/** Parses the placeholders of a translation: `{name}`, `<1>`, `</1>`. */
const placeholders = /(\{\w+\}|<\/?\d+>)/;

function translateSentence(pieces: readonly Piece[], find: FindText): Part[] {
  const { key, replaced } = toKey(pieces);
  const text = key.trim();
  const [before = '', after = ''] = key.split(text);
  const found = hasLetters(text.replace(new RegExp(placeholders, 'g'), ''))
    ? find(text.replace(/\s+/g, ' '))
    : undefined;
  if (found === undefined) return pieces.flatMap(partsOf);
  const parts = found.split(placeholders).flatMap((part) => replaced.get(part) ?? [escapeText(part)]);
  return [before, ...parts, after];
}

/** Apostrophes and quotation marks of a translation must not end an attribute. */
function escapeText(text: string): string {
  return text.replaceAll('"', '&quot;');
}

function toKey(pieces: readonly Piece[]): { readonly key: string; readonly replaced: ReadonlyMap<string, Part[]> } {
  const replaced = new Map<string, Part[]>();
  const open: string[] = [];
  let elements = 0;
  const placeholder = (piece: Piece): string => {
    if (piece.kind === 'text') return piece.text;
    if (piece.kind === 'open' && piece.name !== '') {
      open.push(String((elements += 1)));
      return `<${String(elements)}>`;
    }
    if (piece.kind === 'close') return `</${open.pop() ?? '0'}>`;
    const name = piece.kind === 'value' ? valueName(piece.node) : 'code';
    let unique = name;
    for (let number = 2; replaced.has(`{${unique}}`); number += 1) unique = `${name}${String(number)}`;
    return `{${unique}}`;
  };
  const key = pieces
    .map((piece) => {
      const text = placeholder(piece);
      if (piece.kind !== 'text') replaced.set(text, partsOf(piece));
      return text;
    })
    .join('');
  return { key, replaced };
}

/** How a value is called in the keys of catalogs: `{{number stats.total}}` is `{total}`. */
function valueName(node: hbs.AST.Node): string {
  const { type, path, params = [] } = node as hbs.AST.MustacheStatement;
  if (type !== 'MustacheStatement') return 'block';
  const name = lastName(path);
  if (params.length === 0 || name === 'icon') return name;
  const named = params.find((param) => param.type === 'PathExpression' && lastName(param) !== 'this');
  return named ? lastName(named) : name;
}

function lastName(path: hbs.AST.Node): string {
  const { parts = [], original } = path as hbs.AST.PathExpression;
  return String(parts.at(-1) ?? original).replace(/\W/g, '') || 'value';
}

export function hasLetters(text: string): boolean {
  return /\p{L}{2}/u.test(text.replace(/&\w+;/g, ''));
}

function translateStatement(node: hbs.AST.Node, state: HtmlState, find: FindText): void {
  if (node.type === 'MustacheStatement') {
    const statement = node as hbs.AST.MustacheStatement;
    if (state === 'value') return;
    if (statement.params.length === 0) lookUpWhenRun(statement);
    else translateParams(statement, find);
  }
  if (node.type === 'BlockStatement') {
    const { program, inverse } = node as hbs.AST.BlockStatement;
    translateProgram(program, state, find);
    translateProgram(inverse, state, find);
  }
  if (node.type === 'PartialStatement' || node.type === 'PartialBlockStatement') {
    for (const pair of pairsOf(node)) translatePair(pair, find);
    translateProgram((node as hbs.AST.PartialBlockStatement).program as hbs.AST.Program | undefined, 'text', find);
  }
}

function pairsOf(node: hbs.AST.Node): hbs.AST.HashPair[] {
  return ((node as hbs.AST.PartialStatement).hash as hbs.AST.Hash | undefined)?.pairs ?? [];
}

/** `{{label}}` becomes `{{__ label}}`. */
function lookUpWhenRun(statement: hbs.AST.MustacheStatement): void {
  const { path } = statement;
  if (path.type !== 'PathExpression' || (path as hbs.AST.PathExpression).data) return;
  if (!isTextName(lastName(path))) return;
  statement.params = [path];
  statement.path = helper('__', statement.loc);
}

/** A literal is translated now. An expression of another name than that of a text is data, which the partial must not look up. */
function translatePair(pair: hbs.AST.HashPair, find: FindText): void {
  if (!partialTexts.has(pair.key)) return;
  const { value } = pair;
  if (value.type === 'SubExpression') translateParams(value as hbs.AST.SubExpression, find);
  const isText =
    (value.type === 'PathExpression' && isTextName(lastName(value))) ||
    (value.type === 'SubExpression' && /^(or|__|_n)$/.test(lastName((value as hbs.AST.SubExpression).path)));
  if (value.type === 'StringLiteral') translateLiteral(value as hbs.AST.StringLiteral, find);
  if (!isText && ['StringLiteral', 'PathExpression', 'SubExpression'].includes(value.type))
    pair.value = call('data', [value], pair.loc);
}

function translateLiteral(literal: hbs.AST.StringLiteral, find: FindText): void {
  if (!hasLetters(literal.value)) return;
  const found = find(literal.value);
  if (found !== undefined) literal.value = found;
}

/** Literal texts among the parameters of a helper. */
function translateParams(given: hbs.AST.MustacheStatement | hbs.AST.SubExpression, find: FindText): void {
  const name = lastName(given.path);
  if (name === 'concat') translateConcat(given, find);
  if (name === 'or') {
    for (const param of given.params)
      if (param.type === 'StringLiteral') translateLiteral(param as hbs.AST.StringLiteral, find);
    given.params = given.params.map((param) =>
      param.type === 'PathExpression' ? call(isTextName(lastName(param)) ? '__' : 'data', [param], param.loc) : param,
    );
  }
}

/** `(concat "Edit " title)` is the text `Edit {title}`. */
function translateConcat(given: hbs.AST.MustacheStatement | hbs.AST.SubExpression, find: FindText): void {
  const values = new Map<string, hbs.AST.Expression>();
  const key = given.params
    .map((param) => {
      if (param.type === 'StringLiteral') return (param as hbs.AST.StringLiteral).value;
      const inner = param as hbs.AST.SubExpression;
      const named =
        param.type === 'SubExpression'
          ? (inner.params.find(({ type }) => type === 'PathExpression') ?? inner.path)
          : param;
      const name = `{${lastName(named)}}`;
      const unique = values.has(name) ? name.replace('}', '2}') : name;
      values.set(
        unique,
        param.type === 'PathExpression' && isTextName(lastName(param)) ? call('__', [param], param.loc) : param,
      );
      return unique;
    })
    .join('');
  const text = key.trim();
  const [before = '', after = ''] = key.split(text);
  // Values that are texts, such as the name of an action and of its object, are looked up without a text around them too.
  const found = hasLetters(text.replace(new RegExp(placeholders, 'g'), '')) ? find(text) : text;
  if (found === undefined) return;
  given.params = `${before}${found}${after}`
    .split(placeholders)
    .filter((part) => part !== '')
    .map(
      (part) =>
        values.get(part) ??
        ({ type: 'StringLiteral', value: part, original: part, loc: given.loc } as hbs.AST.Expression),
    );
}

function helper(name: string, loc: hbs.AST.SourceLocation): hbs.AST.PathExpression {
  return { type: 'PathExpression', data: false, depth: 0, parts: [name], original: name, loc };
}

function call(name: string, params: hbs.AST.Expression[], loc: hbs.AST.SourceLocation): hbs.AST.SubExpression {
  const expression: Omit<hbs.AST.SubExpression, 'hash'> = {
    type: 'SubExpression',
    path: helper(name, loc),
    params,
    loc,
  };
  return expression as hbs.AST.SubExpression;
}
