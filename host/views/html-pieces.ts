/// <reference types="handlebars" />

/** Source text, or a statement of the template. */
export type Part = string | hbs.AST.Statement;

/** What a template consists of, as far as its texts are concerned. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** A statement within text. */
  | { readonly kind: 'value'; readonly node: hbs.AST.Statement }
  /** An element within a sentence, such as a link. */
  | { readonly kind: 'open' | 'close'; readonly name: string; readonly parts: readonly Part[] }
  /** Ends a sentence: a block element, a comment, code. */
  | { readonly kind: 'other'; readonly parts: readonly Part[] };

/** In which part of HTML a block of the template begins. */
export type HtmlState = 'text' | 'tag' | 'value' | 'message';

export interface SplitHtml {
  readonly pieces: readonly Piece[];
  readonly states: ReadonlyMap<hbs.AST.Statement, HtmlState>;
}

const inlineElements = new Set(
  'a abbr b bdi br cite em i kbd mark q s small span strong sub sup time u var'.split(' '),
);
/** Their content is no text of the program. */
const opaqueElements = new Set('code kbd pre samp script style svg textarea'.split(' '));
const messageAttributes = new Set('alt aria-label aria-description aria-roledescription placeholder title'.split(' '));
const isMessageAttribute = (name: string): boolean =>
  messageAttributes.has(name) || /^data-(busy|confirm|done|failed|text|message|label)$/.test(name);

const mark = /\uE000(\d+)\uE001/;

/** Splits the statements of one level into texts, values and elements. */
export function splitHtml(
  body: readonly hbs.AST.Statement[],
  start: HtmlState,
  translateAttribute: (parts: readonly Part[]) => readonly Part[],
): SplitHtml {
  const source = body
    .map((node, index) =>
      node.type === 'ContentStatement' ? (node as hbs.AST.ContentStatement).value : `\uE000${String(index)}\uE001`,
    )
    .join('');
  const states = new Map<hbs.AST.Statement, HtmlState>();
  const toParts = (text: string, state: HtmlState): Part[] =>
    text.split(mark).flatMap((part, index): Part[] => {
      if (index % 2 === 0) return part === '' ? [] : [part];
      const node = body[Number(part)];
      if (!node) return [];
      states.set(node, state);
      return [node];
    });
  const reader: Reader = { source, at: 0, toParts, translateAttribute };
  return { pieces: readPieces(reader, start), states };
}

interface Reader {
  readonly source: string;
  at: number;
  readonly toParts: (text: string, state: HtmlState) => Part[];
  readonly translateAttribute: (parts: readonly Part[]) => readonly Part[];
}

function take(reader: Reader, pattern: RegExp): string {
  const sticky = new RegExp(pattern.source, 'sy');
  sticky.lastIndex = reader.at;
  const found = sticky.exec(reader.source)?.[0] ?? '';
  reader.at += found.length;
  return found;
}

function readPieces(reader: Reader, start: HtmlState): Piece[] {
  const pieces: Piece[] = [];
  if (start === 'tag') pieces.push({ kind: 'other', parts: readAttributes(reader) });
  if (start === 'value') pieces.push({ kind: 'other', parts: reader.toParts(take(reader, /.*/), 'value') });
  while (reader.at < reader.source.length) {
    const name = /^<\/?([a-z][\w-]*)/i.exec(reader.source.slice(reader.at, reader.at + 40))?.[1]?.toLowerCase();
    if (name !== undefined) pieces.push(readElement(reader, name));
    else if (reader.source.startsWith('<!', reader.at))
      pieces.push({ kind: 'other', parts: reader.toParts(take(reader, /<!(?:--.*?-->|[^>]*>?)/), 'text') });
    else pieces.push(...readText(reader));
  }
  return pieces;
}

/** A blank line ends a sentence too: mails are plain text. */
function readText(reader: Reader): Piece[] {
  const text = take(reader, /.(?:(?!<[a-z/!])[^])*/i) || reader.source.slice(reader.at++, reader.at);
  return text
    .split(/(\n\s*\n)/)
    .flatMap((part, index): Piece[] =>
      index % 2 === 1
        ? [{ kind: 'other', parts: [part] }]
        : reader
            .toParts(part, 'text')
            .map((one) => (typeof one === 'string' ? { kind: 'text', text: one } : { kind: 'value', node: one })),
    );
}

function readElement(reader: Reader, name: string): Piece {
  const isClose = reader.source[reader.at + 1] === '/';
  const parts: Part[] = [take(reader, /<\/?[a-zA-Z][\w-]*/), ...readAttributes(reader)];
  if (!isClose && (opaqueElements.has(name) || isNotTranslated(parts)))
    parts.push(...reader.toParts(take(reader, new RegExp(`.*?</${name}\\s*>`)), 'value'));
  else if (inlineElements.has(name) && name !== 'br') return { kind: isClose ? 'close' : 'open', name, parts };
  return opaqueElements.has(name) && /^(code|kbd|samp)$/.test(name)
    ? { kind: 'open', name: '', parts }
    : { kind: 'other', parts };
}

/** To the end of the tag. */
function readAttributes(reader: Reader): Part[] {
  const parts: Part[] = [];
  while (reader.at < reader.source.length) {
    const space = take(reader, /(?:\uE000\d+\uE001|[^\w:@>-])+/);
    parts.push(...reader.toParts(space, 'tag'));
    const name = take(reader, /[\w:@-]+/);
    const quote = take(reader, /="/);
    parts.push(`${name}${quote}`);
    if (quote !== '') {
      const value = take(reader, /[^"]*/);
      parts.push(
        ...(isMessageAttribute(name)
          ? reader.translateAttribute(reader.toParts(value, 'message'))
          : reader.toParts(value, 'value')),
        take(reader, /"/),
      );
    }
    const end = take(reader, />/);
    parts.push(end);
    if (end !== '') break;
  }
  return parts.filter((part) => part !== '');
}

function isNotTranslated(parts: readonly Part[]): boolean {
  return parts.some((part, index) => part === 'translate="' && parts[index + 1] === 'no');
}
