/** One server-sent event. */
export interface StreamEvent {
  /** Empty if the upstream sends none. */
  readonly name: string;
  /** The lines of its data, joined by line feeds. */
  readonly data: string;
}

export interface EventParser {
  /** Accepts bytes split at any position, and returns the completed events. */
  push(bytes: Uint8Array): StreamEvent[];
  /** Returns an event without a final line break, which some upstreams omit. */
  end(): StreamEvent[];
}

/** An event beyond the size limit. */
export class EndlessEvent extends Error {
  override readonly name = 'EndlessEvent';
}

/** Maximum characters of an event. */
const maxLength = 16 * 1_048_576;

/**
 * Reads server-sent events as WHATWG's HTML defines them: lines end with CR, LF or both; comments and unknown fields are ignored.
 *
 * @throws EndlessEvent
 */
export function createEventParser(): EventParser {
  const decoder = new TextDecoder();
  let rest = '';
  let name = '';
  let data: string[] = [];
  let length = 0;

  const readLine = (line: string, events: StreamEvent[]): void => {
    if (line === '') {
      if (data.length > 0) events.push({ name, data: data.join('\n') });
      name = '';
      data = [];
      length = 0;
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') name = value;
    if (field !== 'data') return;
    data.push(value);
    length += value.length;
  };

  const readLines = (text: string, isLast: boolean): StreamEvent[] => {
    const events: StreamEvent[] = [];
    rest += text;
    let start = 0;
    for (let end = lineEnd(rest, start); end >= 0; end = lineEnd(rest, start)) {
      // A final carriage return may be half of a CRLF.
      if (rest.charAt(end) === '\r' && end === rest.length - 1 && !isLast) break;
      readLine(rest.slice(start, end), events);
      start = rest.charAt(end) === '\r' && rest.charAt(end + 1) === '\n' ? end + 2 : end + 1;
    }
    rest = rest.slice(start);
    if (rest.length + length > maxLength) throw new EndlessEvent();
    return events;
  };

  return {
    push: (bytes) => readLines(decoder.decode(bytes, { stream: true }), false),
    end() {
      const events = readLines(decoder.decode(), true);
      if (rest !== '') readLine(rest, events);
      rest = '';
      readLine('', events);
      return events;
    },
  };
}

function lineEnd(text: string, from: number): number {
  ends.lastIndex = from;
  return ends.exec(text)?.index ?? -1;
}

const ends = /[\r\n]/g;
