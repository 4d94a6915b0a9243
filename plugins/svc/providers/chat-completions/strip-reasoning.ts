/** Removes a leading `<think>` block, which Ollama and others send if the model's template does not separate reasoning. */
export function stripReasoning(text: string): string {
  return text.replace(/^\s*<think>[\s\S]*?<\/think>\s*/, '');
}

const opening = '<think>';
const closing = '</think>';

export interface ReasoningFilter {
  /** Returns the text that can be shown now; empty while that is undecided. */
  push(piece: string): string;
  /** The text held back at the end. */
  end(): string;
}

/** The same for text in pieces: the joined output is `stripReasoning` of the joined input. */
export function createReasoningFilter(): ReasoningFilter {
  let state: 'start' | 'thinking' | 'behind' | 'text' = 'start';
  let held = '';
  /** Position in `held` up to which the closing tag was searched. */
  let searched = 0;

  const behind = (): string => {
    held = held.trimStart();
    if (held === '') return '';
    state = 'text';
    return release();
  };
  const release = (): string => {
    const text = held;
    held = '';
    return text;
  };

  return {
    push(piece) {
      if (state === 'text') return piece;
      held += piece;
      if (state === 'behind') return behind();
      if (state === 'start') {
        const begun = held.trimStart();
        if (!begun.startsWith(opening)) {
          if (opening.startsWith(begun)) return '';
          state = 'text';
          return release();
        }
        state = 'thinking';
      }
      const end = held.indexOf(closing, searched);
      searched = Math.max(0, held.length - closing.length);
      if (end < 0) return '';
      held = held.slice(end + closing.length);
      state = 'behind';
      return behind();
    },
    end: () => (state === 'behind' ? '' : release()),
  };
}
