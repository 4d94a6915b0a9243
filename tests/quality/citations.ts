/** A mention of a section of the interface specification (`6.5`, `6.7(4)`) or a decision (`D22`). */
export interface Citation {
  readonly file: string;
  readonly line: number;
  readonly target: string;
}

const section = String.raw`\d+(?:\.\d+)*(?:\(\d+\))?`;
/** White space within a line, or a line break inside a comment. */
const gap = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:\*|//|#)[ \t]+)?)`;
const sections = `(${section}(?:,?${gap}(?:(?:and|or|to)${gap})?${section})*)`;

const inAnyFile = new RegExp(String.raw`\bcontracts?(?:’s)?${gap}(?:sections?${gap}|§ ?)?${sections}`, 'gi');
/** The specification refers to its own sections without its name: `section 8`, `(2.5)`. */
const inSpecification = [
  new RegExp(String.raw`\bsections?${gap}${sections}`, 'gi'),
  new RegExp(String.raw`(?<!\d)\((${section})\)`, 'g'),
];
/** Not in an escape (`%D0%BA`), a longer name or a pattern (`\D1`). */
const decision = /(?<![\w%#./\\-])D\d{1,2}(?![\w%])/g;

/** Finds every citation in a text. Enumerations count one by one: `contract 2.7, 3 and 6.1` holds three. */
export function findCitations(file: string, text: string): Citation[] {
  const found: Citation[] = [];
  const add = (index: number, target: string): void => {
    found.push({ file, line: text.slice(0, index).split('\n').length, target });
  };
  for (const pattern of [inAnyFile, ...(file.endsWith('CONTRACT.md') ? inSpecification : [])]) {
    for (const { index, 1: list = '' } of text.matchAll(pattern)) {
      for (const [target] of list.matchAll(new RegExp(section, 'g'))) add(index, target);
    }
  }
  for (const { index, 0: target } of text.matchAll(decision)) add(index, target);
  return found;
}

/** The numbers of a document's headings (`### 6.5 ...`, `### D22 ...`) and items (`- **6.7(4)** ...`), in their order. */
export function readTargets(markdown: string): string[] {
  const heading = String.raw`^#{2,4} (${section}|D\d+)(?=\.? )`;
  const item = String.raw`^- \*\*(${section})\*\* `;
  return [...markdown.matchAll(new RegExp(`${heading}|${item}`, 'gm'))].map(
    ([, first, second]) => first ?? second ?? '',
  );
}

/** The citations that name no heading and no item. */
export function findDangling(citations: readonly Citation[], targets: readonly string[]): Citation[] {
  const known = new Set(targets);
  return citations.filter(({ target }) => !known.has(target));
}
