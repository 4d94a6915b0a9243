import type { Tokenizer as HtmlTokenizer } from 'htmlparser2';
import { inTurn } from './concurrency.ts';

/** An opening tag or a comment in the source text, not what looks like one in an attribute or a script. */
export interface HtmlPart {
  /** Index of the `<`. */
  readonly start: number;
  /** Index after the `>`. */
  readonly end: number;
  /** By names in lower case, as written: character references are not decoded. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Name of comments for {@link findHtmlParts}. */
export const htmlComment = '!--';

/**
 * Finds tags or comments of HTML in one pass, in time in proportion to its length, even if it is broken.
 *
 * @param name of the tags in lower case, or `htmlComment`
 * @param most number of parts after which the search ends
 */
export async function findHtmlParts(html: string, name: string, most = Infinity): Promise<readonly HtmlPart[]> {
  if (!html.includes(`<${name.charAt(0)}`) && !html.includes(`<${name.charAt(0).toUpperCase()}`)) return [];
  const { Tokenizer } = await import('htmlparser2');
  return inTurn(html, () => readParts(html, { name, most, Tokenizer }));
}

interface Search {
  readonly name: string;
  readonly most: number;
  readonly Tokenizer: typeof HtmlTokenizer;
}

function readParts(html: string, { name, most, Tokenizer }: Search): HtmlPart[] {
  const parts: HtmlPart[] = [];
  let start = 0;
  let attribute = '';
  /** Null in another tag. */
  let attributes: Record<string, string> | null = null;
  const add = (part: HtmlPart): void => {
    if (parts.push(part) >= most) tokenizer.pause();
  };
  const endTag = (end: number): void => {
    if (attributes) add({ start, end: end + 1, attributes });
  };
  const ignore = (): void => undefined;
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(from, to) {
        start = from - 1;
        const isWanted = to - from === name.length && html.slice(from, to).toLowerCase() === name;
        attributes = isWanted ? (Object.create(null) as Record<string, string>) : null;
      },
      onattribname(from, to) {
        if (!attributes) return;
        attribute = html.slice(from, to).toLowerCase();
        attributes[attribute] ??= '';
      },
      onattribdata(from, to) {
        if (attributes) attributes[attribute] ||= html.slice(from, to);
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      oncomment(from, to) {
        if (name === htmlComment) add({ start: from - 4, end: to + 1, attributes: {} });
      },
      onattribend: ignore,
      onattribentity: ignore,
      oncdata: ignore,
      onclosetag: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onprocessinginstruction: ignore,
      ontext: ignore,
      ontextentity: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return parts;
}

/** Tags of a text that get attributes (D46). */
const mostTags = 1_000;

/**
 * Inserts attributes behind the name of each of the first 1,000 tags. See {@link findHtmlParts}.
 *
 * @param attributesFor null leaves the tag as it is
 */
export async function insertAttributes(
  html: string,
  name: string,
  attributesFor: (tag: HtmlPart) => string | null,
): Promise<string> {
  const pieces: string[] = [];
  let last = 0;
  for (const tag of await findHtmlParts(html, name, mostTags)) {
    const added = attributesFor(tag);
    if (added === null) continue;
    pieces.push(html.slice(last, tag.start), `<${name} ${added}`);
    last = tag.start + 1 + name.length;
  }
  return pieces.join('') + html.slice(last);
}
