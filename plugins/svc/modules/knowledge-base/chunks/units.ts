/** Tokens of a text, a whole number. */
export type CountTokens = (text: string) => number;

/** The smallest pieces that passages are made of: nothing in them is torn apart while they fit. */
export interface Unit {
  readonly text: string;
  /** Of the text with what stands between it and the unit before it. */
  readonly tokens: number;
  /** What stands before it within a passage. */
  readonly gap: ' ' | '\n' | '\n\n';
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' });

/** A block as sentences, lines where it is a list or a table, and parts of a sentence that is longer than a passage may be. */
export function unitsOf(
  block: string,
  { size, count }: { readonly size: number; readonly count: CountTokens },
): Unit[] {
  const units: Unit[] = [];
  const add = (text: string, gap: Unit['gap']): void => {
    for (const [at, piece] of piecesOf(text, size, count).entries())
      units.push({ text: piece, tokens: count(piece) + 1, gap: at > 0 ? ' ' : units.length === 0 ? '\n\n' : gap });
  };
  const isLines = /^\s*(?:[-*+]|\d+[.)]|\||`{3}|~{3}|>)/.test(block);
  for (const line of isLines ? block.split('\n') : [block.replaceAll(/\s*\n\s*/g, '\n')]) {
    const text = isLines ? line.trimEnd() : line;
    if (text.trim() === '') continue;
    if (count(text) <= size && isLines) add(text, '\n');
    else
      for (const [at, { segment }] of [...segmenter.segment(text)].entries())
        if (segment.trim() !== '') add(segment.trim(), at === 0 ? '\n' : ' ');
  }
  return units;
}

/** The text itself where it fits, else parts at words, and inside of words where these are longer than that. */
function piecesOf(text: string, size: number, count: CountTokens): string[] {
  if (count(text) <= size) return [text];
  const pieces: string[] = [];
  let piece = '';
  let tokens = 0;
  const end = (): void => {
    if (piece.trim() !== '') pieces.push(piece.trim());
    [piece, tokens] = ['', 0];
  };
  for (const word of text.split(/(?<=\s)/)) {
    for (const part of partsOf(word, size, count)) {
      const more = count(part);
      if (tokens + more > size) end();
      piece += part;
      tokens += more;
    }
  }
  end();
  return pieces;
}

function partsOf(word: string, size: number, count: CountTokens): string[] {
  if (word.length <= size) return [word];
  if (count(word) <= size) return [word];
  const letters = [...word];
  // A letter has at most a few tokens, most have less than one.
  const length = Math.max(1, Math.floor(size / 3));
  return Array.from({ length: Math.ceil(letters.length / length) }, (_, at) =>
    letters.slice(at * length, (at + 1) * length).join(''),
  );
}
