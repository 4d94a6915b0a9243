import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { DocumentError, isUrl } from '#plugin-api';
import { DomUtils, ElementType, Parser, parseDocument } from 'htmlparser2';
import { charsetOf, declaredInXml, decodeText, repairControls } from './decode-text.ts';
import { parseDate } from './parse-date.ts';

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
  const document = parseDocument(typeof source === 'string' ? source : decode(source, contentType), { xmlMode: true });
  const root = document.children.find(isElement);
  const [, prefix = '', kind] = /^(.+:)?(rss|rdf|feed)$/i.exec(root?.name ?? '') ?? [];
  if (!root || kind === undefined) throw new DocumentError('This is not a feed. Enter the URL of an RSS or Atom feed.');
  // The elements may have the prefix of a namespace: `atom:entry`, `x:item`. That of `rdf:RDF` is not theirs.
  const own = kind.toLowerCase() === 'rdf' ? '' : prefix;
  const isEntry = (name: string): boolean => name === 'item' || name === `${own}item` || name === `${own}entry`;
  const found = DomUtils.getElementsByTagName(isEntry, root.children, true, maxEntries);
  const base = absolute(root.attribs['xml:base'], address) || address;
  const channel = elementsOf(root, ['channel', `${own}channel`])[0] ?? root;
  const isAtom = kind.toLowerCase() === 'feed';
  return {
    title: textOf(firstOf(channel, [`${own}title`, 'title', 'dc:title']), isAtom),
    entries: withIds(found.map((entry) => toEntry(entry, { prefix: own, base }))),
  };
}

/** Ids for entries that name none: their title, or a hash where it is missing or several have it. */
function withIds(entries: readonly FeedEntry[]): FeedEntry[] {
  const titles = new Map<string, number>();
  for (const { id, title } of entries) if (id === '') titles.set(title, (titles.get(title) ?? 0) + 1);
  return entries.flatMap((entry) => {
    const { id, title, summary, content, published } = entry;
    if (id !== '') return [entry];
    if (title !== '' && titles.get(title) === 1) return [{ ...entry, id: title }];
    if (title === '' && summary === '' && content === '') return [];
    const text = JSON.stringify([title, summary, content, published]);
    return [{ ...entry, id: `sha256:${createHash('sha256').update(text).digest('hex')}` }];
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
    : plainText(markupOf(element));
}

/** The HTML in an element: escaped, in a CDATA section, or as elements. */
function markupOf(element: Element | undefined): string {
  if (!element) return '';
  return element.children.some(isElement) ? DomUtils.getInnerHTML(element) : DomUtils.textContent(element);
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
): FeedEntry {
  const isAtom = entry.name === `${prefix}entry`;
  const base = absolute(entry.attribs['xml:base'], outer) || outer;
  const find = (names: readonly string[]): Element | undefined =>
    firstOf(entry, [...(prefix === '' ? [] : names.map((name) => prefix + name)), ...names]);
  const first = (...names: string[]): string => DomUtils.textContent(find(names) ?? []).trim();
  const plain = (names: readonly string[]): string => [...textOf(find(names), isAtom)].slice(0, maxTextLength).join('');
  const own = first('id', 'guid') || (entry.attribs['rdf:about'] ?? '');
  // The link to the entry, not its other links.
  const link = elementsOf(entry, prefix === '' ? ['link'] : [`${prefix}link`, 'link']).find(
    ({ attribs: { rel = 'alternate' } }) => rel === 'alternate',
  );
  const target = link?.attribs['href'] ?? (link && DomUtils.textContent(link).trim());
  const url = absolute(target, base) || (/^https?:\/\//i.test(own) ? own : '');
  const content = plain(contents);
  const updated = parseDate(first('updated', 'modified', 'dcterms:modified', 'dc:date'));
  return {
    id: own || url,
    title: plain(['title', 'dc:title', 'media:title']),
    url,
    summary: plain(summaries) || content,
    content,
    published:
      parseDate(first('published', 'pubDate', 'dc:date', 'issued', 'dcterms:issued', 'created', 'dcterms:created')) ??
      updated,
    updated,
  };
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
