import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { DocumentError, isUrl } from '#plugin-api';
import { DomUtils, ElementType, Parser, parseDocument } from 'htmlparser2';
import { charsetOf, declaredInXml, decodeText, repairControls } from './decode-text.ts';
import { parseDate, parseUsualDate } from './parse-date.ts';

/** One entry of a feed. Texts are plain, without HTML tags. */
export interface FeedEntry {
  /** Stable: the id of the entry, otherwise its URL, its title, or a hash of its text. */
  readonly id: string;
  /** '' without a title. */
  readonly title: string;
  /** Absolute if the feed or its URL allow; '' without a link. */
  readonly url: string;
  /** Summary, otherwise the text, at most 10,000 characters. */
  readonly summary: string;
  /** The whole text, at most 10,000 characters; '' if the entry has none. */
  readonly content: string;
  /** Milliseconds since the epoch, or null. */
  readonly published: number | null;
  /** When it was changed last, in milliseconds since the epoch, or null. */
  readonly updated: number | null;
  /** When it was written, where the feed names that beside its publication; in milliseconds since the epoch, or null. */
  readonly created: number | null;
}

export interface Feed {
  readonly title: string;
  /** In the feed's order. */
  readonly entries: readonly FeedEntry[];
}

const maxTextLength = 10_000;
const maxEntries = 10_000;
/** Bytes of a compressed feed after unpacking. */
const maxBytes = 20_000_000;

export interface FeedFile {
  /** The text, or its bytes, compressed or not. */
  readonly source: string | Uint8Array;
  /** Header `Content-Type` of the response, which may name the encoding. */
  readonly contentType?: string | undefined;
  /** URL of the feed, for relative links. */
  readonly address?: string | undefined;
}

/**
 * Reads a feed: RSS 2.0 (and 0.9x, 1.0) or Atom. Entities that a document defines itself are not expanded. Entries beyond
 * 10,000 are left out.
 *
 * @throws DocumentError when the text is neither RSS nor Atom, or its encoding is unknown
 */
export function parseFeed({ source, contentType, address }: FeedFile): Feed {
  const text = typeof source === 'string' ? source : decode(source, contentType);
  const root = rootOf(text, false);
  if (root === null) throw new DocumentError('This is not a feed. Enter the URL of an RSS or Atom feed.');
  const feed = toFeed(root, address);
  if (feed.entries.length > 0) return feed;
  // Some write the names of elements in capitals.
  const folded = rootOf(text, true);
  return folded === null ? feed : toFeed(folded, address);
}

/** @param isFolded whether names become lower case, which those of XML are not */
function rootOf(text: string, isFolded: boolean): Element | null {
  const { children } = parseDocument(text, {
    xmlMode: true,
    lowerCaseTags: isFolded,
    lowerCaseAttributeNames: isFolded,
  });
  const root = children.find(isElement);
  return root && rootName.test(root.name) ? root : null;
}

const rootName = /^(.+:)?(rss|rdf|feed)$/i;
/** Namespaces of RSS 1.0 and 0.90, whose elements have a prefix in some feeds. */
const rdfNamespaces = ['http://purl.org/rss/1.0/', 'http://my.netscape.com/rdf/simple/0.9/'];

function toFeed(root: Element, address: string | undefined): Feed {
  const prefix = prefixOf(root);
  const isEntry = (name: string): boolean => name === 'item' || name === `${prefix}item` || name === `${prefix}entry`;
  const found = DomUtils.getElementsByTagName(isEntry, root.children, true, maxEntries);
  const base = absolute(root.attribs['xml:base'], address) || address;
  const channel = elementsOf(root, ['channel', `${prefix}channel`])[0] ?? root;
  const isAtom = root.name.toLowerCase() === `${prefix}feed`.toLowerCase();
  return {
    title: textOf(firstOf(channel, [`${prefix}title`, 'title', 'dc:title']), isAtom),
    entries: withIds(found.map((entry) => toEntry(entry, { prefix, base }))),
  };
}

/** The prefix that the elements of a feed have: `atom:entry`, `x:item`; '' without one. That of `rdf:RDF` is not theirs. */
function prefixOf({ name, attribs }: Element): string {
  const [, prefix = '', kind = ''] = rootName.exec(name) ?? [];
  if (kind.toLowerCase() !== 'rdf') return prefix;
  const declared = Object.entries(attribs).find(
    ([attribute, value]) => attribute.startsWith('xmlns:') && rdfNamespaces.includes(value),
  );
  return declared ? `${declared[0].slice('xmlns:'.length)}:` : '';
}

/** An entry whose id is '' if the feed names none. */
interface ReadEntry {
  readonly entry: FeedEntry;
  /** What its id is made of then. How it is made must not change: automations would take known entries for new ones. */
  readonly identity: string;
}

/** Ids for entries that name none: their title, or a hash where it is missing or several have it. */
function withIds(entries: readonly ReadEntry[]): FeedEntry[] {
  const titles = new Map<string, number>();
  for (const { entry } of entries) if (entry.id === '') titles.set(entry.title, (titles.get(entry.title) ?? 0) + 1);
  return entries.flatMap(({ entry, identity }) => {
    if (entry.id !== '') return [entry];
    if (entry.title !== '' && titles.get(entry.title) === 1) return [{ ...entry, id: entry.title }];
    return identity === '' ? [] : [{ ...entry, id: `sha256:${createHash('sha256').update(identity).digest('hex')}` }];
  });
}

type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];

function isElement(node: Element['children'][number]): node is Element {
  return ElementType.isTag(node);
}

/** The children of an element with one of the names, sorted by name. */
function elementsOf({ children }: Element, names: readonly string[]): Element[] {
  return names.flatMap((name) => DomUtils.getElementsByTagName(name, children, false));
}

const firstOf = (element: Element, names: readonly string[]): Element | undefined => elementsOf(element, names)[0];

/** The text of an element of RSS, whose content is HTML, or of Atom, whose attributes say what it is. */
function textOf(element: Element | undefined, isAtom: boolean): string {
  if (!element) return '';
  const { type = '', mode = '' } = element.attribs;
  const isBase64 = mode === 'base64' || (isAtom && type.includes('/') && !/^text\/|[/+]xml$/.test(type));
  if (isBase64) return plainText(Buffer.from(DomUtils.textContent(element), 'base64').toString());
  const isPlain = isAtom && mode !== 'escaped' && (type === '' || type === 'text' || type === 'text/plain');
  return isPlain && !element.children.some(isElement)
    ? repairControls(DomUtils.textContent(element)).replace(/\s+/g, ' ').trim()
    : plainText(markupOf(element, isAtom && ['html', 'text/html'].includes(type)));
}

/**
 * The HTML in an element: escaped, in a CDATA section, or as elements.
 *
 * @param isHtml whether it says that it is escaped: then the text in elements is too
 */
function markupOf(element: Element, isHtml: boolean): string {
  if (!element.children.some(isElement)) return DomUtils.textContent(element);
  return DomUtils.getInnerHTML(element, isHtml ? { encodeEntities: false } : {});
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
  return repairControls(text).replace(/\s+/g, ' ').trim();
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

const contents = ['content', 'content:encoded', 'xhtml:body', 'body', 'xhtml:div', 'div', 'fullitem'];
const summaries = ['summary', 'description', 'dc:description', 'itunes:summary', 'media:description'];

function toEntry(
  entry: Element,
  { prefix, base: outer }: { readonly prefix: string; readonly base: string | undefined },
): ReadEntry {
  const isAtom = entry.name === `${prefix}entry`;
  const base = absolute(entry.attribs['xml:base'], outer) || outer;
  const find = (names: readonly string[]): Element[] =>
    elementsOf(entry, [...(prefix === '' ? [] : names.map((name) => prefix + name)), ...names]);
  const first = (...names: string[]): string => DomUtils.textContent(find(names)[0] ?? []).trim();
  const shorten = (text: string): string => [...text].slice(0, maxTextLength).join('');
  const plain = (names: readonly string[]): string => shorten(textOf(find(names)[0], isAtom));
  const own = first('id', 'guid') || (entry.attribs['rdf:about'] ?? '');
  // The link to the entry, not its other links.
  const link = elementsOf(entry, prefix === '' ? ['link'] : [`${prefix}link`, 'link']).find(
    ({ attribs: { rel = 'alternate' } }) => rel === 'alternate',
  );
  const target = link?.attribs['href'] ?? (link && DomUtils.textContent(link).trim());
  const url = absolute(target, base) || (/^https?:\/\//i.test(own) ? own : '');
  const content = plain(contents);
  const texts = { title: plain(['title', 'dc:title', 'media:title']), summary: plain(summaries) || content, content };
  const entryDates = toDates(find);
  return {
    entry: {
      id: own || url,
      ...texts,
      ...(isAtom || content !== '' ? {} : twoTexts(entry, shorten)),
      url,
      ...entryDates,
    },
    identity: own || url ? '' : identityOf(entry, texts, first),
  };
}

interface Texts {
  readonly title: string;
  readonly summary: string;
  readonly content: string;
}

/** Of RSS with a `summary` and a `description`, the second one is the content. */
function twoTexts({ children }: Element, shorten: (text: string) => string): Partial<Texts> {
  const isText = (name: string): boolean => name === 'summary' || name === 'description';
  const found = DomUtils.getElementsByTagName(isText, children, false).map((element) =>
    shorten(textOf(element, false)),
  );
  const [summary, content] = found.filter((text) => text !== '');
  return summary !== undefined && content !== undefined ? { summary, content } : {};
}

const dateNames = {
  published: ['published', 'pubDate', 'pubdate', 'dc:date', 'issued', 'dcterms:issued', 'created', 'dcterms:created'],
  updated: ['updated', 'modified', 'dcterms:modified', 'dc:date'],
  created: ['created', 'dcterms:created'],
} as const;

/** Of several dates with one name the last one counts. */
function toDates(
  find: (names: readonly string[]) => readonly Element[],
): Record<keyof typeof dateNames, number | null> {
  const dateOf = (names: readonly string[]): number | null => {
    for (const name of names) {
      const element = find([name]).at(-1);
      const date = element ? parseDate(DomUtils.textContent(element)) : null;
      if (date !== null) return date;
    }
    return null;
  };
  const updated = dateOf(dateNames.updated);
  return { published: dateOf(dateNames.published) ?? updated, updated, created: dateOf(dateNames.created) };
}

/** By the texts and the date as the first version read them; without texts by its markup, and '' for an entry without any. */
function identityOf(entry: Element, { title, summary, content }: Texts, first: (...names: string[]) => string): string {
  if (title === '' && summary === '' && content === '') return DomUtils.getInnerHTML(entry).trim();
  const published = first('published', 'pubDate', 'dc:date', 'issued', 'dcterms:issued', 'created', 'dcterms:created');
  const updated = first('updated', 'modified', 'dcterms:modified', 'dc:date');
  return JSON.stringify([title, summary, content, parseUsualDate(published) ?? parseUsualDate(updated)]);
}
function absolute(address: string | undefined, base: string | undefined): string {
  if (address === undefined || address === '') return '';
  return isUrl(address, base) ? new URL(address, base).href : address;
}

/** @throws DocumentError that names an encoding which is unknown */
function decode(given: Uint8Array, contentType: string | undefined): string {
  // Some servers compress although they were not asked to.
  const bytes = given[0] === 0x1f && given[1] === 0x8b ? unpack(given) : given;
  const { text, unknown } = decodeText(bytes, {
    charset: charsetOf(contentType),
    declared: declaredInXml,
  });
  if (unknown !== null) throw new DocumentError(`The encoding ${unknown} of this feed is not supported. Use UTF-8.`);
  return text;
}

function unpack(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch {
    throw new DocumentError('The compressed feed is damaged or too large.');
  }
}
