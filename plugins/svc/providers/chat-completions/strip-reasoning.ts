/** Tags that models put around their reasoning if the server does not separate it. */
const tags = ['think', 'thinking', 'thought'] as const;
const opening = /^\s*<(think|thinking|thought)>/;

/**
 * Removes the reasoning at the beginning of a text: a block of a tag, one that does not end, and a text that ends with the
 * closing tag alone, because the model's template wrote the opening one into the prompt. A closing tag that is mentioned, in
 * code or within a line, is part of the text.
 */
export function stripReasoning(text: string): string {
  const tag = opening.exec(text)?.[1];
  if (tag !== undefined) {
    const end = text.indexOf(`</${tag}>`);
    return end < 0 ? '' : text.slice(end + tag.length + 3).trimStart();
  }
  const end = findLoneClosing(text);
  return end === null ? text : text.slice(end).trimStart();
}

/** The position after the first closing tag at the beginning or end of a line that is not in code; null without one. */
function findLoneClosing(text: string): number | null {
  if (!text.includes('</th')) return null;
  let isCode = false;
  let start = 0;
  for (const line of text.split('\n')) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    else if (!isCode) {
      const closing = /^\s*<\/(?:think|thinking|thought)>|<\/(?:think|thinking|thought)>\s*$/.exec(line);
      if (closing) return start + closing.index + closing[0].length;
    }
    start += line.length + 1;
  }
  return null;
}

export interface ReasoningFilter {
  /** Returns the text that can be shown now; empty while that is undecided. */
  push(piece: string): string;
  /** The text held back at the end. */
  end(): string;
  /** Whether a closing tag alone was found. Call it after `end`. */
  hadLoneClosing(): boolean;
}

/**
 * The same for text in pieces: the joined output is `stripReasoning` of the joined input, except that a lone closing tag is
 * only found while the text is held back.
 *
 * @param holdsText whether text without an opening tag is held back until its closing tag or its end
 */
export function createReasoningFilter(holdsText = false): ReasoningFilter {
  let state: 'start' | 'thinking' | 'held' | 'behind' | 'text' = 'start';
  let held = '';
  /** Position in `held` up to which the closing tag was searched. */
  let searched = 0;
  let closing = '';
  let isLone = false;

  const release = (): string => {
    const text = held;
    held = '';
    return text;
  };
  const behind = (): string => {
    held = held.trimStart();
    if (held === '') return '';
    state = 'text';
    return release();
  };
  const begin = (): boolean => {
    const tag = opening.exec(held)?.[1];
    if (tag !== undefined) {
      [state, closing] = ['thinking', `</${tag}>`];
      return true;
    }
    const begun = held.trimStart();
    if (tags.some((name) => `<${name}>`.startsWith(begun))) return false;
    state = holdsText ? 'held' : 'text';
    return true;
  };

  const push = (piece: string): string => {
    held += piece;
    if (state === 'behind') return behind();
    if (state === 'start' && !begin()) return '';
    switch (state) {
      case 'held': {
        // Only a whole line shows whether its tag is mentioned.
        if (!piece.includes('\n') || !held.includes('</th')) return '';
        const end = findLoneClosing(held.slice(0, held.lastIndexOf('\n')));
        if (end === null) return '';
        isLone = true;
        held = held.slice(end);
        break;
      }
      case 'thinking': {
        const end = held.indexOf(closing, searched);
        searched = Math.max(0, held.length - closing.length);
        if (end < 0) return '';
        held = held.slice(end + closing.length);
        break;
      }
      default:
        return release();
    }
    state = 'behind';
    return behind();
  };

  return {
    push(piece) {
      return state === 'text' ? piece : push(piece);
    },
    end() {
      if (state === 'behind' || state === 'thinking') return '';
      isLone ||= state !== 'text' && findLoneClosing(held) !== null;
      return stripReasoning(release());
    },
    hadLoneClosing: () => isLone,
  };
}

/** Models whose templates may write the opening tag into the prompt. */
const reasoningModels = /(^|[-_/.:])(r1|qwq|qwen3|magistral|reason|think)/i;

/** Whether models of a provider mix their reasoning into texts, as this process has seen it. */
export interface ReasoningHabits {
  /** Whether the next text must be held back until its reasoning ends: not for a model that was seen to have none in its texts. */
  holds(model: string): boolean;
  note(model: string, hadLoneClosing: boolean): void;
}

/** @param mixes what holds for models that were not seen yet. Default: by the name of the model */
export function createReasoningHabits(mixes?: boolean): ReasoningHabits {
  const seen = new Map<string, boolean>();
  return {
    holds: (model) => seen.get(model) ?? mixes ?? reasoningModels.test(model),
    note(model, hadLoneClosing) {
      if (seen.size >= 500) seen.clear();
      seen.set(model, hadLoneClosing);
    },
  };
}
