import { isAscii } from 'node:buffer';

/** The bytes of a connection are no answer of HTTP/1.1 (RFC 9112). The message says why, in words for an administrator. */
export class UnreadableResponseError extends Error {
  override readonly name = 'UnreadableAnswerError';
}

/** More than is read of headers. */
export class HeadersTooLongError extends UnreadableResponseError {}

/** Receives a response as it arrives. */
export interface AnswerSink {
  /** @param headers lower-case names; several of one name are joined. The next answers' may be the same object. */
  onHead(status: number, headers: Readonly<Record<string, string>>): void;
  /** Bytes of the body, without the frames of chunks. */
  onBody(bytes: Buffer): void;
}

/** Bytes of a head, and of the trailers or of one line between chunks: as many as undici and Node itself read. */
const mostBytes = 16 * 1024;

const protocol = Buffer.from('HTTP/1.');
const endOfHead = Buffer.from('\r\n\r\n');
const endOfLine = Buffer.from('\r\n');
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
/** Control characters, and ends of lines that are only half of one. */
const forbidden = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|(?<!\r)\n/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const digits = /^\d{1,15}$/;
const chunkSize =
  /^([0-9a-f]+)(?:;[!#$%&'*+\-.^_`|~0-9a-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9a-z]+|"[^"\\\0-\x08\x0a-\x1f\x7f]*"))?)*$/i;

/** Names of headers as they come, and in lower case: the same few over and over. */
const lowerNames = new Map<string, string>();
const mostNames = 500;

type State = 'head' | 'sized' | 'until-end' | 'size-line' | 'chunk' | 'chunk-end' | 'trailers' | 'complete';

/**
 * Reads the answers of a connection one after the other, each without its connection's next request having been sent. What leaves
 * room for two readings (RFC 9112, 6.3 and 11.2) is an error, and so is every answer that undici refuses for its form; interim
 * answers (1xx) are passed over. Not for answers to HEAD and CONNECT, whose length follows other rules.
 */
export class Http1ResponseParser {
  private readonly sink: AnswerSink;
  private state: State = 'complete';
  /** Of a head or a line that has not ended. */
  private partial: Buffer | null = null;
  private left = 0;
  private trailerBytes = 0;
  private isPersistent = false;
  private known: Head | null = null;

  constructor(sink: AnswerSink) {
    this.sink = sink;
  }

  /** The next answer, from its first byte on. */
  begin(): void {
    this.state = 'head';
    this.isPersistent = false;
    this.trailerBytes = 0;
  }

  /** Whether the connection may be reused: the response is complete, nothing followed it, and neither side closes. */
  get keepsConnection(): boolean {
    return this.state === 'complete' && this.isPersistent;
  }

  /** Takes what came in. Answers whether the answer is complete. @throws UnreadableAnswerError; the connection is of no use then. */
  read(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length && this.state !== 'complete') at = this.step(bytes, at);
    // Nothing was asked for that could follow.
    if (at < bytes.length) this.isPersistent = false;
    return this.state === 'complete';
  }

  /** The other side has closed. Answers whether that completes the answer; otherwise it broke off. */
  end(): boolean {
    if (this.state === 'until-end') this.state = 'complete';
    return this.state === 'complete';
  }

  private step(bytes: Buffer, at: number): number {
    switch (this.state) {
      case 'head':
        return this.readHead(bytes, at);
      case 'sized':
        return this.readBody(bytes, at, 'complete');
      case 'chunk':
        return this.readBody(bytes, at, 'chunk-end');
      case 'until-end':
        this.sink.onBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'size-line':
      case 'chunk-end':
      case 'trailers':
        return this.readLine(bytes, at);
      case 'complete':
        return at;
    }
  }

  private readHead(bytes: Buffer, at: number): number {
    // Empty lines before it are passed over, as RFC 9112 (2.2) asks of servers and undici does here.
    if (this.partial === null && (bytes[at] === 13 || bytes[at] === 10)) return at + 1;
    const head = this.until(endOfHead, bytes, at);
    if (head === null) {
      // A peer that speaks another protocol may never end a line.
      if (!beginsAs(this.partial ?? bytes, protocol)) throw notHttp();
      return bytes.length;
    }
    this.takeHead(head.found);
    return head.next;
  }

  private readLine(bytes: Buffer, at: number): number {
    const line = this.until(endOfLine, bytes, at);
    if (line === null) return bytes.length;
    const text = line.found.toString('latin1');
    if (this.state === 'size-line') this.takeSize(text);
    else if (this.state === 'trailers') this.takeTrailer(text);
    else if (text === '') this.state = 'size-line';
    else throw new UnreadableResponseError('a chunk is longer than it says');
    return line.next;
  }

  /** The bytes before the mark, part of which may have arrived earlier; null while the mark is missing. */
  private until(mark: Buffer, bytes: Buffer, at: number): { readonly found: Buffer; readonly next: number } | null {
    const before = this.partial === null ? 0 : this.partial.length;
    const rest = at === 0 ? bytes : bytes.subarray(at);
    const all = this.partial === null ? rest : Buffer.concat([this.partial, rest]);
    const end = all.indexOf(mark);
    if ((end < 0 ? all.length : end) > mostBytes)
      throw mark === endOfHead
        ? new HeadersTooLongError('its headers are too long')
        : new UnreadableResponseError('a line between its chunks is too long');
    this.partial = end < 0 ? all : null;
    return end < 0 ? null : { found: all.subarray(0, end), next: at + end + mark.length - before };
  }

  private readBody(bytes: Buffer, at: number, after: State): number {
    const end = Math.min(bytes.length, at + this.left);
    this.left -= end - at;
    if (this.left === 0) this.state = after;
    this.sink.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    return end;
  }

  /** Responses to similar requests have equal heads, except for the second of their date: caches the last parsed head. */
  private takeHead(bytes: Buffer): void {
    const text = textOf(bytes);
    const head = text === this.known?.text ? this.known : readHead(text);
    this.known = head;
    const { status, headers } = head;
    if (status === 101) throw new UnreadableResponseError('it switches to a protocol that was not asked for');
    if (status < 200) return;
    this.frame(status, headers);
    this.isPersistent = this.state !== 'until-end' && head.staysOpen;
    this.sink.onHead(status, headers);
  }

  /** RFC 9112, 6.3. */
  private frame(status: number, headers: Head['headers']): void {
    const { 'transfer-encoding': coding, 'content-length': length } = headers;
    if (coding !== undefined && length !== undefined)
      throw new UnreadableResponseError('it says in two ways how long it is');
    if (status === 204 || status === 304) this.state = 'complete';
    else if (coding !== undefined) this.state = /(?:^|,)[ \t]*chunked[ \t]*$/i.test(coding) ? 'size-line' : 'until-end';
    else if (length === undefined) this.state = 'until-end';
    else {
      this.left = lengthOf(length);
      this.state = this.left === 0 ? 'complete' : 'sized';
    }
  }

  private takeSize(line: string): void {
    const [, size] = chunkSize.exec(line) ?? [];
    this.left = size === undefined ? NaN : Number.parseInt(size, 16);
    if (!Number.isSafeInteger(this.left)) throw new UnreadableResponseError('the size of a chunk cannot be read');
    this.state = this.left === 0 ? 'trailers' : 'chunk';
  }

  /** Read past, but for their form. */
  private takeTrailer(line: string): void {
    this.trailerBytes += line.length + endOfLine.length;
    if (this.trailerBytes > mostBytes) throw new UnreadableResponseError('its trailers are too long');
    if (line === '') this.state = 'complete';
    else if (forbidden.test(line) || lowerName(line, line.indexOf(':')) === null)
      throw new UnreadableResponseError('a trailer cannot be read');
  }
}

interface Head {
  readonly text: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly staysOpen: boolean;
}

function readHead(text: string): Head {
  if (forbidden.test(text)) throw new UnreadableResponseError('its headers hold characters that are not allowed');
  const lines = text.split('\r\n');
  const [, minor, code] = statusLine.exec(lines[0] ?? '') ?? [];
  if (code === undefined) throw notHttp();
  const headers = headersOf(lines);
  return { text, status: Number(code), headers, staysOpen: staysOpen(headers['connection'], minor === '1') };
}

function beginsAs(bytes: Buffer, beginning: Buffer): boolean {
  const length = Math.min(bytes.length, beginning.length);
  return bytes.compare(beginning, 0, length, 0, length) === 0;
}

function notHttp(): UnreadableResponseError {
  return new UnreadableResponseError('it does not begin with a status line of HTTP/1.1');
}

function textOf(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
}

function headersOf([, ...lines]: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = lowerName(line, colon);
    if (name === null) throw new UnreadableResponseError('one of its headers cannot be read');
    const value = withoutSpace(line, colon + 1);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

/** The name before the colon; null: there is none. */
function lowerName(line: string, colon: number): string | null {
  if (colon < 1) return null;
  const name = line.slice(0, colon);
  const known = lowerNames.get(name);
  if (known !== undefined) return known;
  if (!token.test(name)) return null;
  if (lowerNames.size >= mostNames) lowerNames.clear();
  const lower = name.toLowerCase();
  lowerNames.set(name, lower);
  return lower;
}

/** Spaces and tabs alone: `trim` takes more. */
function withoutSpace(line: string, from: number): string {
  let [start, end] = [from, line.length];
  while (start < end && isSpace(line.charCodeAt(start))) start += 1;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end -= 1;
  return line.slice(start, end);
}

const isSpace = (code: number): boolean => code === 32 || code === 9;

/** The same length said several times is one. */
function lengthOf(text: string): number {
  const [first = '', ...others] = text.includes(',') ? text.split(',').map((part) => withoutSpace(part, 0)) : [text];
  if (!digits.test(first) || others.some((other) => other !== first))
    throw new UnreadableResponseError('its content-length cannot be read');
  return Number(first);
}

function staysOpen(connection: string | undefined, isNew: boolean): boolean {
  if (connection === undefined) return isNew;
  return isNew
    ? !/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(connection)
    : /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i.test(connection);
}
