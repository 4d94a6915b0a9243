import { trimTrailing } from '#plugin-api';
/** The text below one heading, up to the next. */
export interface Section {
  /** Headings, outermost first; empty before the first heading. */
  readonly headings: readonly string[];
  /** Paragraphs, lists and code blocks. */
  readonly blocks: readonly string[];
}

const maxDepth = 6;

/**
 * Splits a text at its Markdown headings (`#` to `######`, or underlined by `===` or `---`). Lines of fenced code blocks are
 * not headings. A heading without text adds no section.
 */
export function splitSections(text: string): Section[] {
  const sections: Section[] = [];
  const path: string[] = [];
  let blocks: string[] = [];
  let block: string[] = [];
  let codeBlock = '';
  const endBlock = (): void => {
    const joined = block.join('\n').trimEnd();
    if (joined.trim() !== '') blocks.push(joined);
    block = [];
  };
  const endSection = (): void => {
    endBlock();
    if (blocks.length > 0) sections.push({ headings: path.filter((heading) => heading !== ''), blocks });
    blocks = [];
  };
  const begin = (level: number, heading: string): void => {
    endSection();
    path.length = Math.min(path.length, level - 1);
    while (path.length < level - 1) path.push('');
    path.push(heading);
  };
  for (const line of text.replaceAll(/\r\n?/g, '\n').split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (codeBlock !== '') {
      block.push(line);
      if (mark.startsWith(codeBlock)) codeBlock = '';
    } else if (mark !== '') {
      codeBlock = mark;
      block.push(line);
    } else {
      const heading = readHeading(line);
      const underline = block.length === 1 && /^ {0,3}(=+|-{3,})\s*$/.exec(line)?.[1];
      if (heading !== null) begin(Math.min(maxDepth, heading.level), heading.text);
      else if (typeof underline === 'string' && block[0] !== undefined && !/^\s*([-*+]|\d+[.)])\s/.test(block[0])) {
        const [name] = block;
        block = [];
        begin(underline.startsWith('=') ? 1 : 2, name.trim());
      } else if (line.trim() === '') endBlock();
      else block.push(line);
    }
  }
  endSection();
  return sections;
}

/** `## Delivery ##` -> level 2, `Delivery`. Null: the line is not a heading, or has no text. */
function readHeading(line: string): { readonly level: number; readonly text: string } | null {
  const [, marks = '', rest = ''] = /^ {0,3}(#{1,6})\s(.*)$/.exec(line) ?? [];
  const text = trimTrailing(rest.trim(), '#').trim();
  return text === '' ? null : { level: marks.length, text };
}
