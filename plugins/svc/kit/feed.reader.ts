import { DocumentError, isUrl } from '#plugin-api';
import { DomUtils, Parser, parseDocument } from 'htmlparser2';

/** One entry of a feed. Texts are plain, without HTML tags. */
export interface FeedEntry {
  /** Stable: the id of the entry, otherwise its URL, otherwise its title. */
  readonly id: string;
  /** '' without a title. */
  readonly title: string;
  /** Absolute if the feed or its URL allow; '' without a link. */
  readonly url: string;
  /** Summary or text, at most 10,000 characters. */
  readonly summary: string;
  /** Milliseconds since the epoch, or null. */
  readonly published: number | null;
}

export interface Feed {
  readonly title: string;
  /** In the feed's order. */
  readonly entries: readonly FeedEntry[];
}

const maxSummaryLength = 10_000;
const maxEntries = 10_000;

export interface FeedFile {
  /** The text, or its bytes; the XML declaration names the encoding. */
  readonly source: string | Uint8Array;
  /** URL of the feed, for relative links. */
  readonly address?: string | undefined;
}

/**
 * Reads a feed: RSS 2.0 (and 0.9x, 1.0) or Atom. Entities that a document defines itself are not expanded. Entries beyond
 * 10,000 are left out.
 *
 * @throws DocumentError when the text is neither RSS nor Atom
 */
export function parseFeed({ source, address }: FeedFile): Feed {
  const document = parseDocument(typeof source === 'string' ? source : decode(source), { xmlMode: true });
  const root = document.children.find(DomUtils.isTag);
  if (!root || !/^(?:rss|rdf:RDF|(?:[^:]+:)?feed)$/.test(root.name))
    throw new DocumentError('This is not a feed. Enter the URL of an RSS or Atom feed.');
  // A feed may have a namespace prefix: `atom:feed`, `atom:entry`.
  const prefix = /^(.+:)feed$/.exec(root.name)?.[1] ?? '';
  const isEntry = (name: string): boolean => name === 'item' || name === `${prefix}entry`;
  const entries = DomUtils.getElementsByTagName(isEntry, root.children, true, maxEntries);
  const base = absolute(root.attribs['xml:base'], address) || address;
  const channel = elementsOf(root, ['channel'])[0] ?? root;
  return {
    title: plainText(markupOf(elementsOf(channel, [`${prefix}title`])[0])),
    entries: entries.map((entry) => toEntry(entry, { prefix, base })).filter(({ id }) => id !== ''),
  };
}

type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];

/** The children of an element with one of the names, sorted by name. */
function elementsOf({ children }: Element, names: readonly string[]): Element[] {
  return names.flatMap((name) => DomUtils.getElementsByTagName(name, children, false));
}

/** The HTML in an element: escaped, in a CDATA section, or as elements. */
function markupOf(element: Element | undefined): string {
  if (!element) return '';
  return element.children.some(DomUtils.isTag) ? DomUtils.getInnerHTML(element) : DomUtils.textContent(element);
}

/** The text of HTML with single spaces. Each block becomes a line. */
export function plainText(html: string): string {
  let text = '';
  let hidden = 0;
  const parser = new Parser(
    {
      ontext: (piece) => void (text += hidden > 0 ? '' : piece),
      onopentag: (name) => {
        if (name === 'script' || name === 'style') hidden += 1;
        else if (!inline.has(name)) text += ' ';
      },
      onclosetag: (name) => {
        if (name === 'script' || name === 'style') hidden -= 1;
        else if (!inline.has(name)) text += ' ';
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return text.replace(/\s+/g, ' ').trim();
}

const inline = new Set([
  'a',
  'abbr',
  'b',
  'cite',
  'code',
  'em',
  'i',
  'mark',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
  'u',
]);

function toEntry(
  entry: Element,
  { prefix, base }: { readonly prefix: string; readonly base: string | undefined },
): FeedEntry {
  const isAtom = entry.name === `${prefix}entry`;
  const find = (...names: string[]): Element[] =>
    elementsOf(
      entry,
      names.map((name) => prefix + name),
    );
  const first = (...names: string[]): string => DomUtils.textContent(find(...names).slice(0, 1)).trim();
  const plain = (...names: string[]): string => {
    const [element] = find(...names);
    return isAtom && (element?.attribs['type'] ?? 'text') === 'text'
      ? first(...names).replace(/\s+/g, ' ')
      : plainText(markupOf(element));
  };
  const title = plain('title');
  const own = first('id', 'guid');
  // The link to the entry, not its other links.
  const link = isAtom
    ? find('link').find(({ attribs }) => (attribs['rel'] ?? 'alternate') === 'alternate')?.attribs['href']
    : first('link');
  const url = absolute(link, base) || (/^https?:\/\//i.test(own) ? own : '');
  const summary = plain('summary', 'description') || plain('content', 'content:encoded');
  const published = Date.parse(first('published', 'pubDate', 'dc:date', 'issued', 'updated', 'modified'));
  return {
    id: own || url || title,
    title,
    url,
    summary: [...summary].slice(0, maxSummaryLength).join(''),
    published: Number.isNaN(published) ? null : published,
  };
}

function absolute(address: string | undefined, base: string | undefined): string {
  if (address === undefined || address === '') return '';
  return isUrl(address, base) ? new URL(address, base).href : address;
}

/** Decodes by the XML declaration; UTF-8 without one. */
function decode(bytes: Uint8Array): string {
  const head = String.fromCharCode(...bytes.subarray(0, 200));
  const named = /^\s*<\?xml[^>]*\bencoding=["']([\w.-]+)["']/.exec(head)?.[1] ?? 'utf-8';
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : named;
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
