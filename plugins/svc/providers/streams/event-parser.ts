/** One server-sent event. */
export interface StreamEvent {
  /** Empty where the far end names none. */
  readonly name: string;
  /** The lines of its data, joined by line feeds. */
  readonly data: string;
}

export interface EventParser {
  /** Takes bytes as they come, cut anywhere: in lines, in line ends, in characters. Answers the events they complete. */
  push(bytes: Uint8Array): StreamEvent[];
  /** What was left open when the bytes ended; some far ends leave out the last line's end. */
  end(): StreamEvent[];
}

/** An event that goes on and on. */
export class EndlessEvent extends Error {
  override readonly name = 'EndlessEvent';
}

/** Characters that an event may have before it counts as no event at all. */
const longest = 16 * 1_048_576;

/**
 * Reads server-sent events as WHATWG's HTML defines them: lines end with CR, LF or both, comments and unknown fields are passed over.
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
      // A carriage return at the end may be half of a line's end.
      if (rest.charAt(end) === '\r' && end === rest.length - 1 && !isLast) break;
      readLine(rest.slice(start, end), events);
      start = rest.charAt(end) === '\r' && rest.charAt(end + 1) === '\n' ? end + 2 : end + 1;
    }
    rest = rest.slice(start);
    if (rest.length + length > longest) throw new EndlessEvent();
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
