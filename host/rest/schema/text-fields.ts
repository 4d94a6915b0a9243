import { escapeHtml } from '#plugin-api';

/** WordPress's sanitization of typed text: removes tags, control characters and unsafe URLs. */

const controlBreaks = /[\r\n\t ]+/g;

/** Removes tags; a `<` that starts no tag becomes an entity. */
function withoutTags(text: string): string {
  if (!text.includes('<')) return text;
  const closed = text.replace(/<[^>]*?(?=<|>|$)/g, (tag, offset: number) =>
    text[offset + tag.length] === '>' ? tag : escapeHtml(tag),
  );
  return stripTags(withoutScripts(closed)).trim();
}

/** Removes scripts and style sheets up to the first closing tag. One that is not closed stays: its tag is removed later. */
function withoutScripts(text: string): string {
  const opening = /<(script|style)[^<>]*>/gi;
  const unclosed = new Set<string>();
  let output = '';
  let from = 0;
  for (let tag = opening.exec(text); tag !== null; tag = opening.exec(text)) {
    const name = tag[1]?.toLowerCase() ?? '';
    const end = unclosed.has(name) ? -1 : endOf(new RegExp(`</${name}>`, 'gi'), text, opening.lastIndex);
    if (end < 0) {
      // Searched for once, so that a text of opening tags takes linear time.
      unclosed.add(name);
      continue;
    }
    output += text.slice(from, tag.index);
    opening.lastIndex = from = end;
  }
  return output + text.slice(from);
}

/** Index after the first match, or -1. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** A `<` before white space starts no tag; quoted attributes may contain `>`. */
function stripTags(text: string): string {
  let output = '';
  let quote = '';
  let inside = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (!inside) {
      if (character === '<' && !/\s/.test(text.charAt(index + 1))) inside = true;
      else output += character;
    } else if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === '>') {
      inside = false;
    }
  }
  return output;
}

/** Removes percent-escapes, also those that removing another one creates (`%%4141`), in linear time. */
function withoutEscapes(text: string, pattern: RegExp): string {
  if (!text.includes('%')) return text;
  const remaining: string[] = [];
  for (const character of text) {
    remaining.push(character);
    if (remaining.at(-3) === '%' && pattern.test(remaining.slice(-3).join(''))) remaining.length -= 3;
  }
  return remaining.join('');
}

function withoutOctets(text: string): string {
  const clean = withoutEscapes(text, /^%[a-f0-9]{2}$/i);
  return clean === text ? text : clean.replace(/ +/g, ' ').trim();
}

/** One line of plain text: no tags or percent-escapes, white space collapsed and trimmed. */
export function sanitizeTextField(text: string): string {
  return withoutOctets(withoutTags(text).replace(controlBreaks, ' ').trim());
}

/** Like sanitizeTextField, but keeps line breaks and inner white space. */
export function sanitizeTextareaField(text: string): string {
  return withoutOctets(withoutTags(text).trim());
}

const schemes = new Set([
  'http',
  'https',
  'ftp',
  'ftps',
  'mailto',
  'news',
  'irc',
  'irc6',
  'ircs',
  'gopher',
  'nntp',
  'feed',
  'telnet',
  'mms',
  'rtsp',
  'sms',
  'svn',
  'tel',
  'fax',
  'xmpp',
  'webcal',
  'urn',
]);

/**
 * Sanitizes a URL for storage: escapes spaces, removes invalid characters, and prefixes a bare name with `http://`. A URL
 * with a forbidden scheme (`javascript:`) becomes empty.
 */
export function sanitizeUrl(text: string): string {
  let url = text
    .trimStart()
    .replaceAll(' ', '%20')
    .replace(/[^a-z0-9\-~+_.?#=!&;,/:%@$|*'()[\]\u0080-\u{10ffff}]/giu, '');
  if (url === '') return '';
  if (!/^mailto:/i.test(url)) url = withoutEscapes(url, /^%0[ad]$/i);
  url = url.replaceAll(';//', '://');
  if (!url.includes(':') && !/^[/#?]/.test(url) && !/^[a-z0-9-]+?\.php/i.test(url)) url = `http://${url}`;
  url = escapeBrackets(url);
  if (url.startsWith('/')) return url;
  const scheme = /^([^:/?#]*):/.exec(url)?.[1];
  return scheme === undefined || schemes.has(scheme.toLowerCase()) ? url : '';
}

/** Brackets are allowed only in the host (an IPv6 address). */
function escapeBrackets(url: string): string {
  if (!/[[\]]/.test(url)) return url;
  const front = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/?#]*)?/i.exec(url)?.[0] ?? '';
  return front + url.slice(front.length).replaceAll('[', '%5B').replaceAll(']', '%5D');
}
