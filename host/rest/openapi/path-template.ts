import type { OpenApiObject } from '#plugin-api';

/** A part of a path that varies. */
export interface PathParameter {
  readonly name: string;
  /** Name of the argument that describes it, if different. */
  readonly argument?: string;
  /** Regular expression for the part, without anchors. */
  readonly pattern: string;
}

/** A path as OpenAPI writes it: `/chat/{bot_id}/message`. */
export interface PathTemplate {
  readonly template: string;
  readonly parameters: readonly PathParameter[];
}

/** Maximum number of variants of a path. */
const maxVariants = 16;

/**
 * The templates of a route's pattern: several if it has optional parts or alternatives. Unnamed variable parts are called
 * `part1`, `part2` and so on.
 */
export function pathTemplates(path: string): PathTemplate[] {
  const variants = read(path).slice(0, maxVariants).map(nameParts);
  return variants.filter(({ template }, index) => variants.findIndex((other) => other.template === template) === index);
}

/** A literal text, or a part that varies. */
type Piece = string | { readonly name: string | null; readonly pattern: string };
type Variant = readonly Piece[];

/** All variants of the pattern. */
function read(pattern: string): Variant[] {
  let variants: Variant[] = [[]];
  const follow = (choices: readonly Variant[]): void => {
    variants = variants.flatMap((variant) => choices.map((choice) => [...variant, ...choice])).slice(0, maxVariants);
  };
  for (let rest = pattern; rest !== '';) {
    const group = readGroup(rest);
    if (group === null) {
      const { piece, length, isOptional } = readPiece(rest);
      follow(isOptional ? [[], [piece]] : [[piece]]);
      rest = rest.slice(length);
      continue;
    }
    const inside = group.name === null ? groupVariants(group) : [[{ name: group.name, pattern: group.source }]];
    follow(group.isOptional ? [[], ...inside] : inside);
    rest = rest.slice(group.length);
  }
  return variants;
}

/** A group without a name: each of its alternatives, or one unnamed part when it repeats. */
function groupVariants({
  source,
  choices,
  isRepeated,
}: {
  readonly source: string;
  readonly choices: readonly string[];
  readonly isRepeated: boolean;
}): Variant[] {
  if (isRepeated) return [[{ name: null, pattern: `(?:${source})+` }]];
  return choices.flatMap(read);
}

function nameParts(variant: Variant): PathTemplate {
  const parameters: PathParameter[] = [];
  let template = '';
  let unnamed = 0;
  for (const piece of variant) {
    if (typeof piece === 'string') {
      template += piece;
      continue;
    }
    const name = piece.name ?? `part${++unnamed}`;
    parameters.push({ name, pattern: piece.pattern });
    template += `{${name}}`;
  }
  return { template: template.length > 1 ? template.replace(/\/$/, '') : template, parameters };
}

/** The schema of a path parameter without an argument. */
export function parameterSchema({ pattern }: PathParameter): OpenApiObject {
  if (/^(\\d|\[\\d\]|\[0-9\])(\+|\{\d+(,\d*)?\})?$/.test(pattern)) return { type: 'integer' };
  const alternatives = pattern.replace(/^\(\?:(.*)\)$/, '$1').split('|');
  if (alternatives.length > 1 && alternatives.every((text) => /^[\w~-]+$/.test(text)))
    return { type: 'string', enum: alternatives };
  return pattern === '[^/]+' ? { type: 'string' } : { type: 'string', pattern: `^(?:${pattern})$` };
}

/** A group at the beginning of a regular expression. */
interface Group {
  /** Name in `(?P<name>...)`; null for other groups. */
  readonly name: string | null;
  readonly source: string;
  /** Its alternatives, separated by `|`. */
  readonly choices: readonly string[];
  readonly isOptional: boolean;
  readonly isRepeated: boolean;
  /** Number of characters read. */
  readonly length: number;
}

/** Reads the group at the start of the text; null if there is none. */
function readGroup(text: string): Group | null {
  const opening = /^\((?:\?P?<([A-Za-z_]\w*)>|\?:)?/.exec(text);
  if (opening === null) return null;
  const end = closing(text);
  const source = text.slice(opening[0].length, end).replaceAll('(?P<', '(?<');
  const quantifier = readQuantifier(text.slice(end + 1));
  return {
    name: opening[1] ?? null,
    source,
    choices: splitChoices(text.slice(opening[0].length, end)),
    isOptional: /^[?*]/.test(quantifier),
    isRepeated: /^[*+{]/.test(quantifier),
    length: end + 1 + quantifier.length,
  };
}

interface ReadPiece {
  readonly piece: string | { readonly name: null; readonly pattern: string };
  readonly isOptional: boolean;
  readonly length: number;
}

/** Reads one character, or one class with its quantifier, at the start of the text. A dot without a quantifier is literal. */
function readPiece(text: string): ReadPiece {
  const atom = /^(?:\\.|\[(?:\\.|[^\]\\])*\]|[^])/.exec(text)?.[0] ?? text;
  const quantifier = readQuantifier(text.slice(atom.length));
  const length = atom.length + quantifier.length;
  const isOptional = quantifier.startsWith('?') || quantifier.startsWith('*');
  const isClass = atom.startsWith('[') || /^\\[dDwWsS]$/.test(atom) || (atom === '.' && quantifier !== '');
  if (isClass || /^[*+{]/.test(quantifier))
    return { piece: { name: null, pattern: atom + quantifier }, isOptional: false, length };
  return { piece: atom.startsWith('\\') ? atom.slice(1) : atom, isOptional, length };
}

function readQuantifier(text: string): string {
  return /^(?:[?*+]|\{\d+(?:,\d*)?\})[?+]?/.exec(text)?.[0] ?? '';
}

/** Index of the bracket that closes the group at the start of the text. */
function closing(text: string): number {
  let depth = 0;
  for (const { character, index } of outsideClasses(text)) {
    if (character === '(') depth += 1;
    if (character === ')' && --depth === 0) return index;
  }
  return text.length;
}

function splitChoices(source: string): string[] {
  const choices: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { character, index } of outsideClasses(source)) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character !== '|' || depth > 0) continue;
    choices.push(source.slice(from, index));
    from = index + 1;
  }
  return [...choices, source.slice(from)];
}

/** Characters that are neither escaped nor inside a character class. */
function* outsideClasses(text: string): Generator<{ character: string; index: number }> {
  let isInClass = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') index += 1;
    else if (isInClass) isInClass = character !== ']';
    else if (character === '[') isInClass = true;
    else yield { character, index };
  }
}
