/** A group at the beginning of a regular expression. */
export interface Group {
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
export function readGroup(text: string): Group | null {
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

export interface ReadPiece {
  readonly piece: string | { readonly name: null; readonly pattern: string };
  readonly isOptional: boolean;
  readonly length: number;
}

/** Reads one character, or one class with its quantifier, at the start of the text. A dot without a quantifier is literal. */
export function readPiece(text: string): ReadPiece {
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
