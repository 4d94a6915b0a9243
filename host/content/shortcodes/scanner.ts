export interface FoundShortcode {
  readonly start: number;
  /** Index after its last character. */
  readonly end: number;
  readonly tag: string;
  /** The source text between tag and bracket. */
  readonly attributes: string;
  /** The enclosed content; null without a closing tag. */
  readonly content: string | null;
  /** `[[tag]]`: rendered as text without the outer brackets. */
  readonly isEscaped: boolean;
  /** A single extra bracket before or after it, which remains. */
  readonly before: string;
  readonly after: string;
}

export type ShortcodeScanner = (text: string) => FoundShortcode[];

/** Shortcodes of a text that are found, and that run with those inside their content (D46). Later ones stay as they are written. */
export const maxShortcodes = 200;

/**
 * Finds the first 200 outermost shortcodes of the given tags from left to right, in linear time. As in WordPress, a shortcode
 * ends at the first `[/tag]`, so it cannot contain one with the same tag.
 */
export function createScanner(tags: readonly string[]): ShortcodeScanner {
  if (tags.length === 0) return () => [];
  const names = [...tags]
    .sort((one, other) => other.length - one.length)
    .map((tag) => tag.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const opening = new RegExp(`\\[(?<extra>\\[?)(?<tag>${names.join('|')})(?![\\w-])`, 'g');
  return (text) => {
    const found: FoundShortcode[] = [];
    const findClosing = createClosingFinder(text);
    opening.lastIndex = 0;
    for (let match = opening.exec(text); match && found.length < maxShortcodes; match = opening.exec(text)) {
      const shortcode = readAt({
        text,
        findClosing,
        start: match.index,
        extra: match.groups?.['extra'] ?? '',
        tag: match.groups?.['tag'] ?? '',
        from: opening.lastIndex,
      });
      // No bracket closes any more, so none of those that follow ends either.
      if (shortcode === null) break;
      found.push(shortcode);
      opening.lastIndex = shortcode.end;
    }
    return found;
  };
}

interface Reading {
  readonly text: string;
  readonly findClosing: (tag: string, from: number) => number;
  readonly start: number;
  readonly extra: string;
  readonly tag: string;
  /** Index after the tag. */
  readonly from: number;
}

function readAt({ text, findClosing, start, extra, tag, from }: Reading): FoundShortcode | null {
  const bracket = text.indexOf(']', from);
  if (bracket < 0) return null;
  const isSelfClosing = text.charAt(bracket - 1) === '/' && bracket > from;
  const attributes = text.slice(from, isSelfClosing ? bracket - 1 : bracket);
  const closing = isSelfClosing ? -1 : findClosing(tag, bracket + 1);
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

/** Finds the index of a closing tag. Remembers missing tags, so that the scan stays linear. */
function createClosingFinder(text: string): (tag: string, from: number) => number {
  const absent = new Set<string>();
  return (tag, from) => {
    if (absent.has(tag)) return -1;
    const index = text.indexOf(`[/${tag}]`, from);
    if (index < 0) absent.add(tag);
    return index;
  };
}
