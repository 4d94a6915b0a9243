import { DocumentError } from '#plugin-api';
import { BlockWriter } from './text-blocks.ts';

const maxDepth = 100;
/** Characters of a path. */
const longestPath = 300;

/**
 * The values of JSON with their names, one in a line; an empty line separates the objects of a list. What is not JSON, such as
 * several values below one another, is returned as it is.
 *
 * @throws DocumentError for values that are nested too deeply
 */
export function readJson(text: string): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const blocks = new BlockWriter();
  writeValue(value, { blocks, path: '', depth: 0 });
  return blocks.toString();
}

interface Position {
  readonly blocks: BlockWriter;
  /** `customer.address`; '' at the top. */
  readonly path: string;
  readonly depth: number;
}

/** Writes the plain members of an object into one paragraph, and each object in it into paragraphs below. */
function writeValue(value: unknown, { blocks, path, depth }: Position): void {
  if (depth > maxDepth)
    throw new DocumentError('The content of this file is nested too deeply. Save it in a simpler form.');
  if (typeof value !== 'object' || value === null) return void blocks.paragraph(`${label(path)}${String(value)}`);
  const members = Object.entries(value).map(([name, member]: [string, unknown]) => ({
    path: Array.isArray(value) ? path : (path === '' ? name : `${path}.${name}`).slice(-longestPath),
    member,
  }));
  const plain = members.filter(({ member }) => typeof member !== 'object' || member === null);
  blocks.paragraph(
    Array.isArray(value)
      ? plain.length === 0
        ? ''
        : `${label(path)}${plain.map(({ member }) => String(member)).join(', ')}`
      : plain.map((each) => `${label(each.path)}${String(each.member)}`).join('\n'),
  );
  for (const each of members)
    if (typeof each.member === 'object' && each.member !== null)
      writeValue(each.member, { blocks, path: each.path, depth: depth + 1 });
}

const label = (path: string): string => (path === '' ? '' : `${path}: `);
