import type { ProviderSettings } from '../provider.ts';
import { isListedModel } from '../settings-fields.ts';

/** Tags that models put around their reasoning if the server does not separate it. */
const tags = ['think', 'thinking', 'thought'] as const;
const opening = /^\s*<(think|thinking|thought)>/;

/**
 * Removes the reasoning at the beginning of a text: a block of a tag, one that does not end, and a text with the closing tag
 * alone, because the model's template wrote the opening one into the prompt. A closing tag that is mentioned, in code, in
 * quotes or between spaces of a sentence, is part of the text.
 *
 * @param thinks whether the model is known for such templates: a tag between spaces then ends its reasoning too
 */
export function stripReasoning(text: string, thinks = false): string {
  const tag = opening.exec(text)?.[1];
  if (tag !== undefined) {
    const end = text.indexOf(`</${tag}>`);
    return end < 0 ? '' : text.slice(end + tag.length + 3).trimStart();
  }
  const end = findLoneClosing(text, thinks);
  return end === null ? text : text.slice(end).trimStart();
}

/** Whether a text begins with reasoning that only a closing tag ends. */
export function hasLoneClosing(text: string, thinks = false): boolean {
  return !opening.test(text) && findLoneClosing(text, thinks) !== null;
}

const openingTag = /<(?:think|thinking|thought)>/;
const closingTag = /<\/(?:think|thinking|thought)>/g;
const inlineCode = /`[^`]*`/g;

/** The position after the first closing tag that nothing opened and that is not mentioned; null without one. */
function findLoneClosing(text: string, thinks: boolean): number | null {
  if (!text.includes('</th')) return null;
  const lines = createLoneClosing(thinks);
  for (const line of text.split('\n')) {
    const end = lines.take(line);
    if (end !== null) return end;
  }
  return null;
}

/** Looks for it line by line, so that a text of many pieces is read once. */
function createLoneClosing(thinks: boolean): { take(line: string): number | null } {
  let isCode = false;
  let hasOpening = false;
  let start = 0;
  /** The end of a tag that ends its line as a mention may, and ends the reasoning if a text follows. */
  let pending: number | null = null;

  const find = (line: string): number | null => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    else if (!isCode && line.includes('th')) {
      const shown = line.replace(inlineCode, (code) => ' '.repeat(code.length));
      const opened = shown.search(openingTag);
      for (const { index, 0: tag } of shown.matchAll(closingTag)) {
        if (opened >= 0 && opened < index) break;
        const [before, after] = [line.slice(0, index), line.slice(index + tag.length)];
        const isInLine = before.trim() !== '' && after.trim() !== '';
        if (isInLine && hasOpening) continue;
        const end = start + index + tag.length;
        if (thinks || before.trim() === '' || !isMentioned(before, after)) return end;
        if (!isInLine) pending = end;
      }
      hasOpening ||= opened >= 0;
    }
    return null;
  };
  return {
    take(line) {
      const end = pending !== null && line.trim() !== '' ? pending : find(line);
      start += line.length + 1;
      return end;
    },
  };
}

/** Whether a sentence speaks of a tag: it is set apart, as a word is. */
function isMentioned(before: string, after: string): boolean {
  return /[\s"'“‘«„(]$/.test(before) && /^(?:[\s"'”’»“).,;:!?]|$)/.test(after);
}

export interface ReasoningFilter {
  /** Returns the text that can be shown now; empty while that is undecided. */
  push(piece: string): string;
  /** The server sends the reasoning beside the text: nothing is held back any more. */
  separate(): void;
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
 * @param thinks as for `stripReasoning`
 */
export function createReasoningFilter(holdsText = false, thinks = false): ReasoningFilter {
  let state: 'start' | 'thinking' | 'held' | 'behind' | 'text' = 'start';
  let held = '';
  /** The last line of a held text, which is not complete yet. */
  let line = '';
  const lines = createLoneClosing(thinks);
  let closing = '';
  let isLone = false;
  let isBlank = false;

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

  /** The end of a lone closing tag in the lines that this piece of a held text completes. */
  const findEnd = (piece: string): number | null => {
    const [first = '', ...others] = piece.split('\n');
    line += first;
    for (const next of others) {
      const end = lines.take(line);
      if (end !== null) return end;
      line = next;
    }
    return null;
  };

  const push = (piece: string): string => {
    // Blank text before a tag is looked at once.
    if (state === 'start' && piece.trim() === '' && (held === '' || isBlank)) {
      isBlank = true;
      held += piece;
      return '';
    }
    isBlank = false;
    const wasHeld = state === 'held';
    held += piece;
    if (state === 'behind') return behind();
    if (state === 'start' && !begin()) return '';
    switch (state) {
      case 'held': {
        // Only a whole line shows whether its tag is mentioned.
        const end = findEnd(wasHeld ? piece : held);
        if (end === null) return '';
        isLone = true;
        held = held.slice(end);
        break;
      }
      case 'thinking': {
        const end = held.indexOf(closing);
        if (end < 0) {
          held = held.slice(-closing.length);
          return '';
        }
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
    separate() {
      if (held === '') holdsText = false;
    },
    end() {
      if (state === 'behind' || state === 'thinking') return '';
      isLone ||= state !== 'text' && findLoneClosing(held, thinks) !== null;
      return stripReasoning(release(), thinks);
    },
    hadLoneClosing: () => isLone,
  };
}

/** Models whose templates may write the opening tag into the prompt, such as DeepSeek's, Qwen's and GLM's. */
const reasoningModels =
  /(^|[-_/.:])(r1|qwq|qwen3|magistral|reason|think|deepseek-(chat-)?v3\.[1-9]|glm-?(4\.[5-9]|[5-9])|minimax-?m\d|seed-oss|ernie-x1|exaone-deep|smollm3)/i;

/** The same, and whether the setting of its provider names it. */
export function thinksInText(model: string, settings: ProviderSettings): boolean {
  return isReasoningModel(model) || isListedModel('reasoning_models', model, settings);
}

/** Whether a model is known to write its reasoning into its texts where its server does not separate it. */
export function isReasoningModel(model: string): boolean {
  return reasoningModels.test(model);
}

/** Whether models of a provider mix their reasoning into texts, as this process has seen it. */
export interface ReasoningHabits {
  /** Whether the next text must be held back until its reasoning ends: not for a model that was seen to have none in its texts. */
  holds(model: string, settings: ProviderSettings): boolean;
  note(model: string, hadLoneClosing: boolean): void;
}

/** Texts without reasoning after which a model streams again: who makes a model write the tag must not end the streams of others. */
const heldAfterTag = 20;

/** Models of OpenAI, whose servers separate the reasoning, under any address: a gateway may offer them. */
const separateModels = /(^|[/:])(gpt-|chatgpt-|o\d)/i;

/**
 * @param mixes what holds for models that were not seen yet, or whether the server at an address may be anyone's. Of these the first
 *   text of a model is held back: nothing else shows whether its template makes it think.
 */
export function createReasoningHabits(mixes: boolean | ((settings: ProviderSettings) => boolean)): ReasoningHabits {
  /** Texts of a model that are still held back. */
  const left = new Map<string, number>();
  return {
    holds(model, settings) {
      const known = left.get(model);
      if (known !== undefined) return known > 0;
      if (typeof mixes === 'boolean') return mixes;
      return isReasoningModel(model) || (mixes(settings) && !separateModels.test(model));
    },
    note(model, hadLoneClosing) {
      if (hadLoneClosing && separateModels.test(model)) return;
      if (left.size >= 500) left.clear();
      // A model that thinks before some texts only is held back for the next ones too.
      left.set(model, hadLoneClosing ? heldAfterTag : Math.max(0, (left.get(model) ?? 0) - 1));
    },
  };
}
