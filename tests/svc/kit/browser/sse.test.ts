import { expect } from 'chai';
import fc from 'fast-check';
import { createEventParser, readEvents } from '../../../../plugins/svc/kit/browser/sse.ts';

const parse = (...pieces: string[]) => {
  const take = createEventParser();
  return pieces.flatMap((piece) => take(piece));
};

describe('events of a stream in the widget', () => {
  it('are read with any line break', () => {
    for (const end of ['\n', '\r', '\r\n']) {
      expect(
        parse(['event: delta', 'data: {"text":"a"}', '', 'event: done', 'data: {}', '', ''].join(end)),
      ).to.deep.equal([
        { event: 'delta', data: '{"text":"a"}' },
        { event: 'done', data: '{}' },
      ]);
    }
  });

  it('are the same for any split of the text', () => {
    const text =
      '\uFEFF: hello\r\n\r\nevent: delta\r\ndata: {"text":"æ漢😀"}\r\n\r\ndata: one\ndata:two\n\nevent:done\rdata: {}\r\r';
    const whole = parse(text);
    expect(whole).to.have.length(3);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 20 }), (cuts) => {
        const bounds = [0, ...cuts.sort((left, right) => left - right), text.length];
        expect(parse(...bounds.slice(1).map((end, index) => text.slice(bounds[index], end)))).to.deep.equal(whole);
      }),
    );
  });

  it('join several lines of data, and skip comments, unknown fields and incomplete events', () => {
    expect(
      parse(': alive\n\ndata: a\ndata:  b\nid: 7\nretry: 1\n\nevent: empty\n\ndata\n\ndata: unfinished\n'),
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
