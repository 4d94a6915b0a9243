/** Ollama and others put a model's reasoning before the answer when its template does not separate it. */
export function stripReasoning(text: string): string {
  return text.replace(/^\s*<think>[\s\S]*?<\/think>\s*/, '');
}

const opening = '<think>';
const closing = '</think>';

export interface ReasoningFilter {
  /** Answers what of the text so far can be shown and was not before; empty while that is not known. */
  push(piece: string): string;
  /** What was held back when the text ended. */
  end(): string;
}

/** The same for text that comes in pieces: all that comes out, joined, is `withoutThinking` of all that went in. */
export function createReasoningFilter(): ReasoningFilter {
  let state: 'start' | 'thinking' | 'behind' | 'text' = 'start';
  let held = '';
  /** Of `held`, where the closing mark was looked for already. */
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
