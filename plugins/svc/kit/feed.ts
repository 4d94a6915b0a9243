import { isUrl } from '#plugin-api';
import { Parser } from 'htmlparser2';

/** One entry of a feed. Texts are plain: what was HTML has lost its tags. */
export interface FeedEntry {
  /** The same whenever the feed is read: its own id, else its address, else its title. */
  readonly id: string;
  /** '' where it has none. */
  readonly title: string;
  /** Absolute where the feed or the address it came from allow; '' where it has none. */
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

/** A text that is no feed. */
export class FeedError extends Error {}

const longestSummary = 10_000;

/** Which member of an entry an element below it holds. */
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

/**
 * Reads a feed: RSS 2.0 (and 0.9x, 1.0) or Atom. Entities that a document defines itself are not expanded.
 *
 * @param source the text, or its bytes, whose encoding its first line tells
 * @param address where it came from, for addresses that are relative to it
 * @throws FeedError when it is neither
 */
export function readFeed(source: string | Uint8Array, address?: string): Feed {
  const { kind, title, entries, base } = parse(typeof source === 'string' ? source : decoded(source));
  if (kind === null) throw new FeedError('This is no feed: neither RSS nor Atom was found in it.');
  const from = absolute(base, address) || address;
  return { title: plainText(title), entries: entries.map((raw) => entryOf(raw, from)).filter(({ id }) => id !== '') };
}

/** The text of HTML, its runs of blanks made one; blocks stand on their own. */
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
  /** A feed may name everything with a prefix: `atom:feed`, `atom:entry`. */
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
      parsed.kind = kindOf(name);
      prefix = parsed.kind === 'atom' && name.includes(':') ? `${name.slice(0, name.indexOf(':'))}:` : '';
      parsed.base = attributes['xml:base'];
    }
    path.push(bare(name));
    if (member) {
      member.text += ' ';
    } else if (entry && path.length === entry.depth + 1) {
      const named = members[bare(name)];
      if (named === 'link' && parsed.kind === 'atom') takeLink(entry.raw, attributes);
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
      // The first of a kind counts; a plain text keeps its `<` through the reading as HTML that follows.
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

function kindOf(root: string): Parsed['kind'] {
  const local = root.slice(root.indexOf(':') + 1);
  if (local === 'feed') return 'atom';
  return local === 'rss' || root === 'rdf:RDF' ? 'rss' : null;
}

/** The address of the entry itself wins over others that it names. */
function takeLink(raw: RawEntry, { href, rel = 'alternate' }: Readonly<Record<string, string>>): void {
  if (href !== undefined && rel === 'alternate') raw.link ??= href;
}

function entryOf(raw: RawEntry, base: string | undefined): FeedEntry {
  const title = plainText(raw.title ?? '');
  const own = (raw.id ?? '').trim();
  const url = absolute(raw.link?.trim(), base) || (/^https?:\/\//i.test(own) ? own : '');
  const summary = plainText(raw.summary ?? '') || plainText(raw.body ?? '');
  const published = Date.parse((raw.published ?? raw.updated ?? '').trim());
  return {
    id: own || url || title,
    title,
    url,
    summary: [...summary].slice(0, longestSummary).join(''),
    published: Number.isNaN(published) ? null : published,
  };
}

function absolute(address: string | undefined, base: string | undefined): string {
  if (address === undefined || address === '') return '';
  return isUrl(address, base) ? new URL(address, base).href : address;
}

/** XML says its encoding in its first line; without it is UTF-8. */
function decoded(bytes: Uint8Array): string {
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
