/** One shortcode in a text. */
export interface FoundShortcode {
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
  readonly tag: string;
  /** Between tag and bracket, as written. */
  readonly attributes: string;
  /** What it encloses; null when it encloses nothing. */
  readonly content: string | null;
  /** `[[tag]]`: stands for itself, without the outer brackets. */
  readonly isEscaped: boolean;
  /** A lone further bracket before or after it, which stays. */
  readonly before: string;
  readonly after: string;
}

export type ShortcodeScanner = (text: string) => FoundShortcode[];

/**
 * Finds shortcodes of the given tags, outermost only, from left to right. As in WordPress a tag encloses what stands before
 * the first `[/tag]`, so that a shortcode cannot enclose one of its own tag. Takes time in proportion to the text.
 */
export function createScanner(tags: readonly string[]): ShortcodeScanner {
  if (tags.length === 0) return () => [];
  const names = [...tags]
    .sort((one, other) => other.length - one.length)
    .map((tag) => tag.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const opening = new RegExp(`\\[(?<extra>\\[?)(?<tag>${names.join('|')})(?![\\w-])`, 'g');
  return (text) => {
    const found: FoundShortcode[] = [];
    const closed = createClosingFinder(text);
    opening.lastIndex = 0;
    for (let match = opening.exec(text); match; match = opening.exec(text)) {
      const shortcode = readAt({
        text,
        closed,
        start: match.index,
        extra: match.groups?.['extra'] ?? '',
        tag: match.groups?.['tag'] ?? '',
        from: opening.lastIndex,
      });
      if (shortcode === null) continue;
      found.push(shortcode);
      opening.lastIndex = shortcode.end;
    }
    return found;
  };
}

interface Reading {
  readonly text: string;
  readonly closed: (tag: string, from: number) => number;
  readonly start: number;
  readonly extra: string;
  readonly tag: string;
  /** Behind the tag. */
  readonly from: number;
}

function readAt({ text, closed, start, extra, tag, from }: Reading): FoundShortcode | null {
  const bracket = text.indexOf(']', from);
  if (bracket < 0) return null;
  const isSelfClosing = text.charAt(bracket - 1) === '/' && bracket > from;
  const attributes = text.slice(from, isSelfClosing ? bracket - 1 : bracket);
  const closing = isSelfClosing ? -1 : closed(tag, bracket + 1);
  const content = closing < 0 ? null : text.slice(bracket + 1, closing);
  const inner = closing < 0 ? bracket + 1 : closing + tag.length + 3;
  const after = text.charAt(inner) === ']' ? ']' : '';
  return {
    start,
    end: inner + after.length,
    tag,
    attributes,
    content,
    isEscaped: extra !== '' && after !== '',
    before: extra,
    after,
  };
}

/** Where a closing tag stands. One that is not found once is not looked for again. */
function createClosingFinder(text: string): (tag: string, from: number) => number {
  const absent = new Set<string>();
  return (tag, from) => {
    if (absent.has(tag)) return -1;
    const place = text.indexOf(`[/${tag}]`, from);
    if (place < 0) absent.add(tag);
    return place;
  };
}
