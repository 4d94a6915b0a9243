import { DocumentError, isUrl } from '#plugin-api';
import { Parser } from 'htmlparser2';

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

/** Elements of an entry, and the members they are read into. */
const members: Readonly<Record<string, Member>> = {
  id: 'id',
  guid: 'id',
  title: 'title',
  link: 'link',
  summary: 'summary',
  description: 'summary',
  content: 'body',
  'content:encoded': 'body',
  published: 'published',
  pubDate: 'published',
  'dc:date': 'published',
  issued: 'published',
  updated: 'updated',
  modified: 'updated',
};
type Member = 'id' | 'title' | 'link' | 'summary' | 'body' | 'published' | 'updated';
type RawEntry = Partial<Record<Member, string>>;

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
  const { kind, title, entries, base } = parse(typeof source === 'string' ? source : decode(source));
  if (kind === null) throw new DocumentError('This is not a feed. Enter the URL of an RSS or Atom feed.');
  const from = absolute(base, address) || address;
  return {
    title: plainText(title),
    entries: entries
      .slice(0, maxEntries)
      .map((raw) => toEntry(raw, from))
      .filter(({ id }) => id !== ''),
  };
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

interface Parsed {
  kind: 'rss' | 'atom' | null;
  title: string;
  base: string | undefined;
  readonly entries: RawEntry[];
}

function parse(xml: string): Parsed {
  const parsed: Parsed = { kind: null, title: '', base: undefined, entries: [] };
  const path: string[] = [];
  /** A feed may have a namespace prefix: `atom:feed`, `atom:entry`. */
  let prefix = '';
  let entry: { readonly raw: RawEntry; readonly depth: number } | null = null;
  let member: {
    readonly name: Member | 'feed-title';
    readonly depth: number;
    text: string;
    readonly isPlain: boolean;
  } | null = null;
  const bare = (name: string): string => (prefix !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name);

  const open = (name: string, attributes: Readonly<Record<string, string>>): void => {
    if (path.length === 0) {
      parsed.kind = feedKind(name);
      prefix = parsed.kind === 'atom' && name.includes(':') ? `${name.slice(0, name.indexOf(':'))}:` : '';
      parsed.base = attributes['xml:base'];
    }
    path.push(bare(name));
    if (member) {
      member.text += ' ';
    } else if (entry && path.length === entry.depth + 1) {
      const named = members[bare(name)];
      if (named === 'link' && parsed.kind === 'atom') readLink(entry.raw, attributes);
      else if (named !== undefined)
        member = {
          name: named,
          depth: path.length,
          text: '',
          isPlain: parsed.kind === 'atom' && (attributes['type'] ?? 'text') === 'text',
        };
    } else if (!entry && (bare(name) === 'item' || bare(name) === 'entry')) {
      entry = { raw: {}, depth: path.length };
      parsed.entries.push(entry.raw);
    } else if (!entry && bare(name) === 'title' && path.length <= 3 && parsed.title === '') {
      member = { name: 'feed-title', depth: path.length, text: '', isPlain: false };
    }
  };
  const close = (): void => {
    if (member?.depth === path.length) {
      const { name, text, isPlain } = member;
      if (name === 'feed-title') parsed.title = text;
      // The first element counts. Plain text is escaped, because it is parsed as HTML later.
      else if (entry) entry.raw[name] ??= isPlain ? text.replaceAll('&', '&amp;').replaceAll('<', '&lt;') : text;
      member = null;
    }
    if (entry?.depth === path.length) entry = null;
    path.pop();
  };
  const parser = new Parser(
    { onopentag: open, onclosetag: close, ontext: (text) => void (member && (member.text += text)) },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
  return parsed;
}

function feedKind(root: string): Parsed['kind'] {
  const local = root.slice(root.indexOf(':') + 1);
  if (local === 'feed') return 'atom';
  return local === 'rss' || root === 'rdf:RDF' ? 'rss' : null;
}

/** Uses the link to the entry, not its other links. */
function readLink(raw: RawEntry, { href, rel = 'alternate' }: Readonly<Record<string, string>>): void {
  if (href !== undefined && rel === 'alternate') raw.link ??= href;
}

function toEntry(raw: RawEntry, base: string | undefined): FeedEntry {
  const title = plainText(raw.title ?? '');
  const own = (raw.id ?? '').trim();
  const url = absolute(raw.link?.trim(), base) || (/^https?:\/\//i.test(own) ? own : '');
  const summary = plainText(raw.summary ?? '') || plainText(raw.body ?? '');
  const published = Date.parse((raw.published ?? raw.updated ?? '').trim());
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
