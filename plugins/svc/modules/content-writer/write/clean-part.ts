import { foldText } from '../../../kit/fold-text.ts';

/** Characters. */
const longest = { title: 200, excerpt: 1_000, meta_description: 300, focus_keyword: 100, tag: 60 } as const;
const maxTags = 20;

/** One line of plain text, which a model may have formatted or put in quotation marks. */
export function cleanLine(part: keyof typeof longest, text: string): string {
  const line = oneLine(text);
  return clipped(part === 'focus_keyword' ? line.replace(/\.$/, '') : line, longest[part]);
}

/** Removes duplicates, case-insensitive, and the number sign of tags. */
export function cleanTags(given: readonly string[]): string[] {
  const tags = new Map<string, string>();
  for (const text of given) {
    const tag = cleanLine('tag', text.replace(/^\s*#+/, ''));
    if (tag !== '' && !tags.has(foldText(tag))) tags.set(foldText(tag), tag);
  }
  return [...tags.values()].slice(0, maxTags);
}

/** Removes a surrounding code fence and a heading that repeats the title, as models add them. */
export function cleanContent(text: string, title: string | undefined): string {
  const bare = unfenced(text).trim();
  const heading = /^#\s+(\S.*)\n/.exec(`${bare}\n`);
  return heading && title !== undefined && foldText(oneLine(heading[1] ?? '')) === foldText(title)
    ? bare.slice(heading[0].length).trim()
    : bare;
}

function unfenced(text: string): string {
  return /^\s*```(?:markdown|md|json|html|text)?[ \t]*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
}

function oneLine(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^#{1,6}\s+/, '');
  return unquoted(line.replace(/\*\*(.+?)\*\*/g, '$1').replace(/`([^`]+)`/g, '$1'));
}

const quotes: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '“': '”',
  '„': '“',
  '«': '»',
  '‘': '’',
  '*': '*',
};

function unquoted(line: string): string {
  const end = quotes[line[0] ?? ''];
  return end !== undefined && line.length > 2 && line.endsWith(end) && !line.slice(1, -1).includes(end)
    ? line.slice(1, -1).trim()
    : line;
}

/** Cuts at a word boundary if possible. */
function clipped(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const cut = characters.slice(0, most - 1).join('');
  const space = cut.lastIndexOf(' ');
  return `${(space > most / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
