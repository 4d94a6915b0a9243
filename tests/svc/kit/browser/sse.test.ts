import { expect } from 'chai';
import fc from 'fast-check';
import { type ServerEvent, readEvents } from '../../../../plugins/svc/kit/browser/sse.ts';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

async function parse(...pieces: (string | Uint8Array)[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? bytesOf(piece) : piece));
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of bytes) if (piece.length > 0) controller.enqueue(piece);
      controller.close();
    },
  });
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

describe('events of a stream in the widget', () => {
  it('are read with any line break', async () => {
    for (const end of ['\n', '\r', '\r\n']) {
      expect(
        await parse(
          ['event: delta', 'data: {"text":"a"}', '', 'event: done', 'data: {}', '', '', ': end', ''].join(end),
        ),
      ).to.deep.equal([
        { event: 'delta', data: '{"text":"a"}' },
        { event: 'done', data: '{}' },
      ]);
    }
  });

  it('are the same for any split of the bytes', async () => {
    const bytes = bytesOf(
      '\uFEFF: hello\r\n\r\nevent: delta\r\ndata: {"text":"æ漢😀"}\r\n\r\ndata: one\ndata:two\n\nevent:done\rdata: {}\r\r: end\n',
    );
    const whole = await parse(bytes);
    expect(whole).to.have.length(3);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 20 }), async (cuts) => {
        const bounds = [0, ...cuts.sort((left, right) => left - right), bytes.length];
        expect(await parse(...bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end)))).to.deep.equal(
          whole,
        );
      }),
    );
  });

  it('join several lines of data, and skip comments, unknown fields and incomplete events', async () => {
    expect(
      await parse(': alive\n\ndata: a\ndata:  b\nid: 7\nretry: 1\n\nevent: empty\n\ndata\n\ndata: unfinished\n'),
    ).to.deep.equal([
      { event: 'message', data: 'a\n b' },
      { event: 'message', data: '' },
    ]);
  });

  it('are read from a body with split characters, which is cancelled when the reader stops', async () => {
    const bytes = new TextEncoder().encode('data: æ漢😀\n\ndata: second\n\n');
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => bytes.forEach((_, index) => controller.enqueue(bytes.subarray(index, index + 1))),
      cancel: () => void (isCancelled = true),
    });
    for await (const { data } of readEvents(body)) {
      expect(data).to.equal('æ漢😀');
      break;
    }
    expect(isCancelled).to.equal(true);
  });
});
