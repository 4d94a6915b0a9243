/** WordPress's sanitization of typed text: removes tags, control characters and unsafe URLs. */

const scriptBlocks = /<(script|style)[^>]*?>[\s\S]*?<\/\1>/gi;
const controlBreaks = /[\r\n\t ]+/g;

/** Removes tags; a `<` that starts no tag becomes an entity. */
function withoutTags(text: string): string {
  if (!text.includes('<')) return text;
  const closed = text.replace(/<[^>]*?(?=<|>|$)/g, (tag, offset: number) =>
    text[offset + tag.length] === '>' ? tag : escapeMarkup(tag),
  );
  return stripTags(closed.replace(scriptBlocks, '')).trim();
}

function escapeMarkup(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#039;' };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
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

function withoutOctets(text: string): string {
  let clean = text;
  while (/%[a-f0-9]{2}/i.test(clean)) clean = clean.replace(/%[a-f0-9]{2}/gi, '');
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
  if (!/^mailto:/i.test(url)) url = withoutLineBreaks(url);
  url = url.replaceAll(';//', '://');
  if (!url.includes(':') && !/^[/#?]/.test(url) && !/^[a-z0-9-]+?\.php/i.test(url)) url = `http://${url}`;
  url = escapeBrackets(url);
  if (url.startsWith('/')) return url;
  const scheme = /^([^:/?#]*):/.exec(url)?.[1];
  return scheme === undefined || schemes.has(scheme.toLowerCase()) ? url : '';
}

function withoutLineBreaks(url: string): string {
  let clean = url;
  while (/%0[ad]/i.test(clean)) clean = clean.replace(/%0[ad]/gi, '');
  return clean;
}

/** Brackets are allowed only in the host (an IPv6 address). */
function escapeBrackets(url: string): string {
  if (!/[[\]]/.test(url)) return url;
  const front = /^(?:[a-z][a-z0-9+.-]*:)?(?:\/\/[^/?#]*)?/i.exec(url)?.[0] ?? '';
  return front + url.slice(front.length).replaceAll('[', '%5B').replaceAll(']', '%5D');
}
