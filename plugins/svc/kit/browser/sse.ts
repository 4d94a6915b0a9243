/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Parses an event stream in pieces and returns the events that each piece completes. Follows the HTML standard: CR, LF and CRLF
 * end lines, `:` begins a comment, several `data` lines are joined, and an event without data or without the empty line at its
 * end is ignored.
 */
export function createEventParser(): (text: string) => ServerEvent[] {
  let rest = '';
  let hasStarted = false;
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
    if (!hasStarted && text !== '') {
      hasStarted = true;
      text = text.replace(/^\uFEFF/, '');
    }
    // The LF of a split CRLF belongs to the line that has already ended.
    if (endedByCr && text.startsWith('\n')) text = text.slice(1);
    if (piece !== '') endedByCr = piece.endsWith('\r');
    const lines = (rest + text).split(/\r\n|\r|\n/);
    rest = lines.pop() ?? '';
    const events: ServerEvent[] = [];
    for (const line of lines) takeLine(line, events);
    return events;
  };
}

/** Yields the events of a body. Throws what the stream throws. */
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
    // Closes the connection if the consumer stops early.
    void reader.cancel().catch(() => undefined);
  }
}
