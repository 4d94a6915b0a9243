/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Takes text of an event stream in pieces, however they are cut, and answers the events that became whole by it. Follows the
 * HTML standard: CR, LF and CRLF end lines, `:` begins a comment, several `data` lines are joined, an event without data
 * or without its empty line at the end is none.
 */
export function createEventParser(): (text: string) => ServerEvent[] {
  let rest = '';
  let begun = false;
  let endedByCr = false;
  let event = '';
  let data: string[] = [];

  const takeLine = (line: string, events: ServerEvent[]): void => {
    if (line === '') {
      if (data.length > 0) events.push({ event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  };

  return (piece) => {
    let text = piece;
    if (!begun && text !== '') {
      begun = true;
      text = text.replace(/^\uFEFF/, '');
    }
    // The LF of a CRLF that was cut in two belongs to the line that has ended already.
    if (endedByCr && text.startsWith('\n')) text = text.slice(1);
    if (piece !== '') endedByCr = piece.endsWith('\r');
    const lines = (rest + text).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const line of lines) takeLine(line, events);
    return events;
  };
}

/** The events of a body as they come. Throws what the stream throws. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parse = createEventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* parse(done ? decoder.decode() : decoder.decode(value, { stream: true }));
      if (done) return;
    }
  } finally {
    // Whoever stops early lets go of the connection.
    void reader.cancel().catch(() => undefined);
  }
}
