import { foldText } from '../../../kit/fold-text.ts';

const longestTitle = 200;
const longestMeta = 300;
const longestKeyword = 100;
const longestExcerpt = 1_000;
const maxTags = 20;
const longestTag = 60;

/** One line without Markdown, surrounding quotation marks or a "Title:" prefix. */
export function cleanTitle(text: string): string {
  return clipped(oneLine(firstLine(text)), longestTitle);
}

export function cleanExcerpt(text: string): string {
  return clipped(oneLine(text), longestExcerpt);
}

export function cleanMetaDescription(text: string): string {
  return clipped(oneLine(text), longestMeta);
}

export function cleanKeyword(text: string): string {
  return clipped(oneLine(firstLine(text)).replace(/\.$/, ''), longestKeyword);
}

/** Parses tags separated by commas or lines, or a JSON list. Removes duplicates, case-insensitive. */
export function cleanTags(text: string): string[] {
  const bare = unfenced(text).trim();
  const parts = /^\[[\s\S]*\]$/.test(bare)
    ? bare.slice(1, -1).split(/[,\n]/)
    : bare.replace(/^tags?:/i, '').split(bare.includes(',') ? /[,\n]/ : /\n/);
  const seen = new Set<string>();
  const tags: string[] = [];
  for (const part of parts) {
    const tag = clipped(
      oneLine(part.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ''))
        .replace(/^#+/, '')
        .replace(/\.$/, '')
        .trim(),
      longestTag,
    );
    if (tag === '' || seen.has(foldText(tag))) continue;
    seen.add(foldText(tag));
    tags.push(tag);
  }
  return tags.slice(0, maxTags);
}

/** Removes a surrounding code fence and a heading that repeats the title, as models add them. */
export function cleanContent(text: string, title: string | undefined): string {
  const bare = unfenced(text).trim();
  const heading = /^#\s+(\S.*)\n/.exec(`${bare}\n`);
  return heading && title !== undefined && foldText(cleanTitle(heading[1] ?? '')) === foldText(title)
    ? bare.slice(heading[0].length).trim()
    : bare;
}

function unfenced(text: string): string {
  return /^\s*```(?:markdown|md|json|html|text)?[ \t]*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
}

function firstLine(text: string): string {
  return (
    unfenced(text)
      .split('\n')
      .find((line) => line.trim() !== '') ?? ''
  );
}

function oneLine(text: string): string {
  const line = unfenced(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^#{1,6}\s+/, '')
    .replace(/^(?:title|headline|excerpt|summary|meta description|focus keyword|key ?phrase|keyword)\s*:\s*/i, '');
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
function clipped(text: string, longest: number): string {
  const characters = [...text];
  if (characters.length <= longest) return text;
  const cut = characters.slice(0, longest - 1).join('');
  const space = cut.lastIndexOf(' ');
  return `${(space > longest / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
