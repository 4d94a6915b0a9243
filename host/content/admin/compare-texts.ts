import { diffArrays, diffWordsWithSpace } from 'diff';

export interface TextPart {
  readonly text: string;
  /** Not in the other version. */
  readonly isChanged: boolean;
}

/** A line of both versions, beside each other. */
export interface ComparedLine {
  /** Null: only the other version has the line. */
  readonly before: readonly TextPart[] | null;
  readonly after: readonly TextPart[] | null;
  readonly isSame: boolean;
}

export interface ComparedTexts {
  /** The changed lines with the ones around them. */
  readonly lines: readonly ComparedLine[];
  /** There are more changed lines. */
  readonly isCut: boolean;
}

/**
 * The work grows with the square of the number of changes, so all of it together stays below some 50 ms: texts that differ
 * more are compared more coarsely.
 */
const limits = {
  /** Changed lines until all are taken as replaced. */
  lineEdits: 500,
  /** Changed words of a line until the whole line is taken as replaced. */
  wordEdits: 100,
  /** Characters of a line whose words are compared. */
  lineLength: 5_000,
  /** Lines whose words are compared. */
  comparedLines: 100,
  /** Lines that are shown. */
  lines: 500,
  /** Same lines before and after a changed one. */
  context: 2,
  /** Characters of a line that are shown. */
  shownLength: 20_000,
} as const;

/** Compares two texts line by line, and the words of lines that take each other's place. */
export function compareTexts(before: string, after: string): ComparedTexts {
  const [old, young] = [before.split('\n'), after.split('\n')];
  const changes = diffArrays(old, young, { maxEditLength: limits.lineEdits }) ?? [
    { value: old, added: false, removed: true, count: old.length },
    { value: young, added: true, removed: false, count: young.length },
  ];
  const lines: ComparedLine[] = [];
  let compared = 0;
  let isCut = false;
  const add = (line: () => ComparedLine): void => {
    if (lines.length < limits.lines) lines.push(line());
    else isCut = true;
  };
  for (let index = 0; index < changes.length && !isCut; index += 1) {
    const change = changes[index];
    if (change === undefined) break;
    if (!change.added && !change.removed) {
      const isEdge = [index === 0, index === changes.length - 1] as const;
      for (const text of nearChanges(change.value, isEdge)) add(() => sameLine(text));
      continue;
    }
    const next = changes[index + 1];
    const isReplaced = change.removed && next?.added === true;
    const gone = change.removed ? change.value : [];
    const come = change.added ? change.value : isReplaced ? next.value : [];
    if (isReplaced) index += 1;
    for (let row = 0; row < Math.max(gone.length, come.length) && !isCut; row += 1) {
      compared += 1;
      add(() => changedLine(gone[row], come[row], compared <= limits.comparedLines));
    }
  }
  return { lines, isCut };
}

function nearChanges(same: readonly string[], [isFirst, isLast]: readonly [boolean, boolean]): readonly string[] {
  if (isFirst && isLast) return [];
  if (isFirst) return same.slice(-limits.context);
  if (isLast) return same.slice(0, limits.context);
  const omitted = same.length - 2 * limits.context;
  if (omitted <= 1) return same;
  return [...same.slice(0, limits.context), `… ${omitted} more lines …`, ...same.slice(-limits.context)];
}

function sameLine(text: string): ComparedLine {
  const part = [{ text: shorten(text), isChanged: false }];
  return { before: part, after: part, isSame: true };
}

function changedLine(before: string | undefined, after: string | undefined, comparesWords: boolean): ComparedLine {
  const isShort = (before?.length ?? 0) <= limits.lineLength && (after?.length ?? 0) <= limits.lineLength;
  const words =
    before !== undefined && after !== undefined && comparesWords && isShort
      ? diffWordsWithSpace(before, after, { maxEditLength: limits.wordEdits })
      : undefined;
  const whole = (text: string | undefined): readonly TextPart[] | null =>
    text === undefined ? null : [{ text: shorten(text), isChanged: true }];
  if (!words) return { before: whole(before), after: whole(after), isSame: false };
  const parts = (isOther: 'added' | 'removed'): readonly TextPart[] =>
    words
      .filter((word) => !word[isOther])
      .map(({ value, added, removed }) => ({ text: value, isChanged: added || removed }));
  return { before: parts('added'), after: parts('removed'), isSame: false };
}

function shorten(text: string): string {
  return text.length > limits.shownLength ? `${text.slice(0, limits.shownLength)}…` : text;
}
